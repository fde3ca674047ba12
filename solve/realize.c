/* solve/realize.c - an order of the model as a schedule of native operations.
 *
 * Events are kept as far as they happen natively; several events of one step (an access that was
 * cut into pieces) are one operation. Natively, threads are numbered by birth, releases follow the
 * step before them at once, and somebody must say which waiter a signal wakes. The rest is
 * carry.c's. */
#include "solve/realize.h"

#include "base/err.h"
#include "unplait/effects.h"

#include <stdlib.h>
#include <string.h>

struct translation {
	const struct order_built *built;
	const struct order_model *m;
	uint32_t *order; /* what happens natively, in order */
	size_t len;
	uint32_t *native; /* per thread of the model: its index in the run */
	size_t *op;	  /* per event of the model: its operation; SIZE_MAX = none */
	VEC(struct carry_op) ops;
};

void realized_deinit(struct realized *r)
{
	run_result_deinit(&r->run);
	free(r->clock);
	r->clock = NULL;
}

static const struct order_event *event_of(const struct translation *t, size_t i)
{
	return &t->m->events.data[t->order[i]];
}

/* ---- which events happen natively ---- */

static bool happens(const struct order_event *e)
{
	return e->kind != ORDER_LOCK_BLOCKED && e->kind != ORDER_POINT && !e->aside;
}

/* Releasing something is no scheduling point: it happens right after the thread's previous step.
 * Nobody minds that it comes earlier than the order says. */
static bool comes_along(const struct order_built *b, uint32_t event, uint32_t next)
{
	uint8_t kind = b->m->events.data[next].kind;

	return (kind == ORDER_UNLOCK || kind == ORDER_RWUNLOCK || kind == ORDER_EXIT) &&
	       !b->m->events.data[next].synthetic && b->step[next] == b->step[event] + 1;
}

static size_t keep(const struct order_built *b, uint32_t event, const bool *asked, bool *taken,
		   uint32_t *to)
{
	const struct order_event *e = &b->m->events.data[event];
	const struct order_thread *t = &b->m->threads.data[e->thread];
	size_t n = 0;

	for (size_t i = e->index; i < t->len; i++) {
		if (b->m->events.data[t->data[i]].aside)
			continue;
		if (n && (!asked[t->data[i]] || !comes_along(b, to[n - 1], t->data[i])))
			break;
		taken[t->data[i]] = true;
		to[n++] = t->data[i];
	}
	return n;
}

/* The failure shows here, or does not: what follows is for the threads to decide. */
static bool is_last_of(const struct order_model *m, uint32_t event, uint32_t thread)
{
	const struct order_event *e = &m->events.data[event];
	const struct order_thread *t = &m->threads.data[e->thread];

	return e->thread == thread &&
	       (e->index + 1 == t->len || m->events.data[t->data[e->index + 1]].synthetic);
}

/* Behind this the order speaks of a world in which a thread stopped at the end of its recording;
 * the native one goes on, and the run is free. */
static bool stops(const struct order_event *e)
{
	return e->synthetic;
}

/* The events that happen, in the order in which they can. */
static void keep_events(struct translation *t, const uint32_t *order, size_t len, uint32_t last)
{
	bool *taken = xcalloc(t->m->events.len + 1, sizeof(*taken));
	bool *asked = xcalloc(t->m->events.len + 1, sizeof(*asked));

	for (size_t i = 0; i < len; i++)
		asked[order[i]] = true;
	t->order = xcalloc(t->m->events.len + 1, sizeof(*t->order));
	for (size_t i = 0; i < len && !stops(&t->m->events.data[order[i]]); i++) {
		if (happens(&t->m->events.data[order[i]]) && !taken[order[i]])
			t->len += keep(t->built, order[i], asked, taken, t->order + t->len);
		if (is_last_of(t->m, order[i], last))
			break;
	}
	free(taken);
	free(asked);
}

static void number_threads(struct translation *t)
{
	uint32_t next = 1;

	t->native = xcalloc(t->m->threads.len + 1, sizeof(*t->native));
	for (size_t i = 0; i < t->m->threads.len; i++)
		t->native[i] = PLAIT_ANY;
	t->native[0] = 0;
	for (size_t i = 0; i < t->len; i++)
		if (event_of(t, i)->kind == ORDER_FORK)
			t->native[event_of(t, i)->object] = next++;
}

/* ---- signals ---- */

struct waiter {
	uint32_t thread, cond;
	size_t wakes; /* place in the order of its wake; SIZE_MAX: never */
};
struct waiters VEC_FIELDS(struct waiter);

static size_t wake_of(const struct translation *t, size_t i)
{
	const struct order_event *e = event_of(t, i);

	for (size_t k = i + 1; k < t->len; k++)
		if (event_of(t, k)->thread == e->thread)
			return event_of(t, k)->kind == ORDER_WAKE ? k : SIZE_MAX;
	return SIZE_MAX;
}

/* A signal reaches the waiter that wakes first; the run wants its number among those that wait, by
 * thread. Returns how many waited. */
static uint32_t choose_waiter(const struct translation *t, struct waiters *w, uint32_t cond,
			      bool all, uint32_t *ret)
{
	size_t best = SIZE_MAX, kept = 0;
	uint32_t n = 0;

	for (size_t i = 0; i < w->len; i++)
		if (w->data[i].cond == cond &&
		    (best == SIZE_MAX || w->data[i].wakes < w->data[best].wakes))
			best = i;
	*ret = 0;
	for (size_t i = 0; i < w->len; i++) {
		n += w->data[i].cond == cond;
		*ret += best != SIZE_MAX && w->data[i].cond == cond &&
			t->native[w->data[i].thread] < t->native[w->data[best].thread];
	}
	for (size_t i = 0; i < w->len; i++)
		if (!(i == best || (all && w->data[i].cond == cond)))
			w->data[kept++] = w->data[i];
	w->len = kept;
	return n;
}

