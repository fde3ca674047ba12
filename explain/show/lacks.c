/* explain/show/lacks.c - who lacks a lock that every other access of the object holds, or has given it back too
 * early: what a reviewer would say first. */
#include "explain/show/teller.h"

#include "base/err.h"
#include "explain/cure/cure.h"
#include "explain/show/stacks.h"
#include "unplait/abi.h"

#include <string.h>

/* Does the block, or the one who broke into it, lack a lock that every other access holds? A block
 * under that lock must be under it from its beginning to its end. */
bool find_lack(const struct teller *t, struct guard *ret)
{
	const struct cure *c = t->c;
	uint32_t to = c->to_in_passing ? c->from : c->to;

	if (!guards_find(t->f, c->intruder, c->from, ret) &&
	    !guards_find(t->f, c->intruder, to, ret))
		return false;
	return ret->without != c->intruder ||
	       (guards_held(t->f, c->from, t->f->data[ret->lock].address) == ret->lock &&
		guards_held(t->f, to, t->f->data[ret->lock].address) == ret->lock);
}

/* Is the lock taken by code of this file, or not known where? */
static bool is_locked_in(struct teller *t, uint32_t lock, const char *file)
{
	const struct plait_stack *stack = stacks_find(t->p.stacks, &t->f->data[lock]);
	struct code_point at;

	if (stack)
		return stack_has_file(t->p.symbols, stack, file);
	return !symbols_site(t->p.symbols, t->f->data[lock].site, &at) || !at.file ||
	       is_system_file(at.file) || strcmp(at.file, file) == 0;
}

/* An access in a helper (a list, a counter), whose lock is taken by code in other files: who has
 * called it without the lock is where that is missing. */
static void tell_caller(struct teller *t, uint32_t step, uint32_t lock, struct told *ret)
{
	const struct plait_stack *stack = stacks_find(t->p.stacks, &t->f->data[step]);
	struct code_point at, caller;

	if (!stack || strchr(ret->where, '(') || /* it is told already */
	    !symbols_site(t->p.symbols, t->f->data[step].site, &at) || !at.file ||
	    is_locked_in(t, lock, at.file) || !stack_caller(t->p.symbols, stack, at.file, &caller))
		return;
	told_set_where(&t->p.x->arena, ret,
		       arena_printf(&t->p.x->arena, "%s (called at %s)", ret->where,
				    labels_point(&t->p, &caller)));
}

/* Who holds the lock: "every other access", or only those by other threads, where the thread that lacks it lacks it at
 * another line as well. */
static struct err *say_who_holds(struct teller *t, const struct guard *g, const char **ret)
{
	struct told here = { 0 }, there = { 0 };
	struct err *err = tell_step(t, t->f, g->without, &here);

	*ret = "every other access";
	for (unsigned i = 0; !err && i < 2; i++) {
		if (g->also[i] == STEP_NONE)
			continue;
		err = tell_step(t, t->f, g->also[i], &there);
		if (!err && strcmp(here.where, there.where) != 0)
			*ret = "every access by another thread";
	}
	return err;
}

/* One side holds a lock, the other does not: what a reviewer would say. */
struct err *tell_lack(struct teller *t, const struct guard *g, const struct told *from,
		      const struct told *to, struct told *intruder)
{
	struct explanation *x = t->p.x;
	bool broke_in = g->without == t->c->intruder;
	struct told lock = { 0 };
	const char *all;
	struct err *err = tell_step(t, t->f, g->lock, &lock);
	const char *lines = strcmp(from->where, to->where) == 0
				    ? from->where
				    : arena_printf(&x->arena, "%s to %s", from->where, to->where);

	if (!err)
		err = say_who_holds(t, g, &all);
	if (err)
		return err;
	if (broke_in)
		tell_caller(t, g->without, g->lock, intruder);
	if (broke_in)
		t->out->summary =
			arena_printf(&x->arena,
				     "thread %s %s without holding %s, which %s holds: it falls "
				     "between thread %s's %s and its %s",
				     intruder->thread, intruder->verb, lock.object, all,
				     from->thread, from->noun, to->noun);
	else
		t->out->summary =
			arena_printf(&x->arena,
				     "thread %s does not hold %s, which %s holds: thread %s %s "
				     "between thread %s's %s and its %s",
				     from->thread, lock.object, all, intruder->thread,
				     intruder->verb, from->thread, from->noun, to->noun);
	t->out->advice = arena_printf(
		&x->arena, "hold %s %s %s, as %s does (locked at %s)", lock.object,
		broke_in || strchr(lines, ' ') == NULL ? "at" : "from",
		broke_in ? intruder->where : lines, broke_in ? lines : intruder->where, lock.where);
	return NULL;
}

/* An access just after its thread gave back the lock of the object, and where that was. */
struct early {
	struct told access, gives, lock;
};

/* Not in another function: there the lock has done what it was taken for, and the access should take it itself. */
static struct err *tell_left(struct teller *t, const struct guard *g, uint32_t release,
			     struct early *ret, bool *is_early)
{
	struct err *err = tell_step(t, t->f, release, &ret->gives);

	if (!err)
		err = tell_step(t, t->f, g->without, &ret->access);
	if (!err)
		err = tell_step(t, t->f, g->lock, &ret->lock);
	*is_early = !err && ret->gives.function && ret->access.function &&
		    strcmp(ret->gives.function, ret->access.function) == 0;
	return err;
}

