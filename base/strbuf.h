/* base/strbuf.h - a growable, always NUL-terminated string. Zero-initialised is empty (data may
 * then be NULL; strbuf_str never is). */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdarg.h>
#include <stddef.h>

struct strbuf {
	char *data;
	size_t len, cap;
};

void strbuf_deinit(struct strbuf *sb);
void strbuf_clear(struct strbuf *sb);
void strbuf_add(struct strbuf *sb, const void *data, size_t len);
void strbuf_adds(struct strbuf *sb, const char *s);
void strbuf_addc(struct strbuf *sb, char c);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap);
/* n copies of c */
void strbuf_pad(struct strbuf *sb, char c, size_t n);
const char *strbuf_str(const struct strbuf *sb);
/* Hand the string over to the caller, who frees it; the buffer is empty again. */
char *strbuf_detach(struct strbuf *sb);

#endif
