/* explain/show/stuck.c - a thread that waits for a signal for ever, in words (find/stuck.c). */
#include "explain/show/present.h"

#include "base/err.h"
#include "explain/find/guards.h"
#include "explain/find/stuck.h"
#include "explain/show/labels.h"
#include "explain/show/stacks.h"
#include "unplait/abi.h"

#include <string.h>

struct shown {
	struct shown_event e;
	const char *where, *object, *thread;
};

struct teller {
	struct labels p;
	const struct steps *s;
	const struct stuck *stuck;
	struct telling *out;
	struct shown waits, check, change, set, signal, woken, held;
	struct shown other, other_check, other_change;
};

static struct err *show(struct teller *t, uint32_t i, struct shown *ret)
{
	struct err *err;

	if (i == STEP_NONE)
		return NULL;
	err = labels_event(&t->p, &t->s->data[i], &ret->e);
	if (err)
		return err;
	ret->where = labels_place(&t->p, &ret->e);
	ret->object = ret->e.object ? ret->e.object : "it";
	if (labels_is_anonymous(ret->e.object))
		ret->object = step_is_memory(&t->s->data[i])	? ret->object
			      : step_is_acquire(&t->s->data[i]) ? "a lock"
								: "a condition variable";
	ret->thread = t->p.x->threads[t->s->data[i].thread];
	return NULL;
}

static struct err *show_all(struct teller *t)
{
	const struct stuck *k = t->stuck;
	struct err *err = show(t, k->wait, &t->waits);

	if (!err)
		err = show(t, k->check, &t->check);
	if (!err)
		err = show(t, k->change, &t->change);
	if (!err)
		err = show(t, k->set, &t->set);
	if (!err)
		err = show(t, k->signal, &t->signal);
	if (!err)
		err = show(t, k->woken, &t->woken);
	if (!err)
		err = show(t, k->held, &t->held);
	if (!err)
		err = show(t, k->other, &t->other);
	if (!err)
		err = show(t, k->other_check, &t->other_check);
	if (!err)
		err = show(t, k->other_change, &t->other_change);
	return err;
}

static void tell_held(struct teller *t)
{
	struct explanation *x = t->p.x;
	bool join = t->s->data[t->stuck->wait].kind == PLAIT_EV_JOIN;

	t->out->kind = BUG_DEADLOCK;
	t->out->summary =
		arena_printf(&x->arena,
			     "thread %s waits for %s at %s while it holds %s (%s); thread %s "
			     "needs %s at %s before it can go on",
			     t->waits.thread, join ? "the end of a thread" : t->waits.object,
			     t->waits.where, t->held.object, t->held.where, t->other.thread,
			     strcmp(t->held.object, "a lock") == 0 ? "that lock" : t->held.object,
			     t->other.where);
	if (join)
		t->out->advice = arena_printf(&x->arena,
					      "give %s back before the wait at %s, on every way "
					      "out of what begins at %s",
					      t->held.object, t->waits.where, t->held.where);
	else
		t->out->advice = arena_printf(&x->arena,
					      "do not wait while holding %s: take it after the "
					      "wait at %s, release it before, or let thread %s go "
					      "on without it",
					      t->held.object, t->waits.where, t->other.thread);
}

/* The lock that the wait gives up: who changes what is checked must hold it. */
static bool changed_without_lock(const struct teller *t)
{
	const struct stuck *k = t->stuck;

	return k->held != STEP_NONE &&
	       guards_held(t->s, k->change, t->s->data[k->held].address) == STEP_NONE &&
	       guards_held(t->s, k->change, t->s->data[k->held].value) == STEP_NONE;
}

/* By its name, if it has one. A thread that was woken has its lock from the wait: that step names the
 * condition. */
static const char *lock_of_wait(const struct teller *t)
{
	if (labels_is_anonymous(t->held.e.object) ||
	    t->s->data[t->stuck->held].kind == PLAIT_EV_WOKEN)
		return "the lock of the wait";
	return arena_printf(&t->p.x->arena, "%s, the lock of the wait", t->held.object);
}

