/* explain/show/lifetime.c - something was used that was no longer there: who gave it back, where,
 * and who still used it.
 *
 * A lock around two lines does not keep an object alive, so the advice is about its life: wait for
 * the other thread, count those who use it, let the last one give it back. Where the run shows what should
 * have kept it (find/grip.c), that is named. */
#include "explain/show/lifetime.h"

#include "base/err.h"
#include "explain/cure/cure.h"
#include "explain/find/grip.h"
#include "explain/find/guards.h"
#include "explain/show/labels.h"
#include "explain/show/readers.h"
#include "explain/show/stacks.h"
#include "unplait/abi.h"

#include <string.h>

struct teller {
	struct labels p;
	const struct steps *f, *g; /* the failing and the passing run */
	const struct gone *gone;
	struct telling *out;
	const char *user, *freer;	/* threads */
	const char *use_at, *gone_at;	/* places */
	const char *object, *allocated; /* "conn::fired"; " (allocated at main.c:3)" or "" */
	const char *lock, *locked_at;	/* held by who gave it back, and not by who used it; NULL */
};

/* A destructor that nobody wrote has a line, but no text. */
static const char *place_and_function(struct teller *t, const struct shown_event *e)
{
	const char *at = labels_place(&t->p, e);

	return e->function && strchr(e->function, '~')
		       ? arena_printf(&t->p.x->arena, "%s in %s", at, e->function)
		       : at;
}

/* Where the block was allocated, from the name of an address in it: "calloc@src/main.c:3/0#1". The library
 * allocates for others: its lines say nothing. */
static const char *allocation(struct teller *t, const char *name)
{
	const char *at = name ? strchr(name, '@') : NULL, *end, *slash;

	if (!at || is_system_file(at + 1))
		return "";
	at++;
	end = at + strcspn(at, ":#");
	slash = memrchr(at, '/', (size_t)(end - at));
	at = slash ? slash + 1 : at;
	end += strcspn(end, "/#");
	return end > at ? arena_printf(&t->p.x->arena, " (allocated at %.*s)", (int)(end - at), at)
			: "";
}

/* Do both look at something else, the one who gave it back under this lock and the other without: the list
 * that both know? A lock that is merely held meanwhile says nothing. */
static bool is_for_this(const struct teller *t, uint32_t lock)
{
	const struct step *d = t->f->data, *by = &d[t->gone->by];

	for (uint32_t i = lock; i < t->gone->by; i++) {
		if (d[i].thread != d[lock].thread || !step_is_memory(&d[i]) ||
		    d[i].address - by->address < MAX(by->size, 1u))
			continue;
		for (uint32_t k = 0; k < t->gone->use; k++)
			if (d[k].thread == d[t->gone->use].thread && step_is_memory(&d[k]) &&
			    d[k].address == d[i].address &&
			    guards_held(t->f, k, d[lock].address) == STEP_NONE)
				return true;
	}
	return false;
}

/* Gave it back under a lock, used without: the lock may be there for that. */
static struct err *look_for_lock(struct teller *t)
{
	uint32_t lock = cure_held(t->f, t->gone->by);
	struct shown_event e = { 0 };
	struct err *err;

	if (lock == STEP_NONE || t->gone->kind != BUG_USE_AFTER_FREE || !is_for_this(t, lock))
		return NULL;
	err = labels_event(&t->p, &t->f->data[lock], &e);
	if (err)
		return err;
	t->lock = labels_is_anonymous(e.object) ? "a lock" : e.object;
	t->locked_at = labels_place(&t->p, &e);
	return NULL;
}

/* Code of the library uses what it allocated itself: its names tell nobody anything, unless it is a
 * member of the program's. */
static bool is_of_library(struct teller *t)
{
	const struct plait_stack *stack = stacks_find(t->p.stacks, &t->f->data[t->gone->use]);

	return stack && stack_in_library(t->p.symbols, stack);
}

