/* explain/show/orders.c - what came too early or too late: orders of two steps, and signals that nobody got. */
#include "explain/show/teller.h"

#include "base/err.h"
#include "explain/cure/cure.h"
#include "explain/show/stacks.h"
#include "unplait/abi.h"

#include <string.h>

/* The signal reached another of those who wait. */
static struct err *tell_stolen_signal(struct teller *t)
{
	struct explanation *x = t->p.x;
	struct told signal = { 0 }, waits = { 0 };
	struct err *err = tell_step(t, t->f, t->c->from, &signal);

	if (!err)
		err = tell_step(t, t->f, t->c->to, &waits);
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

struct err *tell_lost_wakeup(struct teller *t)
{
	struct explanation *x = t->p.x;
	struct told from = { 0 }, to = { 0 }, signal = { 0 };
	struct err *err;

	if (t->c->constraints[0].kind == PLAIT_CONSTRAINT_BROADCAST)
		return tell_stolen_signal(t);
	if (t->c->constraints[0].kind == PLAIT_CONSTRAINT_WAKE)
		return NULL; /* told with the wait (show/stuck.c) */
	err = tell_step(t, t->f, t->c->from, &from);
	if (!err)
		err = tell_step(t, t->f, t->c->to, &to);
	if (err)
		return err;
	if (t->c->intruder != STEP_NONE && t->c->intruder > t->c->from) {
		err = tell_step(t, t->f, t->c->intruder, &signal);
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
	struct err *err = tell_step(t, t->f, message, &says);

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
struct err *tell_order(struct teller *t)
{
	struct guard guard;
	const char *created;
	struct explanation *x = t->p.x;
	struct told first = { 0 }, then = { 0 };
	struct err *err = tell_step(t, t->f, t->c->from, &first);

	if (!err)
		err = tell_step(t, t->f, t->c->to, &then);
	if (err)
		return err;
	t->out->summary = arena_printf(&x->arena, "thread %s %s before thread %s %s", then.thread,
				       then.verb, first.thread, first.verb);
	created = created_too_early(t);
	if (!t->c->teardown && !(created && in_constructor(t, &first)) &&
	    guards_find(t->f, t->c->from, t->c->to, &guard))
		return tell_lack_beside_order(t, &guard, &first, &then);
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
