/* explain/show/stuck.c - threads that wait for a signal for ever, although no wake-up was lost.
 *
 * A lost wake-up is a signal between a thread's check and its wait. Two other things look alike:
 *
 * 1. The thread waits while it holds another lock, and whoever would signal needs that lock first.
 * 2. The signal came before the check, and what it announced was there; but another thread took it
 *    away (cleared the flag, took the last item) before this one looked. */
#include "explain/show/present.h"

#include "base/err.h"
#include "explain/show/labels.h"
#include "unplait/abi.h"

#include <string.h>

struct shown {
	struct shown_event e;
	const char *where, *object, *thread;
};

static struct err *show(struct labels *p, const struct steps *s, uint32_t i, struct shown *ret)
{
	struct err *err = labels_event(p, &s->data[i], &ret->e);
	const char *slash = ret->e.file ? strrchr(ret->e.file, '/') : NULL;

	if (err)
		return err;
	ret->where = arena_printf(&p->x->arena, "%s:%u",
				  slash		? slash + 1
				  : ret->e.file ? ret->e.file
						: "?",
				  ret->e.line);
	ret->object = ret->e.object ? ret->e.object : "it";
	ret->thread = p->x->threads[s->data[i].thread];
	return NULL;
}

/* A thread that waits for a signal is about to be woken. */
static bool is_wait(const struct step *s)
{
	return s->kind == PLAIT_EV_WAIT || s->kind == PLAIT_EV_WOKEN;
}

/* ---- 1. a lock is held meanwhile ---- */

/* The acquisition of a lock that the thread of step `wait` holds there, other than the one it gives
 * up by waiting, and that step `other` waits for. */
static uint32_t held_for(const struct steps *s, uint32_t wait, uint32_t other)
{
	uint32_t found = STEP_NONE;

	for (uint32_t k = 0; k < wait; k++) {
		const struct step *e = &s->data[k];

		if (e->thread != s->data[wait].thread || e->address != s->data[other].address)
			continue;
		if (step_is_acquire(e))
			found = k;
		else if (step_is_release(e))
			found = STEP_NONE;
	}
	return found;
}

static struct err *tell_held(struct labels *p, const struct steps *s, uint32_t wait, uint32_t held,
			     uint32_t other)
{
	struct shown waits = { 0 }, holds = { 0 }, needs = { 0 };
	struct explanation *x = p->x;
	struct err *err = show(p, s, wait, &waits);

	if (!err)
		err = show(p, s, held, &holds);
	if (!err)
		err = show(p, s, other, &needs);
	if (err)
		return err;
	x->kind = BUG_DEADLOCK;
	x->summary = arena_printf(&x->arena,
				  "thread %s waits for %s at %s while it holds %s (%s); thread %s "
				  "needs %s at %s before it can go on",
				  waits.thread, waits.object, waits.where, holds.object,
				  holds.where, needs.thread, holds.object, needs.where);
	x->advice = (struct shown_advice){
		.text = arena_printf(&x->arena,
				     "do not wait while holding %s: release it before the wait at "
				     "%s, or let thread %s signal without it",
				     holds.object, waits.where, needs.thread)
	};
	return NULL;
}

/* ---- 2. it was there, and somebody took it away ---- */

/* The last read of memory by this thread before its wait: what it looked at. */
static uint32_t last_check(const struct steps *s, uint32_t wait)
{
	for (uint32_t k = wait; k-- > 0;) {
		if (s->data[k].thread != s->data[wait].thread || is_wait(&s->data[k]))
			continue;
		if (step_is_memory(&s->data[k]))
			return step_writes(&s->data[k]) ? STEP_NONE : k;
		if (step_is_acquire(&s->data[k]) || step_is_release(&s->data[k]))
			return STEP_NONE; /* it looked at nothing in this critical section */
	}
	return STEP_NONE;
}

/* The last write to the same memory before a step; by which other thread does not matter. */
static uint32_t last_write(const struct steps *s, uint32_t before, uint32_t at)
{
	for (uint32_t k = before; k-- > 0;)
		if (step_is_memory(&s->data[k]) && step_writes(&s->data[k]) &&
		    s->data[k].address == s->data[at].address)
			return k;
	return STEP_NONE;
}

