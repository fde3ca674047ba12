/* Strings and memory. memcpy, memmove and memset are the machine's own. */
#include "model.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

size_t strlen(const char *s)
{
	size_t n = sym_strlen(s);

	if (n != SIZE_MAX)
		return n;
	for (n = 0; s[n]; n++)
		;
	return n;
}

size_t strnlen(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && s[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *(const unsigned char *)a - *(const unsigned char *)b;
}

int strcoll(const char *a, const char *b)
{
	return strcmp(a, b);
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++)
		if (*a != *b || !*a)
			return *(const unsigned char *)a - *(const unsigned char *)b;
	return 0;
}

static int lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

int strcasecmp(const char *a, const char *b)
{
	while (*a && lower((unsigned char)*a) == lower((unsigned char)*b)) {
		a++;
		b++;
	}
	return lower((unsigned char)*a) - lower((unsigned char)*b);
}

int strncasecmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++) {
		int d = lower((unsigned char)*a) - lower((unsigned char)*b);

		if (d || !*a)
			return d;
	}
	return 0;
}

char *stpcpy(char *d, const char *s)
{
	while ((*d = *s)) {
		d++;
		s++;
	}
	return d;
}

char *strcpy(char *d, const char *s)
{
	stpcpy(d, s);
	return d;
}

char *strncpy(char *d, const char *s, size_t n)
{
	size_t i = 0;

	for (; i < n && s[i]; i++)
		d[i] = s[i];
	for (; i < n; i++)
		d[i] = 0;
	return d;
}

char *stpncpy(char *d, const char *s, size_t n)
{
	strncpy(d, s, n);
	return d + strnlen(d, n);
}

size_t strlcpy(char *d, const char *s, size_t n)
{
	size_t len = strlen(s);

	if (n) {
		size_t k = len < n - 1 ? len : n - 1;

		memcpy(d, s, k);
		d[k] = 0;
	}
	return len;
}

char *strcat(char *d, const char *s)
{
	stpcpy(d + strlen(d), s);
	return d;
}

char *strncat(char *d, const char *s, size_t n)
{
	char *e = d + strlen(d);

	for (; n && *s; n--)
		*e++ = *s++;
	*e = 0;
	return d;
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)s;
		if (!*s)
			return NULL;
	}
}

char *strchrnul(const char *s, int c)
{
	while (*s && *s != (char)c)
		s++;
	return (char *)s;
}

char *index(const char *s, int c)
{
	return strchr(s, c);
}

char *strrchr(const char *s, int c)
{
	const char *found = NULL;

	for (;; s++) {
		if (*s == (char)c)
			found = s;
		if (!*s)
			return (char *)found;
	}
}

char *rindex(const char *s, int c)
{
	return strrchr(s, c);
}

char *strstr(const char *h, const char *n)
{
	size_t len = strlen(n);

	if (!len)
		return (char *)h;
	for (; *h; h++)
		if (*h == *n && !strncmp(h, n, len))
			return (char *)h;
	return NULL;
}

char *strcasestr(const char *h, const char *n)
{
	size_t len = strlen(n);

	for (; *h || !len; h++)
		if (!strncasecmp(h, n, len))
			return (char *)h;
	return NULL;
}

size_t strspn(const char *s, const char *set)
{
	size_t n = 0;

	while (s[n] && strchr(set, s[n]))
		n++;
	return n;
}

size_t strcspn(const char *s, const char *set)
{
	size_t n = 0;

	while (s[n] && !strchr(set, s[n]))
		n++;
	return n;
}

char *strpbrk(const char *s, const char *set)
{
	s += strcspn(s, set);
	return *s ? (char *)s : NULL;
}

char *strtok_r(char *s, const char *set, char **save)
{
	char *start;

	s = s ? s : *save;
	if (!s)
		return NULL;
	s += strspn(s, set);
	if (!*s) {
		*save = s;
		return NULL;
	}
	start = s;
	s += strcspn(s, set);
	if (*s)
		*s++ = 0;
	*save = s;
	return start;
}

char *__strtok_r(char *s, const char *set, char **save)
{
	return strtok_r(s, set, save);
}

char *strtok(char *s, const char *set)
{
	static char *save;

	return strtok_r(s, set, &save);
}

char *strsep(char **sp, const char *set)
{
	char *s = *sp, *e;

	if (!s)
		return NULL;
	e = s + strcspn(s, set);
	*sp = *e ? e + 1 : NULL;
	*e = 0;
	return s;
}