static void tell_lost(struct teller *t)
{
	struct explanation *x = t->p.x;
	bool silent = t->stuck->signal == STEP_NONE;

	if (silent)
		t->out->summary = arena_printf(
			&x->arena,
			"thread %s waits for %s at %s for ever: thread %s writes %s at %s after "
			"thread %s looked at it (%s), and no signal comes after that",
			t->waits.thread, t->waits.object, t->waits.where, t->change.thread,
			t->check.object, t->change.where, t->waits.thread, t->check.where);
	else
		t->out->summary = arena_printf(
			&x->arena,
			"thread %s waits for %s at %s for ever: the signal by thread %s at %s came "
			"after its read of %s at %s and before the wait",
			t->waits.thread, t->waits.object, t->waits.where, t->signal.thread,
			t->signal.where, t->check.object, t->check.where);
	if (t->stuck->kind == STUCK_UNGUARDED || t->stuck->kind == STUCK_MISSED)
		t->out->advice = arena_printf(
			&x->arena,
			"look at %s (%s) under the lock of the wait at %s, in the same critical "
			"section, and again after waking up; write it at %s under that lock, too",
			t->check.object, t->check.where, t->waits.where, t->change.where);
	else if (changed_without_lock(t))
		t->out->advice = arena_printf(&x->arena,
					      "hold %s at %s, where thread "
					      "%s writes %s (%s), so that it cannot fall between "
					      "the check at %s and the wait",
					      lock_of_wait(t), t->waits.where, t->change.thread,
					      t->check.object, t->change.where, t->check.where);
	else if (silent)
		t->out->advice = arena_printf(&x->arena, "signal %s after the write to %s at %s",
					      t->waits.object, t->check.object, t->change.where);
	else
		t->out->advice = arena_printf(
			&x->arena,
			"check and wait in one critical section, from %s to %s; change what is "
			"checked under the same lock",
			t->check.where, t->waits.where);
}

static void tell_stolen(struct teller *t)
{
	struct explanation *x = t->p.x;

	t->out->summary = arena_printf(
		&x->arena,
		"thread %s waits for %s at %s for ever: the signal by thread %s "
		"at %s, after its write to %s at %s, woke thread %s (%s), which "
		"waits for the same condition variable",
		t->waits.thread, t->waits.object, t->waits.where, t->signal.thread, t->signal.where,
		t->check.object, t->change.where, t->woken.thread, t->woken.where);
	t->out->advice =
		arena_printf(&x->arena,
			     "wake all who wait at %s: pthread_cond_broadcast (notify_all) "
			     "instead of a signal to one; or a condition variable of its own "
			     "for each thing that is waited for",
			     t->signal.where);
}

static void tell_undone(struct teller *t)
{
	struct explanation *x = t->p.x;
	bool self = t->stuck->kind == STUCK_OVERWRITTEN;
	bool reused = t->stuck->kind == STUCK_REUSED;

	t->out->kind = BUG_ORDER;
	t->out->summary = arena_printf(
		&x->arena,
		"thread %s waits at %s for ever: %s, set by thread %s at %s, was %s by %s%s%s at "
		"%s before thread %s looked at it (%s)",
		t->waits.thread, t->waits.where, t->set.object, t->set.thread, t->set.where,
		self ? "overwritten" : "changed", "thread ", t->change.thread,
		self	 ? " itself"
		: reused ? " again"
			 : "",
		t->change.where, t->waits.thread, t->check.where);
	if (self)
		t->out->advice = arena_printf(&x->arena,
					      "the write to %s at %s must come before the other "
					      "thread can set it: set it before that thread is "
					      "started",
					      t->change.object, t->change.where);
	else if (reused)
		t->out->advice = arena_printf(
			&x->arena,
			"who waits at %s can miss a value that is soon replaced: let it wait for a "
			"number that only grows (a count of rounds), or let thread %s wait until "
			"all have seen it before %s",
			t->waits.where, t->change.thread, t->change.where);
	else
		t->out->advice =
			arena_printf(&x->arena,
				     "one thread uses up at %s what several wait for: count "
				     "instead of setting %s, or give each of them its own",
				     t->change.where, t->set.object);
}

static void tell_blind(struct teller *t)
{
	struct explanation *x = t->p.x;

	t->out->summary = arena_printf(
		&x->arena,
		"thread %s waits for %s at %s for ever: the signal by thread %s at %s came before",
		t->waits.thread, t->waits.object, t->waits.where, t->signal.thread,
		t->signal.where);
	t->out->advice =
		arena_printf(&x->arena,
			     "before the wait at %s look whether it has happened already, and "
			     "again after waking up; set what is looked at under the same "
			     "lock",
			     t->waits.where);
}

