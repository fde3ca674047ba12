/* explain/find/readers.c - see readers.h. */
#include "explain/find/readers.h"

#include "explain/find/guards.h"
#include "unplait/abi.h"

static bool is_for_reading(const struct step *e)
{
	return (e->kind == PLAIT_EV_RDLOCK || e->kind == PLAIT_EV_TRYRDLOCK) && !e->pending;
}

/* Many read and change an atomic under a lock for reading, and may. */
static bool is_atomic(const struct step *e)
{
	return e->kind == PLAIT_EV_ATOMIC_READ || e->kind == PLAIT_EV_ATOMIC_WRITE ||
	       e->kind == PLAIT_EV_ATOMIC_RMW;
}

/* Does the thread of step `at` keep the other one out by a lock that both hold at these steps? */
static bool keeps_out(const struct steps *s, uint32_t at, uint32_t other)
{
	for (uint32_t k = 0; k < at; k++) {
		const struct step *e = &s->data[k];
		uint32_t its;

		if (e->thread != s->data[at].thread || !step_is_acquire(e) || e->pending ||
		    guards_held(s, at, e->address) != k)
			continue;
		its = guards_held(s, other, e->address);
		if (its != STEP_NONE && !(is_for_reading(e) && is_for_reading(&s->data[its])))
			return true;
	}
	return false;
}

static bool changes(const struct step *e)
{
	return e->kind == PLAIT_EV_FREE || step_writes(e);
}

bool readers_find(const struct steps *s, uint32_t a, uint32_t b, struct readers *ret)
{
	uint32_t change, other;

	if (a >= s->len || b >= s->len || s->data[a].thread == s->data[b].thread ||
	    !step_is_memory(&s->data[a]) || !step_is_memory(&s->data[b]) ||
	    is_atomic(&s->data[a]) || is_atomic(&s->data[b]))
		return false;
	change = changes(&s->data[a]) ? a : b;
	other = change == a ? b : a;
	if (!changes(&s->data[change]) || keeps_out(s, change, other))
		return false;
	for (uint32_t k = change; k-- > 0;) {
		const struct step *e = &s->data[k];
		uint32_t its;

		if (e->thread != s->data[change].thread || !is_for_reading(e) ||
		    guards_held(s, change, e->address) != k)
			continue;
		its = guards_held(s, other, e->address);
		if (its == STEP_NONE)
			continue;
		*ret = (struct readers){ change, k, its };
		return true;
	}
	return false;
}
