/* explain/find/before.c - see before.h.
 *
 * What has happened at step a spreads: from a thread to what it releases, posts or writes as an atomic, from
 * there to who takes or reads it, to threads that are created, and from one that has ended to who joins it. */
#include "explain/find/before.h"

#include "base/map.h"
#include "base/mem.h"
#include "unplait/abi.h"

static bool is_plain(const struct step *e)
{
	return step_is_memory(e) && e->kind != PLAIT_EV_ATOMIC_READ &&
	       e->kind != PLAIT_EV_ATOMIC_WRITE && e->kind != PLAIT_EV_ATOMIC_RMW;
}

/* Threads that were created by one that knows, after it came to know; and who has joined one that knows. */
static void spread_by_life(const struct steps *s, bool *knows, uint64_t since, uint64_t now)
{
	for (uint32_t t = 0; s->births && t < s->nthreads; t++) {
		const struct birth *b = &s->births[t];

		if (b->clock > since && b->clock <= now + 1 && knows[b->parent])
			knows[t] = true;
		if (b->joined > since && b->joined <= now + 1 && knows[t])
			knows[b->joiner] = true;
	}
}

bool steps_ordered(const struct steps *s, uint32_t a, uint32_t b)
{
	_cleanup_(xfreep) bool *knows = xcalloc(s->nthreads + 1u, sizeof(*knows));
	_cleanup_(map_deinit) struct map carry = { 0 }; /* synchronisation objects that know */

	knows[s->data[a].thread] = true;
	for (uint32_t i = a + 1; i <= b && i < s->len; i++) {
		const struct step *e = &s->data[i];

		spread_by_life(s, knows, s->data[i - 1].clock, e->clock);
		if (is_plain(e) || e->pending)
			continue;
		if (step_reads(e) && map_find(&carry, e->address))
			knows[e->thread] = true;
		if (step_writes(e) && knows[e->thread])
			map_put(&carry, e->address, 1);
	}
	return knows[s->data[b].thread];
}