char *strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *d = malloc(n);

	return d ? memcpy(d, s, n) : NULL;
}

char *__strdup(const char *s)
{
	return strdup(s);
}

char *strndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *d = malloc(len + 1);

	if (d) {
		memcpy(d, s, len);
		d[len] = 0;
	}
	return d;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

int bcmp(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n);
}

void *memchr(const void *s, int c, size_t n)
{
	const unsigned char *p = s;

	for (; n; n--, p++)
		if (*p == (unsigned char)c)
			return (void *)p;
	return NULL;
}

void *memrchr(const void *s, int c, size_t n)
{
	const unsigned char *p = s;

	while (n--)
		if (p[n] == (unsigned char)c)
			return (void *)(p + n);
	return NULL;
}

void *rawmemchr(const void *s, int c)
{
	const unsigned char *p = s;

	while (*p != (unsigned char)c)
		p++;
	return (void *)p;
}

void *mempcpy(void *d, const void *s, size_t n)
{
	return (char *)memcpy(d, s, n) + n;
}
void bzero(void *s, size_t n)
{
	memset(s, 0, n);
}
void explicit_bzero(void *s, size_t n)
{
	memset(s, 0, n);
}
void bcopy(const void *s, void *d, size_t n)
{
	memmove(d, s, n);
}

void *memmem(const void *h, size_t hl, const void *n, size_t nl)
{
	const char *p = h;

	for (; hl >= nl; p++, hl--)
		if (!memcmp(p, n, nl))
			return (void *)p;
	return NULL;
}

char *strerror(int e)
{
	static const char *const texts[] = { "Success",
					     "Operation not permitted",
					     "No such file or directory",
					     "No such process",
					     "Interrupted system call",
					     "Input/output error",
					     "No such device or address",
					     "Argument list too long",
					     "Exec format error",
					     "Bad file descriptor",
					     "No child processes",
					     "Resource temporarily unavailable",
					     "Cannot allocate memory",
					     "Permission denied",
					     "Bad address",
					     "Block device required",
					     "Device or resource busy",
					     "File exists",
					     "Invalid cross-device link",
					     "No such device",
					     "Not a directory",
					     "Is a directory",
					     "Invalid argument",
					     "Too many open files in system",
					     "Too many open files",
					     "Inappropriate ioctl for device",
					     "Text file busy",
					     "File too large",
					     "No space left on device",
					     "Illegal seek",
					     "Read-only file system",
					     "Too many links",
					     "Broken pipe",
					     "Numerical argument out of domain",
					     "Numerical result out of range",
					     "Resource deadlock avoided" };

	return (char *)(e >= 0 && (size_t)e < sizeof(texts) / sizeof(texts[0]) ? texts[e]
									       : "Unknown error");
}
/* GNU's; POSIX' has the name below. */
char *strerror_r(int e, char *buf, size_t len)
{
	(void)buf;
	(void)len;
	return strerror(e);
}
int __xpg_strerror_r(int e, char *buf, size_t len)
{
	const char *text = strerror(e);

	if (strlen(text) >= len)
		return ERANGE;
	memcpy(buf, text, strlen(text) + 1);
	return 0;
}

char *__xpg_basename(char *path);
char *basename(const char *path)
{
	const char *p = strrchr(path, '/');

	return (char *)(p ? p + 1 : path);
}
int ffs(int v)
{
	return v ? __builtin_ctz((unsigned)v) + 1 : 0;
}

/* The fortified twins check what the machine checks anyway, and better. */
void *__memcpy_chk(void *d, const void *s, size_t n, size_t size)
{
	(void)size;
	return memcpy(d, s, n);
}
void *__memmove_chk(void *d, const void *s, size_t n, size_t size)
{
	(void)size;
	return memmove(d, s, n);
}
void *__memset_chk(void *d, int c, size_t n, size_t size)
{
	(void)size;
	return memset(d, c, n);
}
char *__strcpy_chk(char *d, const char *s, size_t size)
{
	(void)size;
	return strcpy(d, s);
}
char *__strcat_chk(char *d, const char *s, size_t size)
{
	(void)size;
	return strcat(d, s);
}
char *__strncpy_chk(char *d, const char *s, size_t n, size_t size)
{
	(void)size;
	return strncpy(d, s, n);
}
char *__strncat_chk(char *d, const char *s, size_t n, size_t size)
{
	(void)size;
	return strncat(d, s, n);
}
