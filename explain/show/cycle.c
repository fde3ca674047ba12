/* explain/show/cycle.c - threads that wait for locks for ever, in words: who holds what, who waits for
 * what, and in which function of the program both were asked for.
 *
 * Four ways: several threads each hold what another one waits for; a thread asks for a lock that it
 * holds itself; a lock is held by a thread that has ended; all who hold units of a semaphore wait for more. A thread that released a lock which it did
 * not hold meant another one, perhaps the one that is missing here: that is told, too. */
#include "explain/show/present.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "explain/find/units.h"
#include "explain/show/labels.h"
#include "explain/show/stacks.h"
#include "unplait/abi.h"

#include <string.h>

enum { MAX_WAITING = 4 };

struct teller {
	struct labels p;
	const struct steps *f;
	struct telling *out;
};

struct told {
	const char *thread, *object, *where;
};

static bool waits_for_lock(const struct step *e)
{
	return e->pending && step_is_acquire(e);
}

/* The step by which the lock of step i was last taken, if it was not given back; STEP_NONE. */
static uint32_t taken_by(const struct steps *s, uint32_t i)
{
	for (uint32_t k = i; k-- > 0;) {
		if (s->data[k].address != s->data[i].address || s->data[k].pending)
			continue;
		if (step_is_acquire(&s->data[k]))
			return k;
		if (step_is_release(&s->data[k]))
			return STEP_NONE;
	}
	return STEP_NONE;
}

/* At the end of a deadlock everybody who is still there waits for something. */
static bool has_ended(const struct steps *s, uint32_t thread)
{
	for (uint32_t i = 0; i < s->len; i++)
		if (s->data[i].thread == thread && s->data[i].pending)
			return false;
	return true;
}

/* A lock that will never be given back; the step that waits for it. */
static uint32_t find_orphan(const struct steps *s)
{
	for (uint32_t i = 0; i < s->len; i++) {
		uint32_t by = waits_for_lock(&s->data[i]) ? taken_by(s, i) : STEP_NONE;

		if (by != STEP_NONE &&
		    (s->data[by].thread == s->data[i].thread || has_ended(s, s->data[by].thread)))
			return i;
	}
	return STEP_NONE;
}

static unsigned count_waiting(const struct steps *f)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < f->len; i++)
		n += waits_for_lock(&f->data[i]) && cure_held(f, i) != STEP_NONE;
	return n;
}

enum cycle_kind find_cycle(const struct steps *failing)
{
	if (find_orphan(failing) != STEP_NONE)
		return CYCLE_ORPHAN;
	if (count_waiting(failing) >= 2)
		return CYCLE_OF_LOCKS;
	return units_find(failing) != STEP_NONE ? CYCLE_OF_UNITS : CYCLE_NONE;
}

static struct err *tell(struct teller *t, uint32_t i, struct told *ret)
{
	struct shown_event e = { 0 };
	struct err *err = labels_event(&t->p, &t->f->data[i], &e);

	if (err)
		return err;
	ret->thread = t->p.x->threads[t->f->data[i].thread];
	ret->object = labels_is_anonymous(e.object) ? "a lock" : e.object;
	ret->where = labels_place(&t->p, &e);
	return NULL;
}

/* Both were asked for by functions that lock: told in the function that called both. False: nothing
 * new. */
static bool tell_in_common(struct teller *t, uint32_t held, uint32_t waiting, struct told *holds,
			   struct told *waits)
{
	const char *inner = waits->where, *outer = holds->where;
	struct stack_block b;

	if (!stack_common(t->p.symbols, stacks_find(t->p.stacks, &t->f->data[held]),
			  stacks_find(t->p.stacks, &t->f->data[waiting]), &b))
		return false;
	holds->where = labels_point(&t->p, &b.from);
	waits->where = labels_point(&t->p, &b.to);
	return strcmp(waits->where, inner) != 0 || strcmp(holds->where, outer) != 0;
}

/* "refund at dl.cpp:14": who called the code in which a thread waits; NULL = not known. */
static const char *caller_of(const struct explanation *x, uint32_t thread)
{
	for (size_t i = 0; i < x->nwaits; i++)
		if (x->waits[i].thread == thread && x->waits[i].nframes > 1)
			return x->waits[i].frames[1];
	return NULL;
}

static struct err *tell_waiting(struct teller *t, uint32_t i, struct strbuf *all,
				struct strbuf *callers)
{
	uint32_t held = cure_held(t->f, i);
	struct told waits, holds;
	const char *caller;
	bool common;
	struct err *err = tell(t, i, &waits);

	if (!err)
		err = tell(t, held, &holds);
	if (err)
		return err;
	common = tell_in_common(t, held, i, &holds, &waits);
	strbuf_addf(all, "%sthread %s holds %s (%s) and waits for %s (%s)", all->len ? "; " : "",
		    waits.thread, holds.object, holds.where, waits.object, waits.where);
	caller = common ? NULL : caller_of(t->p.x, t->f->data[i].thread);
	if (caller && !strstr(strbuf_str(callers), caller))
		strbuf_addf(callers, "%s%s", callers->len ? ", " : "", caller);
	return NULL;
}

