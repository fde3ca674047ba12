/* explain/show/sentences.c - what happened and what to do, one sentence each: a block that somebody came into.
 *
 * A person with a flaky test reads these two and looks at the lines they name; so they say who does
 * what to which variable, where, in the order in which it happens. A block that begins and ends
 * with acquisitions is told by the accesses that its critical sections guard. Orders: orders.c. Locks
 * that somebody lacks: lacks.c. */
#include "explain/show/present.h"

#include "base/err.h"
#include "explain/find/guards.h"
#include "explain/show/alternatives.h"
#include "explain/show/labels.h"
#include "explain/show/readers.h"
#include "explain/show/stacks.h"
#include "explain/show/teller.h"
#include "unplait/abi.h"

#include <string.h>

enum { MAX_SECTION = 40 };

/* What the intruder does under its lock to something that the broken block uses; STEP_NONE. */
static uint32_t guarded_intruder(const struct teller *t)
{
	const struct steps *f = t->f;
	uint32_t block = f->data[t->c->from].thread, seen = 0;
	const struct step *lock = &f->data[t->c->intruder];

	for (uint32_t i = t->c->intruder + 1; i < f->len && seen < MAX_SECTION; i++) {
		if (f->data[i].thread != lock->thread)
			continue;
		seen++;
		if (step_is_release(&f->data[i]) && f->data[i].address == lock->address)
			break;
		for (uint32_t k = t->c->from, n = 0;
		     step_is_memory(&f->data[i]) && k < f->len && n < MAX_SECTION; k++) {
			if (f->data[k].thread != block)
				continue;
			n++;
			if (step_is_memory(&f->data[k]) && step_conflicts(&f->data[i], &f->data[k]))
				return i;
		}
	}
	return STEP_NONE;
}

/* `m.set(k, m.get(k) + 1)`: two sections, one line. */
static bool is_one_place(const struct told *a, const struct told *b)
{
	return strcmp(a->where, b->where) == 0;
}

/* To keep the first lock until the second is taken would nest them. If a thread nests them the other way
 * round, that is a deadlock: the second must be taken first, and lie around both. */
static struct err *tell_second_around(struct teller *t, const struct told *from,
				      const struct told *to, bool *ret)
{
	const struct step *first = &t->f->data[t->c->from];
	const struct step *second =
		t->c->to_in_passing ? &t->g->data[t->c->to] : &t->f->data[t->c->to];
	const struct steps *s = t->f;
	uint32_t nested = guards_nested(s, second->address, first->address);
	struct told inner = { 0 };
	struct err *err;

	if (nested == STEP_NONE) {
		s = t->g;
		nested = guards_nested(s, second->address, first->address);
	}
	*ret = first->address != second->address && nested != STEP_NONE;
	if (!*ret)
		return NULL;
	err = tell_step(t, s, nested, &inner);
	if (err)
		return err;
	t->out->advice = arena_printf(
		&t->p.x->arena,
		"make the critical sections at %s and %s one: take %s before %s already, and keep "
		"it until the end of the second (not %s around %s: at %s they are taken the other "
		"way round)",
		from->where, to->where, to->object, from->where, from->object, to->object,
		inner.where);
	return NULL;
}

/* Whoever does this may wait in between: with a lock in hand that keeps out the one who ends the wait. */
static struct err *tell_across_wait(struct teller *t, const struct told *from,
				    const struct told *to, const struct told *intruder, bool *ret)
{
	const struct steps *in;
	uint32_t wait = alternatives_wait(t->f, t->g, t->c, &in);
	struct told waits = { 0 };
	struct err *err = wait == STEP_NONE ? NULL : tell_step(t, in, wait, &waits);

	*ret = wait != STEP_NONE;
	if (!err && *ret)
		t->out->advice = arena_printf(
			&t->p.x->arena,
			"look again after the wait at %s, before the %s: the %s may have come "
			"since the %s; a lock that is kept during the wait would keep out who ends "
			"it",
			waits.where, to->noun, intruder->noun, from->noun);
	return err;
}

