#include "base/map.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

uint64_t hash_bytes(const void *data, size_t len, uint64_t seed)
{
	const unsigned char *p = data;
	uint64_t h = hash_u64(seed ^ len);

	while (len >= 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		h = hash_u64(h ^ word);
		p += 8;
		len -= 8;
	}
	if (len) {
		uint64_t word = 0;

		memcpy(&word, p, len);
		h = hash_u64(h ^ word);
	}
	return h;
}

void map_deinit(struct map *m)
{
	free(m->entries);
	free(m->slots);
	memset(m, 0, sizeof(*m));
}

void map_clear(struct map *m)
{
	m->len = 0;
	if (m->nslots)
		memset(m->slots, 0, m->nslots * sizeof(*m->slots));
}

/* The slot that holds key, or the free one where it belongs. */
static uint32_t *slot_of(const struct map *m, uint64_t key)
{
	size_t mask = m->nslots - 1;
	size_t i = hash_u64(key) & mask;

	while (m->slots[i] && m->entries[m->slots[i] - 1].key != key)
		i = (i + 1) & mask;
	return &m->slots[i];
}

static void grow(struct map *m)
{
	m->nslots = m->nslots ? m->nslots * 2 : 16;
	free(m->slots);
	m->slots = xcalloc(m->nslots, sizeof(*m->slots));
	for (size_t i = 0; i < m->len; i++)
		*slot_of(m, m->entries[i].key) = (uint32_t)i + 1;
	m->cap = m->nslots / 2;
	m->entries = xreallocarray(m->entries, m->cap, sizeof(*m->entries));
}

uint64_t *map_find(const struct map *m, uint64_t key)
{
	uint32_t slot;

	if (!m->nslots)
		return NULL;
	slot = *slot_of(m, key);
	return slot ? &m->entries[slot - 1].value : NULL;
}

uint64_t *map_put(struct map *m, uint64_t key, uint64_t initial)
{
	uint64_t *found = map_find(m, key);

	if (found)
		return found;
	if (m->len == m->cap)
		grow(m);
	m->entries[m->len] = (struct map_entry){ key, initial };
	*slot_of(m, key) = (uint32_t)m->len + 1;
	return &m->entries[m->len++].value;
}

void names_deinit(struct names *n)
{
	for (size_t i = 0; i < n->len; i++)
		free(n->text[i]);
	free(n->text);
	free(n->slots);
	memset(n, 0, sizeof(*n));
}

static uint32_t *name_slot(const struct names *n, const char *s)
{
	size_t mask = n->nslots - 1;
	size_t i = hash_bytes(s, strlen(s), 0) & mask;

	while (n->slots[i] && strcmp(n->text[n->slots[i] - 1], s) != 0)
		i = (i + 1) & mask;
	return &n->slots[i];
}

static void names_grow(struct names *n)
{
	n->nslots = n->nslots ? n->nslots * 2 : 16;
	free(n->slots);
	n->slots = xcalloc(n->nslots, sizeof(*n->slots));
	for (size_t i = 0; i < n->len; i++)
		*name_slot(n, n->text[i]) = (uint32_t)i + 1;
	n->cap = n->nslots / 2;
	n->text = xreallocarray(n->text, n->cap + 1, sizeof(*n->text));
}

uint32_t names_find(const struct names *n, const char *s)
{
	uint32_t slot = n->nslots ? *name_slot(n, s) : 0;

	return slot ? slot - 1 : NAMES_NONE;
}

uint32_t names_intern(struct names *n, const char *s)
{
	uint32_t id = names_find(n, s);

	if (id != NAMES_NONE)
		return id;
	if (n->len == n->cap)
		names_grow(n);
	n->text[n->len] = xstrdup(s);
	n->text[n->len + 1] = NULL;
	*name_slot(n, s) = (uint32_t)n->len + 1;
	return (uint32_t)n->len++;
}
