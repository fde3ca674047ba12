/* explain/show/sentences.c - what happened and what to do, one sentence each.
 *
 * A person with a flaky test reads these two and looks at the lines they name; so they say who does
 * what to which variable, where, in the order in which it happens. A block that begins and ends
 * with acquisitions is told by the accesses that its critical sections guard. */
#include "explain/show/present.h"

#include "base/demangle.h"
#include "base/err.h"
#include "explain/find/guards.h"
#include "explain/show/alternatives.h"
#include "explain/show/labels.h"
#include "explain/show/readers.h"
#include "explain/show/stacks.h"
#include "unplait/abi.h"

#include <string.h>

enum { MAX_SECTION = 40 };

struct teller {
	struct labels p;
	const struct steps *f; /* the failing run */
	const struct steps *g; /* the passing one */
	const struct cure *c;
	struct telling *out;
	const char *function; /* " in push()": where a block over several functions is told; NULL */
};

struct words {
	const char *verb, *noun;
};

/* "reads", "read of" */
static struct words words_of(uint32_t kind)
{
	switch (kind) {
	case PLAIT_EV_READ:
	case PLAIT_EV_READ_RANGE:
	case PLAIT_EV_ATOMIC_READ:
		return (struct words){ "reads", "read of" };
	case PLAIT_EV_WRITE:
	case PLAIT_EV_WRITE_RANGE:
	case PLAIT_EV_ATOMIC_WRITE:
		return (struct words){ "writes", "write to" };
	case PLAIT_EV_ATOMIC_RMW:
		return (struct words){ "updates", "update of" };
	case PLAIT_EV_FREE:
		return (struct words){ "frees", "release of" };
	case PLAIT_EV_UNLOCK:
	case PLAIT_EV_RWUNLOCK:
		return (struct words){ "unlocks", "unlocking of" };
	case PLAIT_EV_WAIT:
	case PLAIT_EV_WOKEN:
		return (struct words){ "waits for", "wait for" };
	case PLAIT_EV_SIGNAL:
	case PLAIT_EV_BROADCAST:
		return (struct words){ "signals", "signal to" };
	case PLAIT_EV_SEM_WAIT:
	case PLAIT_EV_SEM_TRYWAIT:
		return (struct words){ "takes from", "wait for" };
	case PLAIT_EV_SEM_POST:
		return (struct words){ "posts", "post to" };
	case PLAIT_EV_LOCK_DESTROY:
		return (struct words){ "destroys", "destruction of" };
	case PLAIT_EV_LOCK_INIT:
	case PLAIT_EV_SEM_INIT:
		return (struct words){ "initialises", "initialisation of" };
	default:
		return (struct words){ "locks", "locking of" };
	}
}

struct told {
	struct words words;
	const char *where; /* "main.c:12" */
	const char *verb;  /* "writes count at main.c:12" */
	const char *noun;  /* "write to count at main.c:12" */
	const char *act;   /* "write to count" */
	const char *object;
	const char *thread;
	const char *function; /* NULL: not known */
};

static void say_where(struct arena *arena, struct told *ret, const char *where)
{
	ret->where = where;
	ret->verb = arena_printf(arena, "%s %s at %s", ret->words.verb, ret->object, where);
	ret->act = arena_printf(arena, "%s %s", ret->words.noun, ret->object);
	ret->noun = arena_printf(arena, "%s at %s", ret->act, where);
}

static struct err *tell(struct teller *t, const struct steps *s, uint32_t i, struct told *ret)
{
	struct arena *arena = &t->p.x->arena;
	struct words w = words_of(s->data[i].kind);
	struct shown_event e = { 0 };
	struct err *err = labels_event(&t->p, &s->data[i], &e);

	if (err)
		return err;
	ret->words = w;
	ret->object = e.object ? e.object : "memory";
	ret->thread = t->p.x->threads[s->data[i].thread];
	ret->function = e.function;
	say_where(arena, ret, labels_place(&t->p, &e));
	return NULL;
}

static void say_line(struct teller *t, struct told *ret, const struct code_point *at)
{
	say_where(&t->p.x->arena, ret, labels_point(&t->p, at));
}

/* The line that a step's function was inlined at; 0. */
static uint32_t inlined_at(struct teller *t, const struct step *s, const char **file)
{
	struct code_point at;

	if (!symbols_site(t->p.symbols, s->site, &at) || !at.site || !at.site->inlined_at_line)
		return 0;
	*file = sites_string(at.sites, at.site->inlined_at_file);
	return at.site->inlined_at_line;
}