static struct err *tell_sections(struct teller *t, const struct told *from, const struct told *to,
				 const struct told *intruder)
{
	bool around = false;

	struct explanation *x = t->p.x;
	uint32_t data = guarded_intruder(t);
	struct told does = *intruder;
	struct err *err = data != STEP_NONE ? tell_step(t, t->f, data, &does) : NULL;
	struct code_point at;

	if (err)
		return err;
	/* code of the system, whose caller nobody asked for: at least the section is known */
	if (data != STEP_NONE && !stacks_find(t->p.stacks, &t->f->data[data]) &&
	    symbols_site(t->p.symbols, t->f->data[data].site, &at) && is_system_file(at.file))
		told_set_where(&x->arena, &does, intruder->where);
	t->out->summary = arena_printf(
		&x->arena,
		"thread %s %s between two critical sections of thread %s, which %s and belong "
		"together",
		does.thread, does.verb, from->thread,
		is_one_place(from, to)
			? arena_printf(&x->arena, "both begin at %s", from->where)
			: arena_printf(&x->arena, "begin at %s and %s", from->where, to->where));
	err = tell_second_around(t, from, to, &around);
	if (!err && !around)
		err = tell_across_wait(t, from, to, &does, &around);
	if (err || around)
		return err;
	t->out->advice = arena_printf(
		&x->arena, "make the critical sections at %s one: keep %s locked in between",
		is_one_place(from, to)
			? from->where
			: arena_printf(&x->arena, "%s and %s", from->where, to->where),
		from->object);
	return NULL;
}

/* Of two changes the lines are told, and that there may be more. */
static struct err *tell_updates(struct teller *t, const struct told *from, const struct told *to)
{
	struct told begin = { 0 }, end = { 0 };
	struct err *err = tell_step(t, t->f, t->c->other_from, &begin);

	if (!err)
		err = tell_step(t, t->f, t->c->other_to, &end);
	if (!err)
		tell_other_in_common(t, &begin, &end);
	if (!err)
		t->out->advice = arena_printf(
			&t->p.x->arena,
			"make every change of %s one step, at %s%s%s and elsewhere: hold one lock "
			"from the read to the write, or use an atomic",
			from->object, to->where, strcmp(to->where, end.where) == 0 ? "" : ", at ",
			strcmp(to->where, end.where) == 0 ? "" : end.where);
	return err;
}

static struct err *tell_both_sides(struct teller *t, const struct told *from, const struct told *to)
{
	struct explanation *x = t->p.x;
	struct told begin = { 0 }, end = { 0 };
	struct err *err = tell_step(t, t->f, t->c->other_from, &begin);

	if (!err)
		err = tell_step(t, t->c->other_to_in_passing ? t->g : t->f, t->c->other_to, &end);
	if (!err)
		tell_other_in_common(t, &begin, &end);
	if (!err)
		t->out->advice = arena_printf(
			&x->arena,
			"make both atomic: hold one lock from the %s to the %s, and the same lock "
			"from the %s to the %s",
			from->noun, to->noun, begin.noun, end.noun);
	return err;
}

/* A wait of the block's thread between its ends; STEP_NONE. */
static uint32_t wait_inside(const struct teller *t)
{
	const struct steps *f = t->f;

	for (uint32_t k = t->c->from + 1; !t->c->to_in_passing && k < t->c->to; k++)
		if (f->data[k].thread == f->data[t->c->from].thread &&
		    (f->data[k].kind == PLAIT_EV_WAIT || f->data[k].kind == PLAIT_EV_WOKEN))
			return k;
	return STEP_NONE;
}

static struct err *tell_wait(struct teller *t, const struct told *from, uint32_t wait)
{
	struct explanation *x = t->p.x;
	struct told waits = { 0 };
	struct err *err = tell_step(t, t->f, wait, &waits);

