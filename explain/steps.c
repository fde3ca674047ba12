#include "explain/steps.h"

#include "base/map.h"
#include "base/mem.h"
#include "unplait/abi.h"

#include <stdlib.h>
#include <string.h>

enum { READS = 1, WRITES = 2, MEMORY = 4, ACQUIRES = 8, RELEASES = 16 };

/* Synchronisation counts as reading and writing the state of its object. */
static unsigned effects(const struct step *s)
{
	switch (s->kind) {
	case PLAIT_EV_READ:
	case PLAIT_EV_READ_RANGE:
	case PLAIT_EV_ATOMIC_READ:
		return READS | MEMORY;
	case PLAIT_EV_WRITE:
	case PLAIT_EV_WRITE_RANGE:
	case PLAIT_EV_ATOMIC_WRITE:
	case PLAIT_EV_FREE:
		return WRITES | MEMORY;
	case PLAIT_EV_ATOMIC_RMW:
		return READS | WRITES | MEMORY;
	case PLAIT_EV_LOCK:
	case PLAIT_EV_WRLOCK:
	case PLAIT_EV_RDLOCK:
		return READS | WRITES | ACQUIRES;
	case PLAIT_EV_TRYLOCK:
	case PLAIT_EV_TRYRDLOCK:
	case PLAIT_EV_TRYWRLOCK:
		return s->value ? READS : READS | WRITES | ACQUIRES;
	case PLAIT_EV_UNLOCK:
	case PLAIT_EV_RWUNLOCK:
		return WRITES | RELEASES;
	case PLAIT_EV_WOKEN:
	case PLAIT_EV_SEM_TRYWAIT:
	case PLAIT_EV_FUTEX_WAIT:
	case PLAIT_EV_BARRIER_LEAVE:
	case PLAIT_EV_ONCE_PASS:
		return READS;
	case PLAIT_EV_WAIT:
	case PLAIT_EV_SIGNAL:
	case PLAIT_EV_BROADCAST:
	case PLAIT_EV_SEM_INIT:
	case PLAIT_EV_SEM_POST:
	case PLAIT_EV_FUTEX_WAKE:
	case PLAIT_EV_BARRIER_WAIT:
	case PLAIT_EV_LOCK_INIT:
	case PLAIT_EV_LOCK_DESTROY:
	case PLAIT_EV_ONCE_END:
		return WRITES;
	case PLAIT_EV_SEM_WAIT:
		return READS | WRITES;
	default:
		return 0;
	}
}

void steps_deinit(struct steps *s)
{
	free(s->data);
	memset(s, 0, sizeof(*s));
}

bool step_writes(const struct step *s)
{
	return effects(s) & WRITES;
}

bool step_reads(const struct step *s)
{
	return effects(s) & READS;
}

bool step_is_memory(const struct step *s)
{
	return effects(s) & MEMORY;
}

bool step_is_acquire(const struct step *s)
{
	return effects(s) & ACQUIRES;
}

bool step_is_release(const struct step *s)
{
	return effects(s) & RELEASES;
}

static uint64_t extent(const struct step *s)
{
	return s->size ? s->size : 1;
}

bool step_conflicts(const struct step *a, const struct step *b)
{
	if (a->thread == b->thread || !(step_writes(a) || step_writes(b)))
		return false;
	if (!effects(a) || !effects(b))
		return false;
	return a->address < b->address + extent(b) && b->address < a->address + extent(a);
}

/* Memory is tracked in 8-byte words: an access takes the latest writer among its words. Wide copies
 * are followed for their first words only; beyond that a page-sized copy would cost more than it
 * tells. */
enum { MAX_WORDS = 512 };

void steps_link(struct steps *s)
{
	struct map last = { 0 }; /* word -> step + 1 that wrote it last */

	for (size_t i = 0; i < s->len; i++) {
		struct step *e = &s->data[i];
		uint64_t first = e->address >> 3;
		uint64_t words = ((e->address + extent(e) - 1) >> 3) - first + 1;
		uint64_t latest = 0;

		e->source = STEP_NONE;
		if (!effects(e))
			continue;
		words = MIN(words, MAX_WORDS);
		for (uint64_t w = 0; w < words && step_reads(e); w++)
			latest = MAX(latest, map_get_or(&last, first + w, 0));
		if (latest)
			e->source = (uint32_t)latest - 1;
		for (uint64_t w = 0; w < words && step_writes(e); w++)
			*map_put(&last, first + w, 0) = i + 1;
	}
	map_deinit(&last);
}

size_t steps_switches(const struct steps *s)
{
	size_t n = 0;

	for (size_t i = 1; i < s->len; i++)
		n += s->data[i].thread != s->data[i - 1].thread;
	return n;
}