/* Was a lock given back too early? Where the block itself gives it back, that is what broke it. */
static bool find_early(const struct teller *t, struct guard *g, uint32_t *release)
{
	const struct cure *c = t->c;

	if (!c->to_in_passing && guards_early_at(t->f, c->to, g, release) && *release > c->from)
		return true;
	return guards_early(t->f, c->intruder, c->from, g, release) ||
	       (!c->to_in_passing && guards_early(t->f, c->intruder, c->to, g, release));
}

/* The other side does the same: it takes both. */
static struct err *tell_early_too(struct teller *t, const struct guard *first)
{
	struct early e = { 0 };
	uint32_t release = STEP_NONE;
	struct guard g;
	struct err *err;
	bool is_early = false;

	if (first->without == t->c->intruder ||
	    !guards_early_at(t->f, t->c->intruder, &g, &release) ||
	    t->f->data[g.lock].address != t->f->data[first->lock].address)
		return NULL;
	err = tell_left(t, &g, release, &e, &is_early);
	if (err || !is_early)
		return err;
	t->out->summary =
		arena_printf(&t->p.x->arena, "%s, and thread %s %s just after it did (%s)",
			     t->out->summary, e.access.thread, e.access.verb, e.gives.where);
	t->out->advice = arena_printf(&t->p.x->arena, "%s; the same for the unlock at %s",
				      t->out->advice, e.gives.where);
	return NULL;
}

/* One side has just given back the lock of the object. */
struct err *tell_given_back(struct teller *t, bool *ret)
{
	struct early e = { 0 };
	uint32_t release = STEP_NONE;
	struct guard g;
	struct err *err;

	*ret = find_early(t, &g, &release);
	err = *ret ? tell_left(t, &g, release, &e, ret) : NULL;
	if (err || !*ret)
		return err;
	t->out->summary = arena_printf(
		&t->p.x->arena, "%s. Thread %s %s just after it gave back %s (%s)", t->out->summary,
		e.access.thread, e.access.verb, e.lock.object, e.gives.where);
	t->out->advice = arena_printf(&t->p.x->arena,
				      "give %s back after %s, not at %s: everything else that is "
				      "done with %s is done with it in hand (locked at %s)",
				      e.lock.object, e.access.where, e.gives.where, e.access.object,
				      e.lock.where);
	return tell_early_too(t, &g);
}

/* Two threads that hold different locks for one purpose: one lock more does not help who reads this. */
struct err *add_different_locks(struct teller *t)
{
	uint32_t lock = guards_differ(t->f, t->c->from, t->c->intruder);
	struct told taken = { 0 };
	struct err *err = lock == STEP_NONE ? NULL : tell_step(t, t->f, lock, &taken);

	if (!err && lock != STEP_NONE)
		t->out->summary = arena_printf(&t->p.x->arena,
					       "%s. Each holds a lock that was taken at %s, but "
					       "they are not the same lock",
					       t->out->summary, taken.where);
	return err;
}
/* The lock, who holds it and who does not. */
static struct err *tell_sides(struct teller *t, const struct guard *g, struct told *lock,
			      struct told *with, struct told *without)
{
	struct err *err = tell_step(t, t->f, g->lock, lock);

	if (!err)
		err = tell_step(t, t->f, g->with, with);
	if (!err)
		err = tell_step(t, t->f, g->without, without);
	if (!err)
		tell_caller(t, g->without, g->lock, without);
	return err;
}

/* The order decides, but one side lacks the lock of the object. Which of the two is the mistake, the
 * runs do not tell. */
struct err *tell_lack_beside_order(struct teller *t, const struct guard *g,
				   const struct told *first, const struct told *then)
{
	struct explanation *x = t->p.x;
	struct told lock = { 0 }, with = { 0 }, without = { 0 };
	const char *all;
	struct err *err = tell_sides(t, g, &lock, &with, &without);

	if (!err)
		err = say_who_holds(t, g, &all);
	if (err)
		return err;
	t->out->summary = arena_printf(&x->arena,
				       "thread %s %s without holding %s, which %s "
				       "holds; it fails when thread %s %s before thread %s %s",
				       without.thread, without.verb, lock.object, all, then->thread,
				       then->verb, first->thread, first->verb);
	t->out->advice = arena_printf(&x->arena,
				      "hold %s at %s, as %s does (locked at %s), around all that "
				      "belongs together; if the %s must always come first, let "
				      "thread %s wait for it (that alone was tried)",
				      lock.object, without.where, with.where, lock.where,
				      first->noun, then->thread);
	return NULL;
}
/* Only the locks are known, not what should be one. */
struct err *tell_lack_alone(struct teller *t, const struct guard *g)
{
	struct arena *arena = &t->p.x->arena;
	struct told lock = { 0 }, with = { 0 }, without = { 0 };
	const char *all;
	struct err *err = tell_sides(t, g, &lock, &with, &without);

	if (!err)
		err = say_who_holds(t, g, &all);
	if (err)
		return err;
	t->out->summary = arena_printf(
		arena,
		"thread %s %s without holding %s, which %s holds: thread %s %s "
		"under it (locked at %s)",
		without.thread, without.verb, lock.object, all, with.thread, with.verb, lock.where);
	t->out->advice = arena_printf(arena, "hold %s at %s, around all that belongs together",
				      lock.object, without.where);
	return NULL;
}
