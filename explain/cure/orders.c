/* explain/cure/orders.c - orders that might cure it, for a decisive pair: x before y in the failing
 * run.
 *
 * y before x, for every thread; where all threads run the same code, all of them at y's place before
 * any at x's (a barrier); and, for tear-down too early, x only when nobody else can run, if only one
 * thread does x. Each also held at the lock around x. */
#include "explain/cure/finder.h"

#include "base/mem.h"
#include "base/vec.h"
#include "explain/find/closing.h"
#include "unplait/effects.h"

#include <stdlib.h>

enum { BESIDE = 10 }; /* steps of a thread that belong to one tear-down */

/* How often this place was come to before, for other objects: code that many share. */
static uint32_t for_others(const struct steps *s, uint32_t first)
{
	const struct step *e = &s->data[first];
	uint32_t n = 0;

	for (uint32_t i = 0; i < first; i++)
		n += s->data[i].site == e->site && s->data[i].address != e->address &&
		     !s->data[i].pending;
	return n;
}

static struct plait_constraint order_of(const struct finder *fd, uint32_t first, uint32_t then,
					uint32_t kind)
{
	struct plait_constraint c = { .kind = kind,
				      .a = finder_place(&fd->f->data[first]),
				      .b = finder_place(&fd->f->data[then]) };

	c.a.nth = 1;
	if (step_is_memory(&fd->f->data[first]) &&
	    fd->f->data[first].address == fd->f->data[then].address)
		c.a.nth += for_others(fd->f, first);
	if (fd->f->data[first].site == fd->f->data[then].site) {
		/* both do it: only the threads tell them apart */
		c.a.thread = fd->f->data[first].thread;
		c.b.thread = fd->f->data[then].thread;
	}
	return c;
}

/* Whoever waits inside a critical section may keep out the one it waits for: it waits before it
 * takes the lock. STEP_NONE: it holds none. */
static uint32_t outermost_lock(const struct steps *s, uint32_t i)
{
	uint32_t lock = cure_held(s, i), outer = lock;

	for (unsigned n = 0; lock != STEP_NONE && n < 8; n++) {
		outer = lock;
		lock = cure_held(s, lock);
	}
	return outer != STEP_NONE && s->data[outer].site ? outer : STEP_NONE;
}

/* The first of the last few steps of x's thread, up to x, that gives something back; STEP_NONE. */
static uint32_t teardown_begin(const struct steps *s, uint32_t x)
{
	uint32_t first = STEP_NONE;

	for (uint32_t k = x + 1, seen = 0; k-- > 0 && seen < BESIDE;) {
		const struct step *e = &s->data[k];

		seen += e->thread == s->data[x].thread;
		if (e->thread == s->data[x].thread &&
		    (e->kind == PLAIT_EV_FREE || e->kind == PLAIT_EV_LOCK_DESTROY))
			first = k;
	}
	return first;
}

/* What every thread does cannot wait for all the others. */
static bool done_by_one_thread(const struct steps *s, const struct step *e)
{
	for (uint32_t i = 0; i < s->len; i++)
		if (s->data[i].site == e->site && s->data[i].thread != e->thread)
			return false;
	return true;
}

static void add_order(struct finder *fd, uint32_t first, uint32_t then, uint32_t kind, bool missed)
{
	struct cure c = { .kind = BUG_ORDER,
			  .cost = UINT32_MAX,
			  .other_from = STEP_NONE,
			  .from = first,
			  .to = then,
			  .intruder = STEP_NONE,
			  .teardown = kind == PLAIT_CONSTRAINT_LATE &&
				      teardown_begin(fd->f, then) != STEP_NONE,
			  .missed = missed,
			  .nconstraints = 1 };

	c.constraints[0] = order_of(fd, first, then, kind);
	vec_push(fd->out, c);
	then = outermost_lock(fd->f, then);
	if (then == STEP_NONE || step_is_acquire(&fd->f->data[c.to]))
		return;
	c.constraints[0] = order_of(fd, first, then, kind);
	vec_push(fd->out, c);
}

static bool is_update(const struct step *read, const struct step *write)
{
	return read && read->address == write->address && !step_writes(read) && step_writes(write);
}

/* Is there room for a barrier between the two places: does a thread come to the second after the first?
 * If it reads an object at the one and writes the same one at the other, that is one update, and no
 * end of a phase. */
