#include "explain/find/closing.h"

#include "unplait/abi.h"

enum { FARTHEST = 60 }; /* steps of a thread: longer stretches say little */

bool step_is_bound(const struct step *e)
{
	return step_is_acquire(e) || step_is_release(e) || e->kind == PLAIT_EV_WAIT ||
	       e->kind == PLAIT_EV_WOKEN || e->kind == PLAIT_EV_FORK || e->kind == PLAIT_EV_JOIN;
}

static bool used_by_others(const struct steps *s, const struct step *e)
{
	for (uint32_t i = 0; i < s->len; i++)
		if (s->data[i].thread != e->thread && step_is_memory(&s->data[i]) &&
		    s->data[i].address == e->address)
			return true;
	return false;
}

uint32_t closing_begin(const struct steps *s, uint32_t x)
{
	uint32_t found = STEP_NONE;

	for (uint32_t k = x, seen = 0; k-- > 0 && seen < FARTHEST;) {
		const struct step *e = &s->data[k];

		if (e->thread != s->data[x].thread)
			continue;
		seen++;
		if (step_is_bound(e))
			break;
		if (step_is_memory(e) && step_writes(e) && e->site && !e->pending && !e->alone &&
		    e->address != s->data[x].address && used_by_others(s, e))
			found = k;
	}
	return found;
}
