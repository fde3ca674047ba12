/* cc/expand/bodies/text.c - functions of strings: byte by byte, to the end that they find. */
#include "cc/expand/bodies/body.h"

INSIDE int lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : (unsigned char)c;
}

INSIDE int is_in(const char *set, char c)
{
	size_t i = 0;

	while (set[i] && set[i] != c)
		i++;
	return set[i] != 0;
}

/* With its end; returns where that is. */
INSIDE size_t copy_text(char *d, size_t at, const char *s)
{
	size_t i = 0;
	char c;

	do {
		c = s[i];
		d[at + i++] = c;
	} while (c);
	return at + i - 1;
}

/* At most n bytes, then an end. */
INSIDE void append_some(char *d, size_t at, const char *s, size_t n)
{
	size_t i = 0;
	char c;

	for (; i < n && (c = s[i]); i++)
		d[at + i] = c;
	d[at + i] = 0;
}

/* strncpy: n bytes in all, filled up with zeros. Returns where the first zero is. */
INSIDE size_t copy_filled(char *d, const char *s, size_t n)
{
	size_t i = 0, end;
	char c;

	for (; i < n && (c = s[i]); i++)
		d[i] = c;
	for (end = i; i < n; i++)
		d[i] = 0;
	return end;
}

BODY size_t body_strlen(const char *s)
{
	return text_length(s);
}

BODY size_t body_strnlen(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && s[i])
		i++;
	return i;
}

BODY int body_strcmp(const char *a, const char *b)
{
	for (size_t i = 0;; i++) {
		unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];

		if (x != y || !x)
			return x - y;
	}
}

BODY int body_strncmp(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];

		if (x != y || !x)
			return x - y;
	}
	return 0;
}

BODY int body_strcasecmp(const char *a, const char *b)
{
	for (size_t i = 0;; i++) {
		int x = lower(a[i]), y = lower(b[i]);

		if (x != y || !x)
			return x - y;
	}
}

BODY int body_strncasecmp(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int x = lower(a[i]), y = lower(b[i]);

		if (x != y || !x)
			return x - y;
	}
	return 0;
}

BODY char *body_strchr(const char *s, int c)
{
	for (size_t i = 0;; i++) {
		char x = s[i];

		if (x == (char)c)
			return (char *)s + i;
		if (!x)
			return NULL;
	}
}

BODY char *body_strchrnul(const char *s, int c)
{
	for (size_t i = 0;; i++) {
		char x = s[i];

		if (x == (char)c || !x)
			return (char *)s + i;
	}
}

BODY char *body_strrchr(const char *s, int c)
{
	char *found = NULL;

	for (size_t i = 0;; i++) {
		char x = s[i];

		if (x == (char)c)
			found = (char *)s + i;
		if (!x)
			return found;
	}
}

BODY char *body_strstr(const char *s, const char *word)
{
	for (size_t i = 0;; i++) {
		size_t k = 0;

		while (word[k] && s[i + k] == word[k])
			k++;
		if (!word[k])
			return (char *)s + i;
		if (!s[i + k])
			return NULL;
	}
}

BODY char *body_strpbrk(const char *s, const char *set)
{
	for (size_t i = 0;; i++) {
		char x = s[i];

		if (!x)
			return NULL;
		if (is_in(set, x))
			return (char *)s + i;
	}
}

BODY size_t body_strspn(const char *s, const char *set)
{
	for (size_t i = 0;; i++) {
		char x = s[i];

		if (!x || !is_in(set, x))
			return i;
	}
}

BODY size_t body_strcspn(const char *s, const char *set)
{
	for (size_t i = 0;; i++) {
		char x = s[i];

		if (!x || is_in(set, x))
			return i;
	}
}

BODY char *body_strcpy(char *d, const char *s)
{
	copy_text(d, 0, s);
	return d;
}

BODY char *body_stpcpy(char *d, const char *s)
{
	return d + copy_text(d, 0, s);
}

BODY char *body_strncpy(char *d, const char *s, size_t n)
{
	copy_filled(d, s, n);
	return d;
}

BODY char *body_stpncpy(char *d, const char *s, size_t n)
{
	return d + copy_filled(d, s, n);
}

BODY char *body_strcat(char *d, const char *s)
{
	copy_text(d, text_length(d), s);
	return d;
}

BODY char *body_strncat(char *d, const char *s, size_t n)
{
	append_some(d, text_length(d), s, n);
	return d;
}