static bool has_room(const struct steps *s, const struct step *first, const struct step *then)
{
	/* what each thread did last at either place */
	const struct step **firsts = xcalloc(s->nthreads + 1u, sizeof(const struct step *));
	const struct step **thens = xcalloc(s->nthreads + 1u, sizeof(const struct step *));
	bool room = false, update = false;

	for (uint32_t i = 0; i < s->len && !update; i++) {
		const struct step *e = &s->data[i];

		if (e->site == then->site) {
			update = is_update(firsts[e->thread], e);
			room |= firsts[e->thread] != NULL;
			thens[e->thread] = e;
		}
		if (e->site == first->site) {
			update |= is_update(thens[e->thread], e);
			firsts[e->thread] = e;
		}
	}
	free(firsts);
	free(thens);
	return room && !update;
}

/* Threads that run the same code: all of them should be done with y's place before any of them goes
 * on to x's. Whoever comes to x waits as long as anybody else can run, as at a barrier. */
static void add_barrier(struct finder *fd, uint32_t x, uint32_t y)
{
	struct cure c = { .kind = BUG_ORDER,
			  .cost = UINT32_MAX - 1,
			  .other_from = STEP_NONE,
			  .from = y,
			  .to = x,
			  .intruder = STEP_NONE,
			  .barrier = true,
			  .nconstraints = 1 };
	const struct step *first = &fd->f->data[y], *then = &fd->f->data[x];

	if (!step_is_memory(first) || !step_is_memory(then) || first->kind == PLAIT_EV_FREE ||
	    then->kind == PLAIT_EV_FREE || first->site == then->site ||
	    (done_by_one_thread(fd->g, first) && done_by_one_thread(fd->f, first)) ||
	    (done_by_one_thread(fd->g, then) && done_by_one_thread(fd->f, then)) ||
	    !(has_room(fd->f, first, then) || has_room(fd->g, first, then)))
		return;
	c.constraints[0] = order_of(fd, y, x, PLAIT_CONSTRAINT_LATE);
	vec_push(fd->out, c);
}

/* x is part of tearing something down: its thread gave memory back just before, or does so with x.
 * That must wait, not only x. */
static void add_teardown(struct finder *fd, uint32_t x, uint32_t y)
{
	uint32_t first = teardown_begin(fd->f, x);

	if (first != STEP_NONE && done_by_one_thread(fd->f, &fd->f->data[first]))
		add_order(fd, y, first, PLAIT_CONSTRAINT_LATE, false);
}

/* x is one of several changes that its thread makes one after the other: all of them must wait. */
static void add_closing(struct finder *fd, uint32_t x, uint32_t y)
{
	const struct step *e = &fd->f->data[x];
	size_t n = fd->out->len;
	uint32_t first;

	if (!step_is_memory(e) || !step_writes(e))
		return;
	first = closing_begin(fd->f, x);
	if (first == STEP_NONE)
		first = x;
	if (done_by_one_thread(fd->f, &fd->f->data[first]) &&
	    done_by_one_thread(fd->g, &fd->f->data[first]))
		add_order(fd, y, first, PLAIT_CONSTRAINT_LATE, false);
	for (; n < fd->out->len; n++)
		fd->out->data[n].closing = true;
}

void finder_add_orders(struct finder *fd, uint32_t x, uint32_t y)
{
	add_order(fd, y, x, PLAIT_CONSTRAINT_BEFORE, fd->f->data[y].missed);
	add_barrier(fd, x, y);
	add_teardown(fd, x, y);
	add_closing(fd, x, y);
	if (done_by_one_thread(fd->f, &fd->f->data[x]) &&
	    done_by_one_thread(fd->g, &fd->f->data[x]))
		add_order(fd, y, x, PLAIT_CONSTRAINT_LATE, false);
}

void finder_add_missed(struct finder *fd, uint32_t x, uint32_t y)
{
	add_order(fd, y, x, PLAIT_CONSTRAINT_BEFORE, true);
}

bool cure_late(const struct steps *failing, uint32_t use, uint32_t gone, unsigned back,
	       struct cure *ret)
{
	struct finder fd = { .f = failing, .g = failing };
	uint32_t first = teardown_begin(failing, gone), stop;

	stop = first != STEP_NONE ? first : gone;
	for (uint32_t k = stop; back && k-- > 0;)
		if (failing->data[k].thread == failing->data[gone].thread &&
		    plait_is_point(failing->data[k].kind)) {
			stop = k;
			back--;
		}
	if (back || !failing->data[stop].site || !plait_is_point(failing->data[stop].kind))
		return false;
	*ret = (struct cure){ .kind = BUG_ORDER,
			      .cost = UINT32_MAX,
			      .other_from = STEP_NONE,
			      .from = use,
			      .to = gone,
			      .intruder = STEP_NONE,
			      .teardown = true,
			      .nconstraints = 1 };
	ret->constraints[0] = order_of(&fd, use, stop, PLAIT_CONSTRAINT_LATE);
	return true;
}
