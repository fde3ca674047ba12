/* std::string as libstdc++ lays it out, for the members that programs call out of line, and the
 * rarer forms of operator new. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

struct string {
	char *p;
	size_t len;
	union {
		char local[16];
		size_t capacity;
	};
};

/* operator new and delete in their rarer forms */
void *_ZnwmRKSt9nothrow_t(size_t n, const void *t);
void *_ZnwmRKSt9nothrow_t(size_t n, const void *t)
{
	(void)t;
	return malloc(n);
}
void *_ZnamRKSt9nothrow_t(size_t n, const void *t);
void *_ZnamRKSt9nothrow_t(size_t n, const void *t)
{
	(void)t;
	return malloc(n);
}
void *_ZnwmSt11align_val_t(size_t n, size_t align);
void *_ZnwmSt11align_val_t(size_t n, size_t align)
{
	return aligned_alloc(align, n);
}
void _ZdlPvmSt11align_val_t(void *p, size_t n, size_t align);
void _ZdlPvmSt11align_val_t(void *p, size_t n, size_t align)
{
	(void)n;
	(void)align;
	free(p);
}
void _ZdlPvRKSt9nothrow_t(void *p, const void *t);
void _ZdlPvRKSt9nothrow_t(void *p, const void *t)
{
	(void)t;
	free(p);
}

#define MEMBER(name)	   __asm__("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE" name)
#define CONST_MEMBER(name) __asm__("_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE" name)

static size_t capacity(const struct string *s)
{
	return s->p == s->local ? 15 : s->capacity;
}

char *string_create(struct string *s, size_t *want, size_t old) MEMBER("9_M_createERmm");
char *string_create(struct string *s, size_t *want, size_t old)
{
	(void)s;
	if (*want > old && *want < 2 * old)
		*want = 2 * old;
	return malloc(*want + 1);
}

static void dispose(struct string *s)
{
	if (s->p != s->local)
		free(s->p);
}
void string_dispose(struct string *s) MEMBER("10_M_disposeEv");
void string_dispose(struct string *s)
{
	dispose(s);
}

static void grow(struct string *s, size_t len)
{
	size_t cap = len, old = capacity(s);
	char *p;

	if (len <= old)
		return;
	p = string_create(s, &cap, old);
	memcpy(p, s->p, s->len + 1);
	dispose(s);
	s->p = p;
	s->capacity = cap;
}

static void set_length(struct string *s, size_t len)
{
	s->len = len;
	s->p[len] = 0;
}

void string_mutate(struct string *s, size_t at, size_t cut, const char *from, size_t n)
	MEMBER("9_M_mutateEmmPKcm");
void string_mutate(struct string *s, size_t at, size_t cut, const char *from, size_t n)
{
	size_t tail = s->len - at - cut, cap = s->len + n - cut;
	char *p = string_create(s, &cap, capacity(s));

	memcpy(p, s->p, at);
	if (from && n)
		memcpy(p + at, from, n);
	memcpy(p + at + n, s->p + at + cut, tail);
	dispose(s);
	s->p = p;
	s->capacity = cap;
}

struct string *string_replace(struct string *s, size_t at, size_t cut, const char *from, size_t n)
	MEMBER("10_M_replaceEmmPKcm");
struct string *string_replace(struct string *s, size_t at, size_t cut, const char *from, size_t n)
{
	size_t tail = s->len - at - cut, len = s->len + n - cut;
	char *copy = malloc(n + 1); /* from may lie within s */

	memcpy(copy, from, n);
	grow(s, len);
	memmove(s->p + at + n, s->p + at + cut, tail);
	memcpy(s->p + at, copy, n);
	free(copy);
	set_length(s, len);
	return s;
}

struct string *string_fill(struct string *s, size_t at, size_t cut, size_t n, char c)
	MEMBER("14_M_replace_auxEmmmc");
struct string *string_fill(struct string *s, size_t at, size_t cut, size_t n, char c)
{
	size_t tail = s->len - at - cut, len = s->len + n - cut;

	grow(s, len);
	memmove(s->p + at + n, s->p + at + cut, tail);
	memset(s->p + at, c, n);
	set_length(s, len);
	return s;
}

struct string *string_append(struct string *s, const char *from, size_t n)
	MEMBER("9_M_appendEPKcm");
struct string *string_append(struct string *s, const char *from, size_t n)
{
	return string_replace(s, s->len, 0, from, n);
}
struct string *string_append_text(struct string *s, const char *from) MEMBER("6appendEPKc");
struct string *string_append_text(struct string *s, const char *from)
{
	return string_append(s, from, strlen(from));
}

void string_assign(struct string *s, const struct string *from) MEMBER("9_M_assignERKS4_");
void string_assign(struct string *s, const struct string *from)
{
	if (s != from)
		string_replace(s, 0, s->len, from->p, from->len);
}

void string_resize(struct string *s, size_t n, char c) MEMBER("6resizeEmc");
void string_resize(struct string *s, size_t n, char c)
{
	if (n > s->len)
		string_fill(s, s->len, 0, n - s->len, c);
	else
		set_length(s, n);
}

void string_reserve(struct string *s, size_t n) MEMBER("7reserveEm");
void string_reserve(struct string *s, size_t n)
{
	grow(s, n);
}

void string_new(struct string *s, const struct string *from) MEMBER("C1ERKS4_");
void string_new(struct string *s, const struct string *from)
{
	s->p = s->local;
	set_length(s, 0);
	string_assign(s, from);
}
void string_delete(struct string *s) MEMBER("D1Ev");
void string_delete(struct string *s)
{
	dispose(s);
}

int string_compare(const struct string *s, const char *to) CONST_MEMBER("7compareEPKc");
int string_compare(const struct string *s, const char *to)
{
	size_t n = strlen(to), k = s->len < n ? s->len : n;
	int r = memcmp(s->p, to, k);

	return r ? r : s->len < n ? -1 : s->len > n;
}
