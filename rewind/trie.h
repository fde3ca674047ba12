/* rewind/trie.h - a map from 64-bit keys to 64-bit values of which every version stays.
 * NULL is the empty map. Nodes live in an arena and never change. */
#ifndef REWIND_TRIE_H
#define REWIND_TRIE_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct trie;

bool trie_find(const struct trie *t, uint64_t key, uint64_t *ret);
/* The map with this one entry changed. */
const struct trie *trie_put(struct arena *a, const struct trie *t, uint64_t key, uint64_t value);
/* Calls visit for each entry; in no particular but always the same order. */
void trie_each(const struct trie *t, void (*visit)(uint64_t key, uint64_t value, void *arg),
	       void *arg);

#endif