/* Keep account of who waits; a signal's operation says who wakes. */
static void note_condition(const struct translation *t, size_t i, struct carry_op *op,
			   struct waiters *w)
{
	const struct order_event *e = event_of(t, i);

	if (e->kind == ORDER_WAIT)
		vec_push(w, ((struct waiter){ e->thread, e->object, wake_of(t, i) }));
	if (e->kind == ORDER_WAKE_TIMEOUT)
		for (size_t k = 0; k < w->len; k++)
			if (w->data[k].thread == e->thread)
				w->data[k--] = w->data[--w->len];
	if (e->kind == ORDER_BROADCAST)
		choose_waiter(t, w, e->object, true, &op->choice);
	if (e->kind == ORDER_SIGNAL)
		op->nchoices = choose_waiter(t, w, e->object, false, &op->choice);
}

/* ---- operations ---- */

/* Calls of two halves, and what a place alone does not tell. */
static uint32_t native_kind(enum order_kind kind)
{
	switch (kind) {
	case ORDER_WAIT:
		return PLAIT_EV_WAIT;
	case ORDER_WAKE:
	case ORDER_WAKE_TIMEOUT:
		return PLAIT_EV_WOKEN;
	case ORDER_BARRIER_ENTER:
		return PLAIT_EV_BARRIER_WAIT;
	case ORDER_BARRIER_LEAVE:
		return PLAIT_EV_BARRIER_LEAVE;
	case ORDER_START:
		return PLAIT_EV_START;
	case ORDER_EXIT:
		return PLAIT_EV_EXIT;
	case ORDER_FORK:
		return PLAIT_EV_FORK;
	case ORDER_JOIN:
		return PLAIT_EV_JOIN;
	default:
		return PLAIT_EV_NONE;
	}
}

/* The thread may not be able to go on by itself: its time-out has to expire. */
static bool needs_word(enum order_kind kind)
{
	return kind == ORDER_WAKE_TIMEOUT || kind == ORDER_LOCK_FAILED ||
	       kind == ORDER_RDLOCK_FAILED || kind == ORDER_WRLOCK_FAILED ||
	       kind == ORDER_SEM_FAILED;
}

static struct carry_op op_of(const struct translation *t, uint32_t event)
{
	const struct order_event *e = &t->m->events.data[event];
	bool anywhere = e->kind == ORDER_START || e->kind == ORDER_EXIT;

	return (struct carry_op){ .thread = t->native[e->thread],
				  .site = anywhere ? PLAIT_ANY : (uint32_t)e->site,
				  .kind = native_kind((enum order_kind)e->kind),
				  .expires = needs_word((enum order_kind)e->kind),
				  .count = t->built->step[event] + 1 };
}

/* The operation of the event before it in its thread, when both are one step; SIZE_MAX. */
static size_t same_step(const struct translation *t, uint32_t event)
{
	const struct order_event *e = &t->m->events.data[event];
	const struct order_thread *own = &t->m->threads.data[e->thread];
	uint32_t before = e->index ? own->data[e->index - 1] : ORDER_NONE;

	if (before == ORDER_NONE || t->built->step[before] != t->built->step[event])
		return SIZE_MAX;
	return t->op[before];
}

static void make_ops(struct translation *t)
{
	struct waiters waiting = { 0 };

	t->op = xcalloc(t->m->events.len + 1, sizeof(*t->op));
	for (size_t i = 0; i < t->m->events.len; i++)
		t->op[i] = SIZE_MAX;
	for (size_t i = 0; i < t->len; i++) {
		struct carry_op op = op_of(t, t->order[i]);

		if (op.thread == PLAIT_ANY)
			continue; /* nobody is seen to create it */
		note_condition(t, i, &op, &waiting);
		t->op[t->order[i]] = same_step(t, t->order[i]);
		if (t->op[t->order[i]] != SIZE_MAX)
			continue;
		t->op[t->order[i]] = t->ops.len;
		vec_push(&t->ops, op);
	}
	vec_deinit(&waiting);
}

/* What became of the operations, said of the events. */
static void report(const struct translation *t, struct carried *c, struct realized *ret)
{
	*ret = (struct realized){ .run = c->run,
				  .followed = c->followed,
				  .events = t->len,
				  .runs = c->runs,
				  .clock = xcalloc(t->m->events.len + 1, sizeof(*ret->clock)) };
	for (size_t i = 0; i < t->m->events.len; i++)
		if (t->op[i] != SIZE_MAX)
			ret->clock[i] = c->clock[t->op[i]];
	for (size_t i = 0; i < t->len; i++)
		ret->matched += t->op[t->order[i]] < c->matched;
	free(c->clock);
}

struct err *realize(struct session *session, const struct order_built *built, const uint32_t *order,
		    size_t len, const struct realize_end *end, struct realized *ret)
{
	struct translation t = { .built = built, .m = built->m };
	struct carry_end carry_end = { PLAIT_ANY, end->strategy, end->seed };
	struct carry_schedule schedule;
	struct carried c;
	struct err *err;

	*ret = (struct realized){ 0 };
	keep_events(&t, order, len, end->last);
	number_threads(&t);
	make_ops(&t);
	if (end->last != ORDER_NONE)
		carry_end.last = t.native[end->last];
	schedule = (struct carry_schedule){ .ops = t.ops.data, .n = t.ops.len };
	err = carry_out(session, &schedule, &carry_end, &c);
	report(&t, &c, ret);
	free(t.order);
	free(t.native);
	free(t.op);
	vec_deinit(&t.ops);
	return err;
}
