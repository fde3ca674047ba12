/* sched/counts.c - see counts.h. */
#include "sched/counts.h"

#include <stddef.h>

enum { LOOK = 64 }; /* places before we give up: then this site of this thread is not counted */

struct plait_count *counts_get(void *area, uint32_t thread, uint32_t site)
{
	struct plait_count *table = counts_of(area);
	uint64_t key = (uint64_t)thread << 32 | site;
	uint64_t h = key * 0x9e3779b97f4a7c15ull >> 40;
	unsigned i;

	for (i = 0; i < LOOK; i++, h++) {
		struct plait_count *c = &table[h % PLAIT_CONTROL_COUNTS_MAX];

		if (!c->thread)
			*c = (struct plait_count){ .thread = thread + 1, .site = site };
		if (c->thread == thread + 1 && c->site == site)
			return c;
	}
	return NULL;
}

void counts_add(void *area, uint32_t thread, uint32_t site, uint32_t run)
{
	struct plait_count *c = counts_get(area, thread, site);

	if (!c)
		return;
	if (c->run != run) {
		c->run = run;
		c->count = 0;
	}
	c->count++;
}