/* Inlined code has no call stack, but its places say where it was called from. */
static void tell_inlined(struct teller *t, struct told *from, struct told *to,
			 struct told *intruder)
{
	const struct steps *end = t->c->to_in_passing ? t->g : t->f;
	const char *a = "", *b = "", *c = "";
	uint32_t first = inlined_at(t, &t->f->data[t->c->from], &a);
	uint32_t last = inlined_at(t, &end->data[t->c->to], &b);
	uint32_t other = inlined_at(t, &t->f->data[t->c->intruder], &c);

	if (!first || !last || first == last || strcmp(a, b) != 0 || is_system_file(a))
		return;
	say_line(t, from, &(struct code_point){ .file = a, .line = first });
	say_line(t, to, &(struct code_point){ .file = b, .line = last });
	if (other && !is_system_file(c))
		say_line(t, intruder, &(struct code_point){ .file = c, .line = other });
}

/* A block whose ends lie in different functions is told in the function that calls both: there it
 * can be mended. The other thread's step is told where it enters the same functions. */
static void tell_in_common(struct teller *t, struct told *from, struct told *to,
			   struct told *intruder)
{
	struct arena *arena = &t->p.x->arena;
	const struct step *d = t->f->data;
	uint32_t end =
		t->c->to_in_passing ? steps_last_at(t->f, t->g->data[t->c->to].site) : t->c->to;
	struct stack_block b;
	struct code_point at;

	/* where the failing run ended before, another thread may have been called alike */
	if (end == STEP_NONE ||
	    !stack_common(t->p.symbols, stacks_find(t->p.stacks, &d[t->c->from]),
			  stacks_find(t->p.stacks, &d[end]), &b)) {
		tell_inlined(t, from, to, intruder);
		return;
	}
	say_line(t, from, &b.from);
	say_line(t, to, &b.to);
	t->function = arena_printf(arena, strchr(b.to.function, '(') ? " in %s" : " in %s()",
				   b.to.function);
	if (stack_beside(t->p.symbols, &b, stacks_find(t->p.stacks, &d[t->c->intruder]), &at))
		say_line(t, intruder, &at);
}

/* The same for what the other side does. */
static void tell_other_in_common(struct teller *t, struct told *begin, struct told *end)
{
	const struct step *d = t->f->data;
	struct stack_block b;

	if (t->c->other_to_in_passing ||
	    !stack_common(t->p.symbols, stacks_find(t->p.stacks, &d[t->c->other_from]),
			  stacks_find(t->p.stacks, &d[t->c->other_to]), &b))
		return;
	say_line(t, begin, &b.from);
	say_line(t, end, &b.to);
}

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
	err = tell(t, s, nested, &inner);
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
	struct err *err = wait == STEP_NONE ? NULL : tell(t, in, wait, &waits);

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
	struct err *err = data != STEP_NONE ? tell(t, t->f, data, &does) : NULL;
	struct code_point at;

	if (err)
		return err;
	/* code of the system, whose caller nobody asked for: at least the section is known */
	if (data != STEP_NONE && !stacks_find(t->p.stacks, &t->f->data[data]) &&
	    symbols_site(t->p.symbols, t->f->data[data].site, &at) && is_system_file(at.file))
		say_where(&x->arena, &does, intruder->where);
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
	struct err *err = tell(t, t->f, t->c->other_from, &begin);

	if (!err)
		err = tell(t, t->f, t->c->other_to, &end);
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
	struct err *err = tell(t, t->f, t->c->other_from, &begin);

	if (!err)
		err = tell(t, t->c->other_to_in_passing ? t->g : t->f, t->c->other_to, &end);
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
	struct err *err = tell(t, t->f, wait, &waits);

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
	       !alternatives_gives_lock(t->f, t->c->from) && step_reads(&d[t->c->intruder]) &&
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
	struct err *err = tell(t, t->f, t->c->stale - 1, &lock);

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
	struct err *err = tell(t, t->f, message_of(t), &sees);

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

/* Does the block, or the one who broke into it, lack a lock that every other access holds? A block
 * under that lock must be under it from its beginning to its end. */
static bool find_guard(const struct teller *t, struct guard *ret)
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
	say_where(&t->p.x->arena, ret,
		  arena_printf(&t->p.x->arena, "%s (called at %s)", ret->where,
			       labels_point(&t->p, &caller)));
}

