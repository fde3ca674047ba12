/* graph/pairs.h - numbers for pairs: (point, context) -> node, (source, sink) -> edge.
 *
 * base/map.h in one step instead of two: the key lies in the slot. Graphs of many runs ask tens of
 * millions of times. Zero-initialised is empty; ids are given out from 0. */
#ifndef GRAPH_PAIRS_H
#define GRAPH_PAIRS_H

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>

struct pair_slot {
	uint64_t a;
	uint32_t b;
	uint32_t id; /* + 1; 0 = free */
};

struct pairs {
	struct pair_slot *slots;
	uint32_t len;
	unsigned bits; /* 2^bits slots */
};

static inline void pairs_deinit(struct pairs *p)
{
	free(p->slots);
	*p = (struct pairs){ 0 };
}

static inline uint64_t pairs_place(const struct pairs *p, uint64_t a, uint32_t b)
{
	return (a * 0x9e3779b97f4a7c15ull ^ b) * 0xbf58476d1ce4e5b9ull >> (64 - p->bits);
}

/* Prefetch the slot of a pair: memory is slow, and many slots can be fetched at once. */
static inline void pairs_prefetch(const struct pairs *p, uint64_t a, uint32_t b)
{
	if (p->bits)
		__builtin_prefetch(&p->slots[pairs_place(p, a, b)]);
}

static inline struct pair_slot *pairs_slot(const struct pairs *p, uint64_t a, uint32_t b)
{
	uint64_t i = pairs_place(p, a, b), mask = (1ull << p->bits) - 1;

	while (p->slots[i].id && (p->slots[i].a != a || p->slots[i].b != b))
		i = (i + 1) & mask;
	return &p->slots[i];
}

static inline void pairs_grow(struct pairs *p)
{
	struct pairs grown = { .len = p->len, .bits = p->bits ? p->bits + 1 : 6 };

	grown.slots = xcalloc(1ull << grown.bits, sizeof(*grown.slots));
	for (uint64_t i = 0; p->bits && i < 1ull << p->bits; i++)
		if (p->slots[i].id)
			*pairs_slot(&grown, p->slots[i].a, p->slots[i].b) = p->slots[i];
	free(p->slots);
	*p = grown;
}

/* The id of a pair: the number of pairs seen before it. A new one gets `len` as it was. */
static inline uint32_t pairs_id(struct pairs *p, uint64_t a, uint32_t b)
{
	struct pair_slot *s;

	if (!p->bits)
		pairs_grow(p);
	s = pairs_slot(p, a, b);
	if (s->id)
		return s->id - 1;
	*s = (struct pair_slot){ a, b, ++p->len };
	if (p->len * 2ull > 1ull << p->bits)
		pairs_grow(p);
	return p->len - 1;
}

#endif