static struct err *tell_cycle(struct teller *t)
{
	_cleanup_(strbuf_deinit) struct strbuf all = { 0 };
	_cleanup_(strbuf_deinit) struct strbuf callers = { 0 };
	struct explanation *x = t->p.x;
	struct err *err = NULL;
	unsigned n = 0;

	for (uint32_t i = 0; i < t->f->len && !err; i++)
		if (waits_for_lock(&t->f->data[i]) && cure_held(t->f, i) != STEP_NONE &&
		    ++n <= MAX_WAITING)
			err = tell_waiting(t, i, &all, &callers);
	if (n > MAX_WAITING)
		strbuf_addf(&all, "; and %u more", n - MAX_WAITING);
	t->out->summary = arena_strdup(&x->arena, strbuf_str(&all));
	t->out->advice =
		arena_printf(&x->arena, "take these locks in the same order everywhere%s%s",
			     callers.len ? "; called from " : "", strbuf_str(&callers));
	return err;
}

/* The function that took the lock at step `by` gives it back itself, elsewhere in the run, and has returned
 * without doing so: one way out of it keeps the lock. *ret is where it gives it back at other times; NULL:
 * it is not so. (A function that only locks returns with the lock on purpose.) */
static struct err *find_way_out(struct teller *t, uint32_t by, uint32_t waiting,
				const char **function, const char **ret)
{
	const struct plait_stack *now = stacks_find(t->p.stacks, &t->f->data[waiting]);
	struct shown_event took = { 0 }, gives = { 0 };
	struct code_point at;
	struct err *err = labels_event(&t->p, &t->f->data[by], &took);

	*ret = NULL;
	if (err || !took.function || !symbols_site(t->p.symbols, t->f->data[by].site, &at) ||
	    !now || stack_has_function(t->p.symbols, now, &at))
		return err;
	for (uint32_t i = 0; i < t->f->len && !*ret; i++) {
		const struct step *e = &t->f->data[i];

		if (!step_is_release(e) || e->pending || e->address != t->f->data[by].address)
			continue;
		err = labels_event(&t->p, e, &gives);
		if (err)
			return err;
		if (gives.function && strcmp(gives.function, took.function) == 0)
			*ret = labels_place(&t->p, &gives);
	}
	*function = took.function;
	return NULL;
}

static struct err *tell_kept(struct teller *t, uint32_t by, uint32_t waiting,
			     const struct told *waits, const struct told *holds, bool *ret)
{
	struct explanation *x = t->p.x;
	const char *function = NULL, *gives = NULL;
	struct err *err = find_way_out(t, by, waiting, &function, &gives);

	*ret = gives != NULL;
	if (err || !gives)
		return err;
	t->out->summary =
		arena_printf(&x->arena,
			     "thread %s waits at %s for %s, which it holds itself: %s "
			     "took it at %s and was left without giving it back",
			     waits->thread, waits->where, waits->object, function, holds->where);
	t->out->advice =
		arena_printf(&x->arena, "give %s back on every way out of %s, not only at %s",
			     waits->object, function, gives);
	return NULL;
}

/* A handler wants the lock that the code it interrupted holds, and that cannot go on before it. False: it is not so. */
static bool tell_interrupted(struct teller *t, uint32_t by, uint32_t waiting,
			     const struct told *waits, const struct told *holds)
{
	const struct handler_run *h = steps_handler(t->f, by, waiting);
	struct arena *arena = &t->p.x->arena;

	if (!h)
		return false;
	t->out->summary = arena_printf(
		arena,
		"thread %s waits at %s for %s in a handler of signal %u (%s), which interrupted it "
		"while it holds %s itself (since %s)",
		waits->thread, waits->where, waits->object, h->number, strsignal((int)h->number),
		waits->object, holds->where);
	t->out->advice = arena_printf(
		arena,
		"take no lock in the handler: let it only note that the signal came (a flag, "
		"sem_post); or block the signal wherever %s is held",
		waits->object);
	return true;
}

static struct err *tell_orphan(struct teller *t, uint32_t waiting)
{
	struct explanation *x = t->p.x;
	uint32_t by = taken_by(t->f, waiting);
	bool self = t->f->data[by].thread == t->f->data[waiting].thread, kept = false;
	struct told waits, holds;
	struct err *err = tell(t, waiting, &waits);

