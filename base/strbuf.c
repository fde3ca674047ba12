#include "base/strbuf.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strbuf_deinit(struct strbuf *sb)
{
	free(sb->data);
	memset(sb, 0, sizeof(*sb));
}

void strbuf_clear(struct strbuf *sb)
{
	sb->len = 0;
	if (sb->data)
		sb->data[0] = '\0';
}

static void reserve(struct strbuf *sb, size_t more)
{
	size_t need = sb->len + more + 1;

	if (need <= sb->cap)
		return;
	sb->cap = MAX(need, sb->cap * 2);
	sb->data = xrealloc(sb->data, sb->cap);
}

void strbuf_add(struct strbuf *sb, const void *data, size_t len)
{
	reserve(sb, len);
	if (len)
		memcpy(sb->data + sb->len, data, len);
	sb->len += len;
	sb->data[sb->len] = '\0';
}

void strbuf_adds(struct strbuf *sb, const char *s)
{
	strbuf_add(sb, s, strlen(s));
}

void strbuf_addc(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		BUG("bad format '%s'", fmt);
	reserve(sb, (size_t)n);
	vsnprintf(sb->data + sb->len, (size_t)n + 1, fmt, ap);
	sb->len += (size_t)n;
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(sb, fmt, ap);
	va_end(ap);
}

void strbuf_pad(struct strbuf *sb, char c, size_t n)
{
	reserve(sb, n);
	memset(sb->data + sb->len, c, n);
	sb->len += n;
	sb->data[sb->len] = '\0';
}

const char *strbuf_str(const struct strbuf *sb)
{
	return sb->data ? sb->data : "";
}

char *strbuf_detach(struct strbuf *sb)
{
	char *s = sb->data ? sb->data : xstrdup("");

	memset(sb, 0, sizeof(*sb));
	return s;
}