	if (!err)
		t->out->advice = arena_printf(&x->arena,
					      "look again after waking up: the wait at %s needs a "
					      "loop that repeats the check at %s, where an if is "
					      "not enough",
					      waits.where, from->where);
	return err;
}

/* One says that something is there, the other fills it in: between the two somebody believes it. */
static bool publishes_early(const struct teller *t)
{
	const struct step *d = t->f->data;
	const struct step *to = t->c->to_in_passing ? &t->g->data[t->c->to] : &d[t->c->to];

	return t->c->kind == BUG_MULTI_VARIABLE && step_writes(&d[t->c->from]) && step_writes(to) &&
	       step_reads(&d[t->c->intruder]) &&
	       (!step_writes(&d[t->c->intruder]) ||
		d[t->c->intruder].kind == PLAIT_EV_ATOMIC_RMW) &&
	       d[t->c->intruder].address == d[t->c->from].address;
}

/* Which lines one lock should cover. */
static void tell_lock(struct teller *t, const struct told *from, const struct told *to,
		      const struct told *intruder)
{
	struct arena *arena = &t->p.x->arena;
	bool one_line = strcmp(from->where, to->where) == 0;
	bool same = strcmp(intruder->where, from->where) == 0 ||
		    strcmp(intruder->where, to->where) == 0;
	const char *in = t->function ? t->function : "";
	const char *lines = one_line
				    ? arena_printf(arena, "%s%s", from->where, in)
				    : arena_printf(arena, "%s to %s%s", from->where, to->where, in);
	const char *others = same ? "in every thread that does this"
				  : arena_printf(arena, "and the same lock where another thread %s",
						 intruder->verb);

	t->out->advice = arena_printf(
		arena, "make %s atomic: hold one lock from the %s to the %s, %s%s%s", lines,
		one_line ? from->act : from->noun, one_line ? to->act : to->noun, others,
		publishes_early(t) ? arena_printf(arena, "; or let the %s come last", from->act)
				   : "",
		alternatives_tell(&t->p, t->f, t->g, t->c, from->object));
}

/* Checked before the lock was taken, and not again under it. */
static struct err *tell_stale(struct teller *t, const struct told *from)
{
	struct arena *arena = &t->p.x->arena;
	struct told lock = { 0 };
	struct err *err = tell_step(t, t->f, t->c->stale - 1, &lock);

	if (err)
		return err;
	t->out->summary =
		arena_printf(arena,
			     "%s. Thread %s takes %s after that (%s), and does not look "
			     "at %s again",
			     t->out->summary, from->thread, lock.object, lock.where, from->object);
	t->out->advice = arena_printf(arena,
				      "look at %s again when %s is locked at %s: the check at %s "
				      "comes before that; or take the lock before the check",
				      from->object, lock.object, lock.where, from->where);
	return NULL;
}

/* Where the other thread has read what the block begins with, the last time; STEP_NONE. */
static uint32_t message_of(const struct teller *t)
{
	const struct step *d = t->f->data;

	for (uint32_t k = t->c->intruder; k-- > t->c->from;)
		if (d[k].thread == d[t->c->intruder].thread && step_reads(&d[k]) &&
		    d[k].source == t->c->from)
			return k;
	return STEP_NONE;
}

/* It goes on by what it has seen; what it meets then should have been done before. */
static struct err *tell_given_early(struct teller *t, const struct told *from,
				    const struct told *to, const struct told *intruder)
{
	struct arena *arena = &t->p.x->arena;
	struct told sees = { 0 };
	struct err *err = tell_step(t, t->f, message_of(t), &sees);

	if (err)
		return err;
	t->out->summary = arena_printf(
		arena,
		"thread %s %s too early: thread %s sees that (%s) and %s, and only then comes "
		"thread %s's %s",
		from->thread, from->verb, intruder->thread, sees.where, intruder->verb, to->thread,
		to->noun);
	t->out->advice =
		arena_printf(arena, "let the %s come before the %s: thread %s goes on by that",
			     to->noun, from->noun, intruder->thread);
	return NULL;
}