BODY size_t body_strlcpy(char *d, const char *s, size_t n)
{
	if (n)
		append_some(d, 0, s, n - 1);
	return text_length(s);
}

BODY size_t body_strlcat(char *d, const char *s, size_t n)
{
	size_t have = body_strnlen(d, n);

	if (have < n)
		append_some(d, have, s, n - have - 1);
	return have + text_length(s);
}

BODY char *body_strdup(const char *s)
{
	size_t n = text_length(s) + 1;
	char *d = malloc(n);

	if (d)
		copy_up(d, s, n);
	return d;
}

BODY char *body_strndup(const char *s, size_t n)
{
	size_t k = body_strnlen(s, n);
	char *d = malloc(k + 1);

	if (d) {
		copy_up(d, s, k);
		d[k] = 0;
	}
	return d;
}

/* Fortified: we go as far as the memory that is known, as the real ones would before they abort. */
void __chk_fail(void) __attribute__((noreturn));

BODY char *body___strcpy_chk(char *d, const char *s, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		char c = s[i];

		d[i] = c;
		if (!c)
			return d;
	}
	__chk_fail();
}

BODY char *body___strcat_chk(char *d, const char *s, size_t size)
{
	size_t at = text_length(d);

	for (size_t i = 0; at + i < size; i++) {
		char c = s[i];

		d[at + i] = c;
		if (!c)
			return d;
	}
	__chk_fail();
}

BODY char *body___strncpy_chk(char *d, const char *s, size_t n, size_t size)
{
	if (n > size)
		__chk_fail();
	copy_filled(d, s, n);
	return d;
}

BODY char *body___strncat_chk(char *d, const char *s, size_t n, size_t size)
{
	size_t at = text_length(d);

	if (at + body_strnlen(s, n) >= size)
		__chk_fail();
	append_some(d, at, s, n);
	return d;
}

BODY char *body___stpcpy_chk(char *d, const char *s, size_t size)
{
	(void)size;
	return d + copy_text(d, 0, s);
}

/* Numbers: what may belong to one is copied first. One that is longer than any number is read by the
 * real function where it is. */
enum { NUMBER = 512 };

INSIDE int may_be_number(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '\t' && c <= '\r') || c == ' ' || c == '+' || c == '-' || c == '.' ||
	       c == ',' || c == '(' || c == ')' || c == '_';
}

INSIDE int copy_number(char *to, const char *s)
{
	size_t i = 0;
	char c;

	for (; i < NUMBER - 1 && may_be_number(c = s[i]); i++)
		to[i] = c;
	to[i] = 0;
	return i < NUMBER - 1;
}

#define CONVERTS(type, name)                                                                       \
	type name(const char *s);                                                                  \
	BODY type body_##name(const char *s)                                                       \
	{                                                                                          \
		char digits[NUMBER];                                                               \
                                                                                                   \
		return name(copy_number(digits, s) ? digits : s);                                  \
	}
CONVERTS(int, atoi)
CONVERTS(long, atol)
CONVERTS(long long, atoll)
CONVERTS(double, atof)

#define CONVERTS_TO_END(type, name, ...)                                                           \
	{                                                                                          \
		char digits[NUMBER], *stop;                                                        \
		type v;                                                                            \
                                                                                                   \
		if (!copy_number(digits, s))                                                       \
			return name(s, end __VA_ARGS__);                                           \
		v = name(digits, &stop __VA_ARGS__);                                               \
		if (end)                                                                           \
			*end = (char *)s + (stop - digits);                                        \
		return v;                                                                          \
	}
#define CONVERTS_WHOLE(type, name)                                                                 \
	type name(const char *s, char **end, int base);                                            \
	BODY type body_##name(const char *s, char **end, int base)                                 \
		CONVERTS_TO_END(type, name, , base)
CONVERTS_WHOLE(long, strtol)
CONVERTS_WHOLE(unsigned long, strtoul)
CONVERTS_WHOLE(long long, strtoll)
CONVERTS_WHOLE(unsigned long long, strtoull)

#define CONVERTS_REAL(type, name)                                                                  \
	type name(const char *s, char **end);                                                      \
	BODY type body_##name(const char *s, char **end) CONVERTS_TO_END(type, name)
CONVERTS_REAL(double, strtod)
CONVERTS_REAL(float, strtof)