/* Is the condition of step `wait` signalled between two steps? thread UINT32_MAX: by anybody. */
static bool is_signalled(const struct steps *s, uint32_t from, uint32_t until, uint32_t wait,
			 uint32_t thread)
{
	for (uint32_t k = from + 1; k < until; k++)
		if ((s->data[k].kind == PLAIT_EV_SIGNAL || s->data[k].kind == PLAIT_EV_BROADCAST) &&
		    s->data[k].address == s->data[wait].address &&
		    (thread == UINT32_MAX || s->data[k].thread == thread))
			return true;
	return false;
}

static struct err *tell_taken(struct labels *p, const struct steps *s, uint32_t wait, uint32_t set,
			      uint32_t taken, uint32_t check)
{
	struct shown waits = { 0 }, sets = { 0 }, takes = { 0 }, looks = { 0 };
	struct explanation *x = p->x;
	struct err *err = show(p, s, wait, &waits);

	if (!err)
		err = show(p, s, set, &sets);
	if (!err)
		err = show(p, s, taken, &takes);
	if (!err)
		err = show(p, s, check, &looks);
	if (err)
		return err;
	x->kind = BUG_ORDER;
	x->summary = arena_printf(&x->arena,
				  "thread %s waits at %s for ever: %s, set by thread %s at %s, was "
				  "changed by thread %s at %s before thread %s looked at it (%s)",
				  waits.thread, waits.where, sets.object, sets.thread, sets.where,
				  takes.thread, takes.where, waits.thread, looks.where);
	x->advice = (struct shown_advice){
		.text = arena_printf(
			&x->arena,
			"one thread uses up at %s what several wait for: count instead "
			"of setting %s, or give each of them its own",
			takes.where, sets.object)
	};
	return NULL;
}

/* Check, last write, the write before it: taken away after a signal? */
static struct err *find_taken(struct labels *p, const struct steps *s, uint32_t wait, bool *found)
{
	uint32_t check = last_check(s, wait), taken, set;

	if (check == STEP_NONE)
		return NULL;
	taken = last_write(s, check, check);
	set = taken == STEP_NONE ? STEP_NONE : last_write(s, taken, check);
	if (set == STEP_NONE || s->data[taken].thread == s->data[set].thread ||
	    s->data[taken].thread == s->data[wait].thread ||
	    s->data[set].thread == s->data[wait].thread ||
	    !is_signalled(s, set, check, wait, s->data[set].thread) ||
	    is_signalled(s, check, (uint32_t)s->len, wait, UINT32_MAX))
		return NULL;
	*found = true;
	return tell_taken(p, s, wait, set, taken, check);
}

/* Does one thread wait for a lock that the other holds? */
static bool waits_for(const struct explanation *x, uint32_t one, uint32_t other)
{
	for (size_t i = 0; i < x->nwaits; i++)
		if (x->waits[i].thread == one && x->waits[i].holder == other)
			return one != other;
	return false;
}

static struct err *find(struct labels *p, const struct steps *s)
{
	bool found = false;
	struct err *err = NULL;

	for (uint32_t i = 0; i < s->len && !found && !err; i++) {
		if (!s->data[i].pending || !is_wait(&s->data[i]))
			continue;
		for (uint32_t k = 0; k < s->len && !found && !err; k++) {
			uint32_t held;

			if (!s->data[k].pending || !step_is_acquire(&s->data[k]) ||
			    !waits_for(p->x, s->data[k].thread, s->data[i].thread))
				continue;
			held = held_for(s, i, k);
			if (held == STEP_NONE)
				continue;
			found = true;
			err = tell_held(p, s, i, held, k);
		}
		if (!found && !err)
			err = find_taken(p, s, i, &found);
	}
	return err;
}

struct err *present_stuck(struct explanation *x, struct trace *trace, const struct stacks *stacks,
			  const struct steps *failing)
{
	struct labels p;
	struct err *err = labels_init(&p, x, trace);

	p.others = failing;
	p.stacks = stacks;
	if (!err)
		err = find(&p, failing);
	labels_deinit(&p);
	return err;
}