static struct err *look(struct teller *t)
{
	const struct step *use = &t->f->data[t->gone->use], *by;
	struct shown_event u = { 0 }, g = { 0 };
	struct err *err = labels_event(&t->p, use, &u);

	by = t->gone->by == STEP_NONE ? NULL : &t->f->data[t->gone->by];
	if (!err && by)
		err = labels_event(&t->p, by, &g);
	if (err)
		return err;
	t->user = t->p.x->threads[use->thread];
	t->use_at = labels_place(&t->p, &u);
	t->object = "memory";
	if (u.object && t->gone->kind != BUG_DOUBLE_FREE && !strpbrk(u.object, "@#") &&
	    u.object[0] != '_' && (strstr(u.object, "::") || !is_of_library(t)))
		t->object = u.object;
	t->allocated = "";
	if (by && by->kind == PLAIT_EV_LOCK_DESTROY && g.object && !strpbrk(g.object, "@#"))
		t->object = g.object; /* who destroys it knows its name */
	else if (t->gone->kind == BUG_DESTROYED_LOCK && strcmp(t->object, "memory") == 0)
		t->object = "in memory";
	if (by) {
		t->freer = t->p.x->threads[by->thread];
		t->gone_at = place_and_function(t, &g);
		if (by->kind == PLAIT_EV_FREE)
			t->allocated = allocation(t, g.object);
	}
	return by ? look_for_lock(t) : NULL;
}

/* The step in words: its object, or "it", and its place. */
struct told {
	const char *object, *where;
};

static struct err *tell(struct teller *t, const struct steps *s, uint32_t i, struct told *ret)
{
	struct shown_event e = { 0 };
	struct err *err = labels_event(&t->p, &s->data[i], &e);

	if (err)
		return err;
	ret->object = labels_is_anonymous(e.object) ? NULL : e.object;
	ret->where = labels_place(&t->p, &e);
	return NULL;
}

/* What it was kept by, and how that ended. */
static struct err *tell_grip(struct teller *t, const struct grip *grip)
{
	struct arena *arena = &t->p.x->arena;
	struct told seen = { 0 }, other = { 0 };
	struct err *err = tell(t, t->f, grip->seen, &seen);
	const char *more = "", *what;

	if (!err)
		err = tell(t, grip->in_passing ? t->g : t->f, grip->other, &other);
	if (err)
		return err;
	switch (grip->kind) {
	case GRIP_COUNTED:
		what = other.object ? other.object : seen.object ? seen.object : "the count in it";
		more = arena_printf(arena,
				    ": since its update of %s at %s it had no share in it any "
				    "more, and thread %s took the last one at %s",
				    what, seen.where, t->freer, other.where);
		t->out->advice = arena_printf(
			arena,
			"use nothing of it after %s: the use at %s must come before the update of "
			"%s at %s; or keep a share of its own in that count until then",
			seen.where, t->use_at, what, seen.where);
		break;
	case GRIP_LOOKED_UP:
		what = other.object ? other.object : "a lock";
		more = arena_printf(
			arena, ": it found it at %s under %s, which it gave back before the use",
			seen.where, what);
		t->out->advice = arena_printf(
			arena,
			"hold %s from %s until after the use at %s: thread %s holds it where it is "
			"freed (locked at %s); or keep it until thread %s is done with it: count "
			"those who use it and let the last one free it",
			what, seen.where, t->use_at, t->freer, other.where, t->user);
		break;
	default:
		what = seen.object    ? seen.object
		       : other.object ? other.object
				      : "the pointer to it";
		more = arena_printf(
			arena, ": it has read %s at %s, where thread %s puts another one at %s",
			what, seen.where, t->freer, other.where);
		t->out->advice = arena_printf(
			arena,
			"hold one lock from the read of %s at %s until after the use at %s, and "
			"the same lock where thread %s frees it (%s) and puts another one there "
			"(%s); or keep the old one until thread %s is done with it",
			what, seen.where, t->use_at, t->freer, t->gone_at, other.where, t->user);
	}
	t->out->summary = arena_printf(arena, "%s%s", t->out->summary, more);
	return NULL;
}

