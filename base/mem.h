/* base/mem.h - memory that never runs out silently, scope cleanup, and a few tiny helpers. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)     ((a) < (b) ? (a) : (b))
#define MAX(a, b)     ((a) > (b) ? (a) : (b))

/* We are wrong: say where and stop. */
#define BUG(...) bug(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void bug(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* These die with a message when there is no memory; nobody checks their result. */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
/* realloc(p, n * size) with the multiplication checked */
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
void *xmemdup(const void *p, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap);

/* For _cleanup_(xfreep) on any pointer variable. */
void xfreep(void *pp);

#endif
