/* explain/find/units.c - see units.h. */
#include "explain/find/units.h"

#include "unplait/abi.h"

static struct units held_before(const struct steps *s, uint32_t end, uint32_t thread,
				uint64_t address)
{
	struct units held = { STEP_NONE, 0 };

	for (uint32_t k = 0; k < end; k++) {
		const struct step *e = &s->data[k];

		if (e->thread != thread || e->address != address || e->pending || !e->as_units)
			continue;
		if (e->kind == PLAIT_EV_SEM_POST) {
			held.n -= held.n > 0;
		} else if (!held.n++) {
			held.first = k;
		}
	}
	if (!held.n)
		held.first = STEP_NONE;
	return held;
}

static bool waits_for_unit(const struct step *e)
{
	return e->pending && e->as_units && e->kind == PLAIT_EV_SEM_WAIT;
}

struct units units_held(const struct steps *s, uint32_t i)
{
	if (!waits_for_unit(&s->data[i]))
		return (struct units){ STEP_NONE, 0 };
	return held_before(s, i, s->data[i].thread, s->data[i].address);
}

static bool waits_too(const struct steps *s, uint32_t thread, uint64_t address)
{
	for (uint32_t k = 0; k < s->len; k++)
		if (s->data[k].thread == thread && s->data[k].address == address &&
		    waits_for_unit(&s->data[k]))
			return true;
	return false;
}

uint32_t units_find(const struct steps *s)
{
	for (uint32_t i = 0; i < s->len; i++) {
		bool all = units_held(s, i).n > 0;

		for (uint32_t t = 0; t < s->nthreads && all; t++)
			all = !held_before(s, (uint32_t)s->len, t, s->data[i].address).n ||
			      waits_too(s, t, s->data[i].address);
		if (all)
			return i;
	}
	return STEP_NONE;
}
