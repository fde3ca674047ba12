/* cc/expand/bodies/memory.c - functions of a known number of bytes: word by word, long ones in pieces. */
#include "cc/expand/bodies/body.h"

INSIDE void copy_down(char *d, const char *s, size_t n)
{
	size_t piece = piece_of(n);

	if (n > BY_WORDS) {
		for (; n > piece; n -= piece)
			__builtin_memmove(d + (n - piece), s + (n - piece), piece);
		__builtin_memmove(d, s, n);
		return;
	}
	for (; n >= 8; n -= 8)
		*(any8 *)(d + (n - 8)) = *(const any8 *)(s + (n - 8));
	for (; n; n--)
		d[n - 1] = s[n - 1];
}

INSIDE void move(char *d, const char *s, size_t n)
{
	if ((uintptr_t)d - (uintptr_t)s >= n)
		copy_up(d, s, n);
	else
		copy_down(d, s, n);
}

INSIDE void fill(char *d, int c, size_t n)
{
	uint64_t word = 0x0101010101010101ull * (unsigned char)c;
	size_t i = 0, piece = piece_of(n);

	if (n > BY_WORDS) {
		for (; n - i > piece; i += piece)
			__builtin_memset(d + i, c, piece);
		__builtin_memset(d + i, c, n - i);
		return;
	}
	for (; n - i >= 8; i += 8)
		*(any8 *)(d + i) = word;
	for (; n - i; i++)
		d[i] = (char)c;
}

INSIDE int compare(const char *a, const char *b, size_t n)
{
	size_t i = 0;

	for (; n - i >= 8; i += 8) {
		uint64_t x = *(const any8 *)(a + i), y = *(const any8 *)(b + i);

		if (x != y)
			return __builtin_bswap64(x) < __builtin_bswap64(y) ? -1 : 1;
	}
	for (; n - i; i++) {
		unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];

		if (x != y)
			return x - y;
	}
	return 0;
}

BODY void *body_memcpy(char *d, const char *s, size_t n)
{
	copy_up(d, s, n);
	return d;
}

BODY void *body_memmove(char *d, const char *s, size_t n)
{
	move(d, s, n);
	return d;
}

BODY void *body_mempcpy(char *d, const char *s, size_t n)
{
	copy_up(d, s, n);
	return d + n;
}

BODY void body_bcopy(const char *s, char *d, size_t n)
{
	move(d, s, n);
}

BODY void *body_memset(char *d, int c, size_t n)
{
	fill(d, c, n);
	return d;
}

BODY void body_bzero(char *d, size_t n)
{
	fill(d, 0, n);
}

BODY void body_explicit_bzero(char *d, size_t n)
{
	fill(d, 0, n);
}

BODY int body_memcmp(const char *a, const char *b, size_t n)
{
	return compare(a, b, n);
}

BODY int body_bcmp(const char *a, const char *b, size_t n)
{
	return compare(a, b, n);
}

BODY void *body_memchr(const char *s, int c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] == (char)c)
			return (void *)(s + i);
	return NULL;
}

BODY void *body_memrchr(const char *s, int c, size_t n)
{
	for (; n; n--)
		if (s[n - 1] == (char)c)
			return (void *)(s + (n - 1));
	return NULL;
}

BODY void *body_rawmemchr(const char *s, int c)
{
	size_t i = 0;

	while (s[i] != (char)c)
		i++;
	return (void *)(s + i);
}

BODY void *body_memmem(const char *s, size_t n, const char *word, size_t len)
{
	for (size_t i = 0; i + len <= n; i++) {
		size_t k = 0;

		while (k < len && s[i + k] == word[k])
			k++;
		if (k == len)
			return (void *)(s + i);
	}
	return NULL;
}

/* An overflow ends the program: the real function says so. */
void *__memcpy_chk(void *d, const void *s, size_t n, size_t size);
void *__memmove_chk(void *d, const void *s, size_t n, size_t size);
void *__memset_chk(void *d, int c, size_t n, size_t size);

BODY void *body___memcpy_chk(char *d, const char *s, size_t n, size_t size)
{
	if (n > size)
		return __memcpy_chk(d, s, n, size);
	copy_up(d, s, n);
	return d;
}

BODY void *body___memmove_chk(char *d, const char *s, size_t n, size_t size)
{
	if (n > size)
		return __memmove_chk(d, s, n, size);
	move(d, s, n);
	return d;
}

BODY void *body___memset_chk(char *d, int c, size_t n, size_t size)
{
	if (n > size)
		return __memset_chk(d, c, n, size);
	fill(d, c, n);
	return d;
}
