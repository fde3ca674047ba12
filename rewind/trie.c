/* rewind/trie.c - see trie.h.
 *
 * A tree of 16 branches per level over the hash of the key, which is a permutation of it: two keys
 * never have the same hash, so each path ends in one entry. Changing an entry copies the nodes
 * on its path. */
#include "rewind/trie.h"

#include "base/arena.h"

#include <string.h>

struct trie {
	bool is_leaf;
	union {
		struct {
			uint64_t key, value;
		};
		const struct trie *branch[16];
	};
};

/* Murmur3's finalizer: every step can be undone. */
static uint64_t scatter(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdull;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ull;
	return x ^ x >> 33;
}

bool trie_find(const struct trie *t, uint64_t key, uint64_t *ret)
{
	uint64_t h = scatter(key);

	for (; t && !t->is_leaf; h >>= 4)
		t = t->branch[h & 15];
	if (!t || t->key != key)
		return false;
	*ret = t->value;
	return true;
}

static const struct trie *new_leaf(struct arena *a, uint64_t key, uint64_t value)
{
	/* a leaf needs less room than a node */
	struct trie *t = arena_alloc(a, sizeof(bool) + 7 + 2 * sizeof(uint64_t));

	t->is_leaf = true;
	t->key = key;
	t->value = value;
	return t;
}

static const struct trie *put(struct arena *a, const struct trie *t, uint64_t h, unsigned depth,
			      uint64_t key, uint64_t value)
{
	struct trie *n;

	if (!t || (t->is_leaf && t->key == key))
		return new_leaf(a, key, value);
	n = arena_new(a, struct trie);
	if (t->is_leaf)
		n->branch[scatter(t->key) >> 4 * depth & 15] = t;
	else
		memcpy(n, t, sizeof(*n));
	n->branch[h & 15] = put(a, n->branch[h & 15], h >> 4, depth + 1, key, value);
	return n;
}

const struct trie *trie_put(struct arena *a, const struct trie *t, uint64_t key, uint64_t value)
{
	return put(a, t, scatter(key), 0, key, value);
}

void trie_each(const struct trie *t, void (*visit)(uint64_t key, uint64_t value, void *arg),
	       void *arg)
{
	if (!t)
		return;
	if (t->is_leaf) {
		visit(t->key, t->value, arg);
		return;
	}
	for (unsigned i = 0; i < 16; i++)
		trie_each(t->branch[i], visit, arg);
}
