/* explain/show/alternatives.c - see alternatives.h.
 *
 * A value that is read twice before a compare-and-swap: with what was read first the compare-and-swap would see that it
 * has changed. And a destructor that works beside a thread of its own, which it joins later: it could have joined it
 * before, unless that thread waits for what the destructor does in between. */
#include "explain/show/alternatives.h"

#include "debug/names.h"
#include "explain/show/stacks.h"
#include "unplait/abi.h"

#include <string.h>

enum { NEAR = 10 };

static uint32_t next_of(const struct steps *s, uint32_t i)
{
	uint32_t thread = s->data[i].thread;

	while (++i < s->len)
		if (s->data[i].thread == thread && !s->data[i].pending)
			return i;
	return STEP_NONE;
}

/* Read, read again, and then a compare-and-swap of the same, with nothing but other accesses in between. */
static bool is_read_twice(const struct steps *f, const struct cure *c)
{
	const struct step *from = &f->data[c->from];
	uint32_t k = c->from;

	if (c->to_in_passing || from->kind != PLAIT_EV_ATOMIC_READ ||
	    f->data[c->to].kind != PLAIT_EV_ATOMIC_READ ||
	    f->data[c->to].address != from->address || f->data[c->to].size != from->size)
		return false;
	for (uint32_t seen = 0; seen < NEAR && (k = next_of(f, k)) != STEP_NONE; seen++) {
		const struct step *e = &f->data[k];

		if (!step_is_memory(e) ||
		    (e->address == from->address && k < c->to && step_writes(e)))
			return false;
		if (k > c->to && e->address == from->address)
			return e->kind == PLAIT_EV_ATOMIC_RMW;
	}
	return false;
}

/* Of the two threads of a block, does one join the other later? The step of the one that joins; STEP_NONE. */
static uint32_t joins_later(const struct steps *f, const struct steps *g, const struct cure *c)
{
	const uint32_t steps[2] = { c->from, c->intruder };

	for (unsigned i = 0; i < 2 && g->births; i++) {
		uint32_t mine = steps[i], other = f->data[steps[!i]].thread;

		if (other < g->nthreads && g->births[other].joined &&
		    g->births[other].joiner == f->data[mine].thread)
			return mine;
	}
	return STEP_NONE;
}

/* In the passing run, from where its thread came to this place to the join: does the other thread see anything that is
 * done meanwhile, but for the object itself? Then it may need that to come to its end. */
static bool is_needed(const struct steps *g, const struct step *mine, const struct step *object,
		      uint32_t other)
{
	uint64_t since = UINT64_MAX;

	for (uint32_t k = 0; k < g->len && since == UINT64_MAX; k++)
		if (g->data[k].thread == mine->thread && g->data[k].site == mine->site)
			since = g->data[k].clock;
	for (uint32_t k = 0; k < g->len; k++) {
		const struct step *e = &g->data[k];
		const struct step *by = e->source < g->len ? &g->data[e->source] : NULL;

		if (e->thread == other && by && by->thread == mine->thread && by->clock >= since &&
		    !(step_is_memory(e) && e->address == object->address))
			return true;
	}
	return since == UINT64_MAX;
}

/* NULL: not known, or it was done elsewhere. */
static const char *destructor_of(struct labels *p, const struct step *s)
{
	const struct plait_stack *stack = stacks_find(p->stacks, s);

	return stack ? stack_destructor(p->symbols, stack) : NULL;
}

const char *alternatives_tell(struct labels *p, const struct steps *failing,
			      const struct steps *passing, const struct cure *c, const char *object)
{
	struct arena *arena = &p->x->arena;
	uint32_t mine = joins_later(failing, passing, c);
	uint32_t other = mine == c->from ? c->intruder : c->from;
	const char *destructor = mine == STEP_NONE ? NULL : destructor_of(p, &failing->data[mine]);

	if (is_read_twice(failing, c))
		return arena_printf(arena,
				    "; or read %s only once: then the compare-and-swap sees that "
				    "it has changed",
				    object);
	if (destructor && !is_needed(passing, &failing->data[mine], &failing->data[c->from],
				     failing->data[other].thread))
		return arena_printf(arena,
				    "; or join thread %s before that: %s does it while that thread "
				    "still runs, and joins it later",
				    p->x->threads[failing->data[other].thread], destructor);
	return "";
}

static bool is_wait(const struct step *e)
{
	return !e->pending && (e->kind == PLAIT_EV_WAIT || e->kind == PLAIT_EV_WOKEN ||
			       (e->kind == PLAIT_EV_SEM_WAIT && !step_is_acquire(e)));
}

/* The last wait of a thread on its way from the one place to the other; STEP_NONE. (Who comes to the first again has
 * looked again.) */
static uint32_t wait_between(const struct steps *s, uint32_t first, uint32_t last, uint64_t lock)
{
	for (uint32_t i = 0; i < s->len; i++) {
		uint32_t wait = STEP_NONE;

		if (s->data[i].site != first || s->data[i].pending)
			continue;
		for (uint32_t k = next_of(s, i); k != STEP_NONE; k = next_of(s, k)) {
			if (is_wait(&s->data[k]) &&
			    !(lock && s->data[k].value == lock)) /* gives it back meanwhile */
				wait = k;
			if (s->data[k].site == last && wait != STEP_NONE)
				return wait;
			if (s->data[k].site == last || s->data[k].site == first)
				break;
		}
	}
	return STEP_NONE;
}

uint32_t alternatives_wait(const struct steps *failing, const struct steps *passing,
			   const struct cure *c, const struct steps **in)
{
	uint32_t first = failing->data[c->from].site;
	uint32_t last = (c->to_in_passing ? passing : failing)->data[c->to].site;
	const struct step *from = &failing->data[c->from];
	uint64_t lock = step_is_acquire(from) ? from->address : 0;
	uint32_t wait = wait_between(failing, first, last, lock);

	*in = wait == STEP_NONE ? passing : failing;
	return wait == STEP_NONE ? wait_between(passing, first, last, lock) : wait;
}