/* One side holds a lock, the other does not: what a reviewer would say. */
static struct err *tell_guard(struct teller *t, const struct guard *g, const struct told *from,
			      const struct told *to, struct told *intruder)
{
	struct explanation *x = t->p.x;
	bool broke_in = g->without == t->c->intruder;
	struct told lock = { 0 };
	struct err *err = tell(t, t->f, g->lock, &lock);
	const char *lines = strcmp(from->where, to->where) == 0
				    ? from->where
				    : arena_printf(&x->arena, "%s to %s", from->where, to->where);

	if (err)
		return err;
	if (broke_in)
		tell_caller(t, g->without, g->lock, intruder);
	if (broke_in)
		t->out->summary = arena_printf(
			&x->arena,
			"thread %s %s without holding %s, which every other access holds: it falls "
			"between thread %s's %s and its %s",
			intruder->thread, intruder->verb, lock.object, from->thread, from->noun,
			to->noun);
	else
		t->out->summary = arena_printf(
			&x->arena,
			"thread %s does not hold %s, which every other access holds: thread %s %s "
			"between thread %s's %s and its %s",
			from->thread, lock.object, intruder->thread, intruder->verb, from->thread,
			from->noun, to->noun);
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
	struct err *err = tell(t, t->f, release, &ret->gives);

	if (!err)
		err = tell(t, t->f, g->without, &ret->access);
	if (!err)
		err = tell(t, t->f, g->lock, &ret->lock);
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
static struct err *tell_early(struct teller *t, bool *ret)
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
static struct err *add_other_lock(struct teller *t)
{
	uint32_t lock = guards_differ(t->f, t->c->from, t->c->intruder);
	struct told taken = { 0 };
	struct err *err = lock == STEP_NONE ? NULL : tell(t, t->f, lock, &taken);

	if (!err && lock != STEP_NONE)
		t->out->summary = arena_printf(&t->p.x->arena,
					       "%s. Each holds a lock that was taken at %s, but "
					       "they are not the same lock",
					       t->out->summary, taken.where);
	return err;
}

static struct err *tell_block(struct teller *t)
{
	struct guard guard;
	struct explanation *x = t->p.x;
	struct told from = { 0 }, to = { 0 }, intruder = { 0 };
	bool early = false;
	struct err *err = tell(t, t->f, t->c->from, &from);

	if (!err)
		err = tell(t, t->c->to_in_passing ? t->g : t->f, t->c->to, &to);
	if (!err)
		err = tell(t, t->f, t->c->intruder, &intruder);
	if (err)
		return err;
	tell_in_common(t, &from, &to, &intruder);
	if (step_is_acquire(&t->f->data[t->c->from]))
		return tell_sections(t, &from, &to, &intruder);
	if (find_guard(t, &guard))
		return tell_guard(t, &guard, &from, &to, &intruder);
	t->out->summary =
		arena_printf(&x->arena,
			     "thread %s %s between thread %s's %s and its %s, which belong "
			     "together",
			     intruder.thread, intruder.verb, from.thread, from.noun, to.noun);
	err = tell_early(t, &early);
	if (!err && !early)
		err = readers_tell(&t->p, t->f, t->c->from, t->c->intruder, t->out, &early);
	if (err || early)
		return err;
	err = add_other_lock(t);
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

/* The signal reached another of those who wait. */
static struct err *tell_stolen_signal(struct teller *t)
{
	struct explanation *x = t->p.x;
	struct told signal = { 0 }, waits = { 0 };
	struct err *err = tell(t, t->f, t->c->from, &signal);

	if (!err)
		err = tell(t, t->f, t->c->to, &waits);
	if (err)
		return err;
	t->out->summary = arena_printf(&x->arena,
				       "thread %s %s for ever: the signal by thread %s at %s woke "
				       "another thread that waits for the same",
				       waits.thread, waits.verb, signal.thread, signal.where);
	t->out->advice =
		arena_printf(&x->arena,
			     "wake all who wait at %s: pthread_cond_broadcast (notify_all) "
			     "instead of a signal to one",
			     signal.where);
	return NULL;
}

static struct err *tell_lost_wakeup(struct teller *t)
{
	struct explanation *x = t->p.x;
	struct told from = { 0 }, to = { 0 }, signal = { 0 };
	struct err *err;

	if (t->c->constraints[0].kind == PLAIT_CONSTRAINT_BROADCAST)
		return tell_stolen_signal(t);
	if (t->c->constraints[0].kind == PLAIT_CONSTRAINT_WAKE)
		return NULL; /* told with the wait (show/stuck.c) */
	err = tell(t, t->f, t->c->from, &from);
	if (!err)
		err = tell(t, t->f, t->c->to, &to);
	if (err)
		return err;
	if (t->c->intruder != STEP_NONE && t->c->intruder > t->c->from) {
		err = tell(t, t->f, t->c->intruder, &signal);
		if (err)
			return err;
		t->out->summary =
			arena_printf(&x->arena,
				     "thread %s %s for ever: the signal by thread %s at %s came "
				     "after its %s and before the wait",
				     to.thread, to.verb, signal.thread, signal.where, from.noun);
		t->out->advice = arena_printf(&x->arena,
					      "check and wait in one critical section, from %s to "
					      "%s; change what is checked under the same lock",
					      from.where, to.where);
		return NULL;
	}
	t->out->summary =
		arena_printf(&x->arena,
			     "thread %s %s for ever: between its %s and the wait the signal "
			     "came, or it went to another thread",
			     to.thread, to.verb, from.noun);
	t->out->advice = arena_printf(&x->arena,
				      "check and wait in one critical section, from %s to %s, "
				      "under the lock that the signaller holds too; wake all "
				      "waiters (broadcast) if they wait for different things",
				      from.where, to.where);
	return NULL;
}

/* The thread that is too early was created by the one that should have come first, before that: where?
 * NULL: it is not so. */
static const char *created_too_early(struct teller *t)
{
	const struct step *first = &t->f->data[t->c->from], *then = &t->f->data[t->c->to];
	const struct birth *b = t->f->births ? &t->f->births[then->thread] : NULL;
	struct code_point at;

	if (!b || !b->clock || b->parent != first->thread || b->clock > first->clock + 1 ||
	    !step_is_memory(first) || !step_writes(first) ||
	    t->c->constraints[0].kind == PLAIT_CONSTRAINT_LATE)
		return NULL;
	if (!symbols_site(t->p.symbols, b->site, &at) || !at.line || is_system_file(at.file))
		return "";
	return arena_printf(&t->p.x->arena, " at %s", labels_point(&t->p, &at));
}

/* Has the thread that is too early seen before what the other one had written since it was created: the message
 * by which it goes on? The write; STEP_NONE: no. */
static uint32_t find_message(const struct teller *t)
{
	const struct step *d = t->f->data, *first = &d[t->c->from], *then = &d[t->c->to];
	const struct birth *b = t->f->births ? &t->f->births[then->thread] : NULL;

	for (uint32_t k = t->c->to; b && k-- > 0;) {
		uint32_t by = d[k].source;

		if (d[k].thread == then->thread && step_is_memory(&d[k]) && step_reads(&d[k]) &&
		    by != STEP_NONE && by < t->c->from && d[by].thread == first->thread &&
		    d[by].clock >= b->clock && d[by].address != first->address)
			return by;
	}
	return STEP_NONE;
}

/* It should have been done before it was announced. */
static struct err *tell_announced(struct teller *t, uint32_t message, const struct told *first,
				  const struct told *then)
{
	struct told says = { 0 };
	struct err *err = tell(t, t->f, message, &says);

	if (!err)
		t->out->advice =
			arena_printf(&t->p.x->arena,
				     "the %s must come before the %s, which thread %s has seen by "
				     "then: do it before that, or let that thread wait for it",
				     first->noun, says.noun, then->thread);
	return err;
}

/* Is what should come first done by a constructor: a function with the name of its class, that sets a
 * member of it? Nobody else has the object yet, and no lock is missing there. */
static bool in_constructor(struct teller *t, const struct told *first)
{
	const char *member = strrchr(first->object, ':'), *name;
	struct code_point at;
	size_t n, class;

	if (!member || !symbols_site(t->p.symbols, t->f->data[t->c->from].site, &at) ||
	    !at.function)
		return false;
	n = strcspn(at.function, "(<");
	name = memrchr(at.function, ':', n);
	name = name ? name + 1 : at.function;
	n -= (size_t)(name - at.function);
	class = (size_t)(member - first->object) - 1; /* "pool::jobs": up to the first colon */
	return n && class >= n && strncmp(first->object + class - n, name, n) == 0 &&
	       (class == n || first->object[class - n - 1] == ':');
}

/* The lock, who holds it and who does not. */
static struct err *tell_sides(struct teller *t, const struct guard *g, struct told *lock,
			      struct told *with, struct told *without)
{
	struct err *err = tell(t, t->f, g->lock, lock);

	if (!err)
		err = tell(t, t->f, g->with, with);
	if (!err)
		err = tell(t, t->f, g->without, without);
	if (!err)
		tell_caller(t, g->without, g->lock, without);
	return err;
}

/* The order decides, but one side lacks the lock of the object. Which of the two is the mistake, the
 * runs do not tell. */
static struct err *tell_unguarded(struct teller *t, const struct guard *g, const struct told *first,
				  const struct told *then)
{
	struct explanation *x = t->p.x;
	struct told lock = { 0 }, with = { 0 }, without = { 0 };
	struct err *err = tell_sides(t, g, &lock, &with, &without);

	if (err)
		return err;
	t->out->summary = arena_printf(&x->arena,
				       "thread %s %s without holding %s, which every other access "
				       "holds; it fails when thread %s %s before thread %s %s",
				       without.thread, without.verb, lock.object, then->thread,
				       then->verb, first->thread, first->verb);
	t->out->advice = arena_printf(&x->arena,
				      "hold %s at %s, as %s does (locked at %s), around all that "
				      "belongs together; if the %s must always come first, let "
				      "thread %s wait for it (that alone was tried)",
				      lock.object, without.where, with.where, lock.where,
				      first->noun, then->thread);
	return NULL;
}

static struct err *tell_order(struct teller *t)
{
	struct guard guard;
	const char *created;
	struct explanation *x = t->p.x;
	struct told first = { 0 }, then = { 0 };
	struct err *err = tell(t, t->f, t->c->from, &first);

	if (!err)
		err = tell(t, t->f, t->c->to, &then);
	if (err)
		return err;
	t->out->summary = arena_printf(&x->arena, "thread %s %s before thread %s %s", then.thread,
				       then.verb, first.thread, first.verb);
	created = created_too_early(t);
	if (!t->c->teardown && !(created && in_constructor(t, &first)) &&
	    guards_find(t->f, t->c->from, t->c->to, &guard))
		return tell_unguarded(t, &guard, &first, &then);
	if (t->c->barrier)
		t->out->advice = arena_printf(&x->arena,
					      "every thread must be done with %s before any of "
					      "them goes on to %s: a barrier is missing between "
					      "them, or nobody waits at the one that is there",
					      first.where, then.where);
	else if (t->c->constraints[0].kind == PLAIT_CONSTRAINT_LATE)
		t->out->advice = arena_printf(&x->arena,
					      "the %s must wait until the other threads are done: "
					      "join them first, or count those who still need it",
					      then.noun);
	else if (t->f->data[t->c->from].kind == PLAIT_EV_ATOMIC_RMW &&
		 step_writes(&t->f->data[t->c->to]) &&
		 t->f->data[t->c->from].address == t->f->data[t->c->to].address)
		t->out->advice = arena_printf(
			&x->arena,
			"either may be the first: make what follows the %s right when it finds "
			"what thread %s has written there, too; or let thread %s wait for it",
			first.noun, then.thread, then.thread);
	else if (created && find_message(t) != STEP_NONE)
		return tell_announced(t, find_message(t), &first, &then);
	else if (created)
		t->out->advice = arena_printf(&x->arena,
					      "the %s must come before thread %s is created%s: set "
					      "everything up first, or let that thread wait for it",
					      first.noun, then.thread, created);
	else if (t->c->constraints[0].a.thread != PLAIT_ANY)
		t->out->advice = arena_printf(&x->arena,
					      "in thread %s the %s must come before that in thread "
					      "%s: let thread %s wait for it",
					      first.thread, first.noun, then.thread, then.thread);
	else
		t->out->advice = arena_printf(&x->arena,
					      "the %s must come before the %s: let thread %s wait "
					      "for it",
					      first.noun, then.noun, then.thread);
	return NULL;
}

/* Only the locks are known, not what should be one. */
static struct err *tell_at_failure(struct teller *t, const struct guard *g)
{
	struct arena *arena = &t->p.x->arena;
	struct told lock = { 0 }, with = { 0 }, without = { 0 };
	struct err *err = tell_sides(t, g, &lock, &with, &without);

	if (err)
		return err;
	t->out->summary = arena_printf(
		arena,
		"thread %s %s without holding %s, which every other access holds: thread %s %s "
		"under it (locked at %s)",
		without.thread, without.verb, lock.object, with.thread, with.verb, lock.where);
	t->out->advice = arena_printf(arena, "hold %s at %s, around all that belongs together",
				      lock.object, without.where);
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
		err = tell_at_failure(&t, guard);
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
