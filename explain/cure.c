/* explain/cure.c - candidate remedies, and their trial by native runs.
 *
 * The decisive pair is x (thread A) before y (thread B); with y first the run passes.
 *
 * Atomicity. If the failing run also has a conflict from B back to A around the pair, the two
 *threads' code cannot be put one after the other: one of them was interrupted by the other. B
 *interrupted: z .. y in B with x in between (z conflicts with some step of A up to x) A
 *interrupted: x .. w in A with y in between (w conflicts with some step of B from y on) The nearest
 *such block, enforced as atomic, is a candidate; if z and y (or x and w) touch the same object it
 *is a single-variable violation, else a multi-variable one. Deadlock. The block from the outer to
 *the inner acquisition of each thread, enforced as atomic; a thread that waits for a signal: from
 *its last read before the wait to the wait. Order. y before x, for every thread; and, for tear-down
 *too early, x only when nobody else can run.
 *
 * What a candidate is called is decided by the trial: the first one under which no schedule fails.
 */
#include "explain/cure.h"

#include "base/err.h"
#include "base/log.h"
#include "unplait/abi.h"

#include <string.h>

enum { NEAR = 400 }; /* steps of a thread that can still belong to one block */

static bool same_object(const struct step *a, const struct step *b)
{
	return a->address == b->address;
}

static struct plait_pattern by_site(const struct step *e)
{
	return (struct plait_pattern){
		.thread = PLAIT_ANY, .site_low = e->site, .site_high = e->site, .nth = PLAIT_ANY
	};
}

static void add_atomic(struct cures *ret, const struct steps *s, uint32_t from, uint32_t to,
		       uint32_t intruder, enum bug_kind kind)
{
	struct cure *c;

	for (size_t i = 0; i < ret->len; i++)
		if (s->data[ret->data[i].from].site == s->data[from].site &&
		    s->data[ret->data[i].to].site == s->data[to].site)
			return;
	c = vec_add(ret);
	c->kind = kind;
	c->from = from;
	c->to = to;
	c->intruder = intruder;
	c->constraint = (struct plait_constraint){ .kind = PLAIT_CONSTRAINT_ATOMIC,
						   .a = by_site(&s->data[from]),
						   .b = by_site(&s->data[to]) };
}

static void add_order(struct cures *ret, const struct steps *s, uint32_t first, uint32_t then)
{
	struct cure *c = vec_add(ret);

	c->kind = BUG_ORDER;
	c->from = first;
	c->to = then;
	c->intruder = STEP_NONE;
	c->constraint = (struct plait_constraint){ .kind = PLAIT_CONSTRAINT_BEFORE,
						   .a = by_site(&s->data[first]),
						   .b = by_site(&s->data[then]) };
	c->constraint.a.nth = 1;
}

static void add_late(struct cures *ret, const struct steps *s, uint32_t y, uint32_t x)
{
	struct cure *c = vec_add(ret);

	c->kind = BUG_ORDER;
	c->from = y;
	c->to = x;
	c->intruder = STEP_NONE;
	c->constraint = (struct plait_constraint){ .kind = PLAIT_CONSTRAINT_LATE,
						   .b = by_site(&s->data[x]) };
}

/* Does step i of its thread conflict, through memory, with a step of `thread` in [low, high]? */
static bool conflicts_within(const struct steps *s, uint32_t i, uint32_t thread, uint32_t low,
			     uint32_t high)
{
	for (uint32_t k = low; k <= high && k < s->len; k++)
		if (s->data[k].thread == thread && step_is_memory(&s->data[k]) &&
		    step_conflicts(&s->data[k], &s->data[i]))
			return true;
	return false;
}

/* B was interrupted: walk back from x over B's steps. same: only steps on y's object. */
static void find_interrupted_second(const struct steps *s, uint32_t x, uint32_t y, bool same,
				    struct cures *ret)
{
	const struct step *ey = &s->data[y];

	for (uint32_t k = x, seen = 0; k-- > 0 && seen < NEAR;) {
		const struct step *e = &s->data[k];

		if (e->thread != ey->thread)
			continue;
		seen++;
		if (!step_is_memory(e) || same != same_object(e, ey))
			continue;
		if (same || conflicts_within(s, k, s->data[x].thread, k + 1, y)) {
			add_atomic(ret, s, k, y, x, same ? BUG_ATOMICITY : BUG_MULTI_VARIABLE);
			return;
		}
	}
}

/* A was interrupted: walk on from y over A's steps. */
static void find_interrupted_first(const struct steps *s, uint32_t x, uint32_t y, bool same,
				   struct cures *ret)
{
	const struct step *ex = &s->data[x];