/* Where a thread wrote and where it waits then: a lock of one's own is told where it is used. */
static void find_callers(struct teller *t, uint32_t write, uint32_t wait, struct shown *wrote,
			 struct shown *waits)
{
	struct stack_block b;

	if (!stack_common(t->p.symbols, stacks_find(t->p.stacks, &t->s->data[write]),
			  stacks_find(t->p.stacks, &t->s->data[wait]), &b))
		return;
	wrote->where = labels_point(&t->p, &b.from);
	waits->where = labels_point(&t->p, &b.to);
}

static void tell_mutual(struct teller *t)
{
	const struct stuck *k = t->stuck;
	struct explanation *x = t->p.x;

	find_callers(t, k->other_change, k->wait, &t->other_change, &t->waits);
	find_callers(t, k->change, k->other, &t->change, &t->other);
	t->out->kind = BUG_DEADLOCK;
	t->out->summary = arena_printf(
		&x->arena,
		"thread %s writes %s at %s and waits at %s until %s changes; thread %s writes %s "
		"at %s and waits at %s until %s changes: each waits for what the other one wrote",
		t->waits.thread, t->other_change.object, t->other_change.where, t->waits.where,
		t->check.object, t->other.thread, t->change.object, t->change.where, t->other.where,
		t->other_check.object);
	t->out->advice = arena_printf(
		&x->arena,
		"as with two locks: come to both in the same order everywhere, or undo one of the "
		"writes before the wait that follows it: thread %s's (%s) before %s, or thread "
		"%s's (%s) before %s",
		t->waits.thread, t->other_change.where, t->waits.where, t->other.thread,
		t->change.where, t->other.where);
}

static struct err *tell_awaits(struct teller *t)
{
	const struct stuck *k = t->stuck;
	struct explanation *x = t->p.x;
	struct shown_event e = { 0 };
	struct err *err = labels_event(&t->p, &k->awaited, &e);
	const char *does;

	if (err)
		return err;
	does = labels_place(&t->p, &e);
	find_callers(t, k->other_change, k->wait, &t->other_change, &t->waits);
	t->out->kind = BUG_DEADLOCK;
	t->out->summary = arena_printf(
		&x->arena,
		"thread %s writes %s at %s and waits at %s until %s changes, which only thread %s "
		"does when all goes well (%s); thread %s waits at %s until %s changes: each waits "
		"for the other one",
		t->waits.thread, t->other_change.object, t->other_change.where, t->waits.where,
		t->check.object, t->other.thread, does, t->other.thread, t->other.where,
		t->other_check.object);
	t->out->advice = arena_printf(
		&x->arena,
		"before thread %s waits at %s it must set %s to what thread %s waits for (its "
		"write "
		"at %s does not); or let thread %s come to %s without waiting at %s",
		t->waits.thread, t->waits.where, t->other_check.object, t->other.thread,
		t->other_change.where, t->other.thread, does, t->other.where);
	return NULL;
}

struct err *present_stuck(const struct scene *scene, const struct stuck *stuck, struct telling *ret)
{
	struct teller t = { .s = scene->failing, .stuck = stuck, .out = ret };
	struct err *err = labels_init(&t.p, scene->x, scene->trace);

	t.p.others = scene->failing;
	t.p.stacks = scene->stacks;
	*ret = (struct telling){ .kind = BUG_LOST_WAKEUP };
	if (!err)
		err = show_all(&t);
	if (!err)
		switch (stuck->kind) {
		case STUCK_HOLDS:
			tell_held(&t);
			break;
		case STUCK_LOST:
		case STUCK_MISSED:
		case STUCK_SILENT:
		case STUCK_UNGUARDED:
			tell_lost(&t);
			break;
		case STUCK_STOLEN:
			tell_stolen(&t);
			break;
		case STUCK_BLIND:
			tell_blind(&t);
			break;
		case STUCK_OVERWRITTEN:
		case STUCK_REUSED:
		case STUCK_TAKEN:
			tell_undone(&t);
			break;
		case STUCK_MUTUAL:
			tell_mutual(&t);
			break;
		case STUCK_AWAITS:
			err = tell_awaits(&t);
			break;
		case STUCK_NOT:
			break;
		}
	labels_deinit(&t.p);
	return err;
}
