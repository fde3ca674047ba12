/* base/arena.h - memory that is built up, used, and dropped all at once.
 * Zero-initialised is an empty arena. Pointers stay valid until arena_deinit. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks;
	char *next, *end;
	size_t total; /* bytes handed out */
};

void arena_deinit(struct arena *a);
/* Zeroed, aligned to 16. */
void *arena_alloc(struct arena *a, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
void *arena_memdup(struct arena *a, const void *p, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define arena_new(a, T)	     ((T *)arena_alloc(a, sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc(a, sizeof(T) * (n)))

#endif
