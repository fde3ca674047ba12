/* sched/pairs.c - see pairs.h. A run may be killed at any moment: an entry is complete before it
 * is counted, and counted before the index knows it. The worst that can happen is that a pair
 * has two entries. */
#include "sched/pairs.h"

#include <string.h>

enum { FIRST_BITS = 9, LAST_BITS = 16 };

static uint32_t home(const struct plait_pairs *t, uint32_t write_site, uint32_t read_site)
{
	uint64_t key = (uint64_t)write_site << 32 | read_site;

	return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> (64 - t->bits));
}

static void enter(struct plait_pairs *t, uint16_t *index, uint32_t i)
{
	uint32_t mask = (1u << t->bits) - 1;
	uint32_t h = home(t, t->pair[i].write_site, t->pair[i].read_site);

	while (index[h])
		h = (h + 1) & mask;
	index[h] = (uint16_t)(i + 1);
}

static void grow(struct plait_pairs *t, uint16_t *index)
{
	uint32_t i;

	t->bits = t->bits ? t->bits + 1 : FIRST_BITS;
	memset(index, 0, sizeof(*index) << t->bits);
	for (i = 0; i < t->n; i++)
		enter(t, index, i);
}

struct plait_pair *pairs_get(void *area, uint32_t write_site, uint32_t read_site)
{
	struct plait_pairs *t = pairs_of(area);
	uint16_t *index = (uint16_t *)((char *)area + PLAIT_CONTROL_PAIRS_INDEX);
	struct plait_pair *p;
	uint32_t h;

	if (!t->bits || (t->n >= 1u << (t->bits - 1) && t->bits < LAST_BITS))
		grow(t, index);
	for (h = home(t, write_site, read_site); index[h]; h = (h + 1) & ((1u << t->bits) - 1)) {
		p = &t->pair[index[h] - 1];
		if (p->write_site == write_site && p->read_site == read_site)
			return p;
	}
	if (t->n + 1 >= PLAIT_CONTROL_PAIRS_MAX)
		return NULL;
	p = &t->pair[t->n];
	*p = (struct plait_pair){ .write_site = write_site, .read_site = read_site };
	t->n++;
	enter(t, index, t->n - 1);
	return p;
}