	for (uint32_t k = y + 1, seen = 0; k < s->len && seen < NEAR; k++) {
		const struct step *e = &s->data[k];

		if (e->thread != ex->thread)
			continue;
		seen++;
		if (!step_is_memory(e) || same != same_object(e, ex))
			continue;
		if (same || conflicts_within(s, k, s->data[y].thread, x, k)) {
			add_atomic(ret, s, x, k, y, same ? BUG_ATOMICITY : BUG_MULTI_VARIABLE);
			return;
		}
	}
}

/* For each thread that waits for a lock at the end: the block from the lock it already holds. */
static void find_deadlock(const struct steps *s, struct cures *ret)
{
	for (uint32_t t = 0; t < s->nthreads; t++) {
		uint32_t held = STEP_NONE, last = STEP_NONE;

		for (uint32_t i = 0; i < s->len; i++) {
			if (s->data[i].thread != t)
				continue;
			if (step_is_acquire(&s->data[i]))
				held = i;
			last = i;
		}
		if (held != STEP_NONE && last != held)
			add_atomic(ret, s, held, last, STEP_NONE, BUG_DEADLOCK);
	}
}

/* A thread that went to wait although what it waits for had happened: from the read to the wait. */
static void find_lost_wakeup(const struct steps *s, struct cures *ret)
{
	for (uint32_t i = (uint32_t)s->len; i-- > 0;) {
		if (s->data[i].kind != PLAIT_EV_WAIT)
			continue;
		for (uint32_t k = i; k-- > 0;) {
			if (s->data[k].thread != s->data[i].thread)
				continue;
			if (step_is_memory(&s->data[k]))
				add_atomic(ret, s, k, i, STEP_NONE, BUG_LOST_WAKEUP);
			break;
		}
	}
}

void cures_find(const struct steps *failing, const struct alternate *alternate, bool deadlocked,
		struct cures *ret)
{
	uint32_t x = alternate->pair.first, y = alternate->pair.second,
		 about = alternate->pair.about;

	memset(ret, 0, sizeof(*ret));
	if (deadlocked) {
		find_lost_wakeup(failing, ret);
		find_deadlock(failing, ret);
	}
	if (!alternate->found)
		return;
	if (step_is_memory(&failing->data[y])) {
		find_interrupted_second(failing, x, y, true, ret);
		find_interrupted_first(failing, x, y, true, ret);
		find_interrupted_second(failing, x, y, false, ret);
		find_interrupted_first(failing, x, y, false, ret);
	} else if (about != y) {
		find_interrupted_second(failing, x, about, true, ret);
		find_interrupted_second(failing, x, about, false, ret);
	}
	add_order(ret, failing, y, x);
	add_late(ret, failing, y, x);
}

static struct err *count_failures(const struct explain_runner *runner,
				  const struct plait_constraint *constraint, uint64_t runs,
				  uint64_t seed, double end, uint64_t *failed, uint64_t *done,
				  bool *dropped)
{
	static const uint32_t strategies[] = { PLAIT_STRATEGY_POS, PLAIT_STRATEGY_RANDOM,
					       PLAIT_STRATEGY_PCT };

	for (uint64_t i = 0; i < runs && clock_seconds() < end; i++) {
		struct explain_request request = {
			.strategy = strategies[i % ARRAY_SIZE(strategies)],
			.seed = seed + i,
			.constraints = constraint,
			.nconstraints = constraint ? 1 : 0,
		};
		struct explain_result r = { 0 };
		struct err *err = runner->run(runner->context, &request, &r);

		if (err)
			return err;
		++*done;
		*failed += r.failed;
		*dropped |= r.constraint_dropped;
		progress("testing the advice: %llu of %llu schedules", (unsigned long long)*done,
			 (unsigned long long)runs);
	}
	return NULL;
}

struct err *cure_try(const struct explain_runner *runner, const struct cure *cure, uint64_t runs,
		     uint64_t seed, double seconds, struct cure_trial *ret)
{
	double now = clock_seconds();
	bool ignored = false;
	struct err *err;

	memset(ret, 0, sizeof(*ret));
	err = count_failures(runner, NULL, runs, seed, now + seconds / 2, &ret->failed_before,
			     &ret->runs_before, &ignored);
	if (!err)
		err = count_failures(runner, &cure->constraint, runs, seed, now + seconds,
				     &ret->failed_after, &ret->runs_after, &ret->dropped);
	progress_done();
	return err;
}