	if (!err)
		err = tell(t, by, &holds);
	if (err)
		return err;
	kept = !err && self && tell_interrupted(t, by, waiting, &waits, &holds);
	if (!err && self && !kept)
		err = tell_kept(t, by, waiting, &waits, &holds, &kept);
	if (err || kept)
		return err;
	if (self) {
		tell_in_common(t, by, waiting, &holds, &waits);
		t->out->summary =
			arena_printf(&x->arena,
				     "thread %s waits at %s for %s, which it holds itself since "
				     "%s",
				     waits.thread, waits.where, waits.object, holds.where);
		t->out->advice = arena_printf(&x->arena,
					      "do not take %s at %s again: release it before, or "
					      "call what does not lock",
					      waits.object, waits.where);
		return NULL;
	}
	t->out->summary =
		arena_printf(&x->arena,
			     "thread %s waits at %s for %s, which thread %s took at %s and "
			     "never gave back: it has ended",
			     waits.thread, waits.where, waits.object, holds.thread, holds.where);
	t->out->advice = arena_printf(&x->arena, "release %s on every way out of what begins at %s",
				      holds.object, holds.where);
	return NULL;
}

static struct err *tell_holder(struct teller *t, uint32_t i, struct strbuf *all,
			       const char **object)
{
	struct units held = units_held(t->f, i);
	struct told waits, holds;
	struct err *err = tell(t, i, &waits);

	if (!err)
		err = tell(t, held.first, &holds);
	if (err)
		return err;
	tell_in_common(t, held.first, i, &holds, &waits);
	*object = strcmp(waits.object, "a lock") == 0 ? "a semaphore" : waits.object;
	strbuf_addf(all, "%sthread %s holds %u unit%s of %s (%s) and waits for one more (%s)",
		    all->len ? "; " : "", waits.thread, held.n, held.n == 1 ? "" : "s", *object,
		    holds.where, waits.where);
	return NULL;
}

/* Nobody holds a semaphore of several units alone: who has how many of them, and waits for the others'. */
static struct err *tell_units(struct teller *t, uint32_t first)
{
	_cleanup_(strbuf_deinit) struct strbuf all = { 0 };
	struct explanation *x = t->p.x;
	struct err *err = NULL;
	const char *object = "";
	unsigned n = 0;

	for (uint32_t i = first; i < t->f->len && !err; i++)
		if (t->f->data[i].address == t->f->data[first].address && units_held(t->f, i).n &&
		    ++n <= MAX_WAITING)
			err = tell_holder(t, i, &all, &object);
	if (n > MAX_WAITING)
		strbuf_addf(&all, "; and %u more", n - MAX_WAITING);
	if (n > 1)
		strbuf_addf(&all, ": each waits for what the other%s", n > 2 ? "s hold" : " holds");
	t->out->summary = arena_strdup(&x->arena, strbuf_str(&all));
	t->out->advice = arena_printf(&x->arena,
				      "take all that is needed of %s in one step (under a "
				      "lock, or let only one thread at a time ask for more than "
				      "one), or give back what is held before waiting for more",
				      object);
	return err;
}

/* A release of a lock that its thread did not hold then; STEP_NONE. */
static uint32_t find_wrong_release(const struct steps *s)
{
	for (uint32_t i = 0; i < s->len; i++) {
		const struct step *e = &s->data[i];
		unsigned taken = 0;

		if (!step_is_release(e) || e->pending)
			continue;
		for (uint32_t k = 0; k < i; k++)
			if (s->data[k].address == e->address && s->data[k].thread == e->thread)
				taken += step_is_acquire(&s->data[k]) ||
					 s->data[k].kind == PLAIT_EV_WOKEN;
		if (!taken)
			return i;
	}
	return STEP_NONE;
}

static struct err *add_wrong_release(struct teller *t)
{
	struct explanation *x = t->p.x;
	uint32_t wrong = find_wrong_release(t->f), held;
	struct told releases, holds;
	struct err *err;

	held = wrong == STEP_NONE ? STEP_NONE : cure_held(t->f, wrong);
	if (held == STEP_NONE)
		return NULL;
	err = tell(t, wrong, &releases);
	if (!err)
		err = tell(t, held, &holds);
	if (err)
		return err;
	t->out->summary =
		arena_printf(&x->arena,
			     "thread %s unlocks %s at %s, which it does not hold, and keeps %s "
			     "(%s); then %s",
			     releases.thread, releases.object, releases.where, holds.object,
			     holds.where, t->out->summary);
	t->out->advice = arena_printf(&x->arena, "unlock %s instead of %s at %s", holds.object,
				      releases.object, releases.where);
	return NULL;
}

struct err *present_cycle(const struct scene *scene, struct telling *ret)
{
	struct teller t = { .f = scene->failing, .out = ret };
	enum cycle_kind kind = find_cycle(scene->failing);
	struct err *err = labels_init(&t.p, scene->x, scene->trace);

	t.p.others = scene->failing;
	t.p.stacks = scene->stacks;
	*ret = (struct telling){ .kind = BUG_DEADLOCK };
	if (!err && kind == CYCLE_OF_UNITS)
		err = tell_units(&t, units_find(t.f));
	else if (!err)
		err = kind == CYCLE_ORPHAN ? tell_orphan(&t, find_orphan(t.f)) : tell_cycle(&t);
	if (!err)
		err = add_wrong_release(&t);
	labels_deinit(&t.p);
	return err;
}