/* A compare-and-swap that succeeds although others were there. */
static void tell_came_back(struct teller *t, const struct told *from, const struct told *to)
{
	struct arena *arena = &t->p.x->arena;

	t->out->summary = arena_printf(
		arena, "%s: %s was changed, and changed back, and the %s finds it as it was",
		t->out->summary, from->object, to->noun);
	t->out->advice = arena_printf(
		arena, "%s; or let a number beside %s tell every change from the last (ABA)",
		t->out->advice, from->object);
}
static struct err *tell_block(struct teller *t)
{
	struct guard guard;
	struct explanation *x = t->p.x;
	struct told from = { 0 }, to = { 0 }, intruder = { 0 };
	bool early = false;
	struct err *err = tell_step(t, t->f, t->c->from, &from);

	if (!err)
		err = tell_step(t, t->c->to_in_passing ? t->g : t->f, t->c->to, &to);
	if (!err)
		err = tell_step(t, t->f, t->c->intruder, &intruder);
	if (err)
		return err;
	tell_in_common(t, &from, &to, &intruder);
	if (step_is_acquire(&t->f->data[t->c->from]))
		return tell_sections(t, &from, &to, &intruder);
	if (find_lack(t, &guard))
		return tell_lack(t, &guard, &from, &to, &intruder);
	t->out->summary =
		arena_printf(&x->arena,
			     "thread %s %s between thread %s's %s and its %s, which belong "
			     "together",
			     intruder.thread, intruder.verb, from.thread, from.noun, to.noun);
	err = tell_given_back(t, &early);
	if (!err && !early)
		err = readers_tell(&t->p, t->f, t->c->from, t->c->intruder, t->out, &early);
	if (err || early)
		return err;
	err = add_different_locks(t);
	if (err)
		return err;
	if (t->c->waits && wait_inside(t) != STEP_NONE)
		return tell_wait(t, &from, wait_inside(t));
	if (t->c->stale)
		return tell_stale(t, &from);
	if (t->c->updates)
		return tell_updates(t, &from, &to);
	if (t->c->early && message_of(t) != STEP_NONE)
		return tell_given_early(t, &from, &to, &intruder);
	if (t->c->other_from != STEP_NONE)
		return tell_both_sides(t, &from, &to);
	err = tell_across_wait(t, &from, &to, &intruder, &early);
	if (err || early)
		return err;
	tell_lock(t, &from, &to, &intruder);
	if (t->c->came_back)
		tell_came_back(t, &from, &to);
	return NULL;
}
struct err *present_guard(const struct scene *scene, const struct guard *guard, struct telling *ret)
{
	struct teller t = { .f = scene->failing, .g = scene->passing, .out = ret };
	struct err *err = labels_init(&t.p, scene->x, scene->trace);

	t.p.others = scene->failing;
	t.p.stacks = scene->stacks;
	*ret = (struct telling){ .kind = BUG_ATOMICITY };
	if (!err)
		err = tell_lack_alone(&t, guard);
	labels_deinit(&t.p);
	return err;
}

struct err *present_cure(const struct scene *scene, const struct cure *cure, struct telling *ret)
{
	struct teller t = { .f = scene->failing, .g = scene->passing, .c = cure, .out = ret };
	struct err *err = labels_init(&t.p, scene->x, scene->trace);

	t.p.others = scene->failing;
	t.p.stacks = scene->stacks;
	*ret = (struct telling){ .kind = cure->kind };
	if (!err)
		switch (cure->kind) {
		case BUG_ATOMICITY:
		case BUG_MULTI_VARIABLE:
			err = tell_block(&t);
			break;
		case BUG_DEADLOCK: /* present_cycle */
			break;
		case BUG_LOST_WAKEUP:
			err = tell_lost_wakeup(&t);
			break;
		default:
			err = tell_order(&t);
		}
	labels_deinit(&t.p);
	return err;
}
