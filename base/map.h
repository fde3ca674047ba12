/* base/map.h - hash map from 64-bit keys or strings to 64-bit values, open addressing.
 * Zero-initialised is an empty map. Iteration order is insertion order (results must not depend
 * on hash order). There is no removal of single keys: nobody has needed it. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
	uint64_t key;
	uint64_t value;
};

struct map {
	struct map_entry *entries; /* in insertion order */
	size_t len, cap;
	uint32_t *slots; /* index + 1 into entries, 0 = free */
	size_t nslots;	 /* power of two */
};

void map_deinit(struct map *m);
void map_clear(struct map *m);
/* The value slot of key, NULL when absent. Valid until the next map_put. */
uint64_t *map_find(const struct map *m, uint64_t key);
/* The value slot of key, added with `initial` when absent. */
uint64_t *map_put(struct map *m, uint64_t key, uint64_t initial);
static inline uint64_t map_get_or(const struct map *m, uint64_t key, uint64_t otherwise)
{
	uint64_t *v = map_find(m, key);

	return v ? *v : otherwise;
}

/* Strings to dense ids 0, 1, 2 ... in order of first sight. Owns copies of the strings. */
struct names {
	char **text; /* text[id]; NULL behind the last one, unless it is empty */
	size_t len, cap;
	uint32_t *slots;
	size_t nslots;
};

#define NAMES_NONE UINT32_MAX

void names_deinit(struct names *n);
uint32_t names_intern(struct names *n, const char *s);
/* NAMES_NONE when absent. */
uint32_t names_find(const struct names *n, const char *s);

/* Good 64-bit mixing, for people who build their own keys. */
uint64_t hash_u64(uint64_t x);
uint64_t hash_bytes(const void *data, size_t len, uint64_t seed);

#endif
