#include "base/arena.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
	struct arena_block *next;
	_Alignas(16) char data[];
};

void arena_deinit(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *b = a->blocks;

		a->blocks = b->next;
		free(b);
	}
	memset(a, 0, sizeof(*a));
}

static void refill(struct arena *a, size_t size)
{
	size_t room = MAX(size, a->total < (64u << 10) ? (4u << 10) : (256u << 10));
	struct arena_block *b = xmalloc(sizeof(*b) + room);

	b->next = a->blocks;
	a->blocks = b;
	a->next = b->data;
	a->end = b->data + room;
}

void *arena_alloc(struct arena *a, size_t size)
{
	void *p;

	size = (size + 15) & ~(size_t)15;
	if ((size_t)(a->end - a->next) < size)
		refill(a, size);
	p = a->next;
	a->next += size;
	a->total += size;
	return memset(p, 0, size);
}

void *arena_memdup(struct arena *a, const void *p, size_t n)
{
	void *copy = arena_alloc(a, n);

	if (n)
		memcpy(copy, p, n);
	return copy;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *copy = arena_alloc(a, n + 1);

	memcpy(copy, s, n);
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	_cleanup_(xfreep) char *s = NULL;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return arena_strdup(a, s);
}