static void advise_lock(struct teller *t)
{
	t->out->advice = arena_printf(
		&t->p.x->arena,
		"thread %s holds %s there (%s), thread %s does not: hold it around the use "
		"at %s, from where it is looked up; or keep it until thread %s is done "
		"with it",
		t->freer, t->lock, t->locked_at, t->user, t->use_at, t->user);
}

static struct err *tell_use(struct teller *t)
{
	struct explanation *x = t->p.x;
	struct grip grip = grip_find(t->f, t->g, t->gone);
	bool destroyed = t->f->data[t->gone->by].kind == PLAIT_EV_LOCK_DESTROY, readers = false;
	struct err *err;
	const char *verb = t->gone->kind == BUG_DOUBLE_FREE	 ? "frees"
			   : t->gone->kind == BUG_DESTROYED_LOCK ? "uses the lock"
								 : "uses";

	t->out->summary =
		arena_printf(&x->arena, "thread %s %s %s%s at %s after thread %s %s it at %s",
			     t->user, verb, t->object, t->allocated, t->use_at, t->freer,
			     destroyed ? "destroyed" : "freed", t->gone_at);
	err = readers_tell(&t->p, t->f, t->gone->use, t->gone->by, t->out, &readers);
	if (err || readers)
		return err;
	if (grip.kind == GRIP_COUNTED || (grip.kind && !t->lock))
		return tell_grip(t, &grip);
	if (t->gone->kind == BUG_DOUBLE_FREE)
		t->out->advice = arena_printf(&x->arena,
					      "only one of the two may free it: let one thread own "
					      "it, or count those who use it and let the last one "
					      "free it");
	else if (t->lock)
		advise_lock(t);
	else if (t->user == t->freer || strcmp(t->user, t->freer) == 0)
		t->out->advice = arena_printf(
			&x->arena,
			"one thread does both, one after the other: look whether it is still there "
			"before the use at %s, or do not %s it at %s while something that is still "
			"to be done refers to it",
			t->use_at, destroyed ? "destroy" : "free", t->gone_at);
	else
		t->out->advice = arena_printf(
			&x->arena,
			"keep it until thread %s is done with it: before %s wait for that thread "
			"(join it), or count those who still use it and let the last one %s it",
			t->user, t->gone_at, destroyed ? "destroy" : "free");
	return NULL;
}

static void tell_unlock(struct teller *t)
{
	struct explanation *x = t->p.x;

	t->out->summary = arena_printf(&x->arena, "thread %s unlocks %s at %s, which %s%s%s%s",
				       t->user, t->object, t->use_at,
				       t->freer ? "thread " : "it does not hold: nobody does",
				       t->freer ? t->freer : "", t->freer ? " holds since " : "",
				       t->freer ? t->gone_at : "");
	t->out->advice = arena_printf(&x->arena,
				      "unlock %s in the thread that locked it; to tell another "
				      "thread something use a condition variable or a semaphore",
				      t->object);
}

struct err *present_lifetime(const struct scene *scene, const struct gone *gone,
			     struct telling *ret)
{
	struct teller t = { .f = scene->failing, .g = scene->passing, .gone = gone, .out = ret };
	struct err *err = labels_init(&t.p, scene->x, scene->trace);

	t.p.others = scene->failing;
	t.p.stacks = scene->stacks;
	*ret = (struct telling){ .kind = gone->kind };
	if (!err)
		err = look(&t);
	if (!err && gone->kind == BUG_FOREIGN_UNLOCK)
		tell_unlock(&t);
	else if (!err)
		err = tell_use(&t);
	labels_deinit(&t.p);
	return err;
}
