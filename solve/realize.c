#define LOG_DOMAIN "explain"
#include "solve/realize.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RUNS = 10 };

struct plan {
	const struct order_built *built;
	const struct order_model *m;
	const uint32_t *order; /* what happens natively, in order */
	size_t len;
	const struct realize_end *end;
	uint32_t *native;	    /* per thread of the model: its index in the run */
	uint64_t *count;	    /* per event: steps of its thread up to and including it */
	uint64_t *seen;		    /* per event: its clock in the last run; 0 = did not happen */
	struct decisions decisions; /* exact: after so many steps of the run, this thread */
	struct turns turns;	    /* tolerant: so many steps of each thread, in turn */
};

void realized_deinit(struct realized *r)
{
	run_result_deinit(&r->run);
	free(r->clock);
	r->clock = NULL;
}

static const struct order_event *event_of(const struct plan *p, size_t i)
{
	return &p->m->events.data[p->order[i]];
}

/* ---- the order as turns ---- */

/* Natively, threads are numbered by birth. */
static void number_threads(struct plan *p)
{
	uint32_t next = 1;

	p->native = xcalloc(p->m->threads.len + 1, sizeof(*p->native));
	for (size_t i = 0; i < p->m->threads.len; i++)
		p->native[i] = UINT32_MAX;
	p->native[0] = 0;
	for (size_t i = 0; i < p->len; i++)
		if (event_of(p, i)->kind == ORDER_FORK)
			p->native[event_of(p, i)->object] = next++;
}

struct waiter {
	uint32_t thread, cond;
	size_t wakes; /* place in the order of its wake; SIZE_MAX: never */
};
struct waiters VEC_FIELDS(struct waiter);

static size_t wake_of(const struct plan *p, size_t i)
{
	const struct order_event *e = event_of(p, i);

	for (size_t k = i + 1; k < p->len; k++)
		if (event_of(p, k)->thread == e->thread)
			return event_of(p, k)->kind == ORDER_WAKE ? k : SIZE_MAX;
	return SIZE_MAX;
}

/* A signal reaches the waiter that wakes first; the run wants its number among those that wait, by
 * thread. Returns how many waited. */
static uint32_t choose_waiter(const struct plan *p, struct waiters *w, uint32_t cond, bool all,
			      uint32_t *ret)
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
			p->native[w->data[i].thread] < p->native[w->data[best].thread];
	}
	for (size_t i = 0; i < w->len; i++)
		if (!(i == best || (all && w->data[i].cond == cond)))
			w->data[kept++] = w->data[i];
	w->len = kept;
	return n;
}

static void note_condition(struct plan *p, size_t i, uint64_t step, struct waiters *w)
{
	const struct order_event *e = event_of(p, i);
	uint32_t chosen, n;

	if (e->kind == ORDER_WAIT)
		vec_push(w, ((struct waiter){ e->thread, e->object, wake_of(p, i) }));
	if (e->kind == ORDER_WAKE_TIMEOUT)
		for (size_t k = 0; k < w->len; k++)
			if (w->data[k].thread == e->thread)
				w->data[k--] = w->data[--w->len];
	if (e->kind != ORDER_SIGNAL && e->kind != ORDER_BROADCAST)
		return;
	n = choose_waiter(p, w, e->object, e->kind == ORDER_BROADCAST, &chosen);
	if (e->kind == ORDER_SIGNAL && n > 1) {
		vec_push(&p->turns, ((struct plait_turn){ PLAIT_ANY, PLAIT_ANY, chosen }));
		vec_push(&p->decisions, ((struct decision){ step, DECISION_CHOICE, chosen }));
	}
}

/* The thread may not be able to go on by itself: its time-out has to expire. */
static bool needs_word(enum order_kind kind)
{
	return kind == ORDER_WAKE_TIMEOUT || kind == ORDER_LOCK_FAILED ||
	       kind == ORDER_RDLOCK_FAILED || kind == ORDER_WRLOCK_FAILED ||
	       kind == ORDER_SEM_FAILED;
}

static void add_turn(struct plan *p, uint64_t step, uint32_t thread, uint64_t upto, bool say)
{
	if (say)
		vec_push(&p->decisions,
			 ((struct decision){ step, DECISION_SWITCH, p->native[thread] }));
	vec_push(&p->turns, ((struct plait_turn){ p->native[thread], PLAIT_ANY, upto }));
}

static void decide(struct plan *p)
{
	uint64_t *done = xcalloc(p->m->threads.len + 1, sizeof(*done)), step = 0;
	struct waiters waiting = { 0 };
	uint32_t current = 0;

	vec_clear(&p->decisions);
	vec_clear(&p->turns);
	for (size_t i = 0; i < p->len; i++) {
		const struct order_event *e = event_of(p, i);
		uint64_t upto = p->count[p->order[i]];

		if (p->native[e->thread] == UINT32_MAX)
			continue; /* nobody is seen to create it */
		if (upto > done[e->thread]) {
			add_turn(p, step, e->thread, upto,
				 current != e->thread || needs_word((enum order_kind)e->kind));
			current = e->thread;
			step += upto - done[e->thread];
			done[e->thread] = upto;
		}
		note_condition(p, i, step, &waiting);
	}
	if (p->end->last != ORDER_NONE && p->native[p->end->last] != UINT32_MAX)
		add_turn(p, step, p->end->last, UINT64_MAX, p->end->last != current);
	turns_link(&p->turns);
	vec_deinit(&waiting);
	free(done);
}

/* ---- what the run did ---- */

static bool is_kind(enum order_kind kind, uint32_t ev)
{
	switch (kind) {
	case ORDER_WAIT:
		return ev == PLAIT_EV_WAIT;
	case ORDER_WAKE:
	case ORDER_WAKE_TIMEOUT:
		return ev == PLAIT_EV_WOKEN;
	case ORDER_BARRIER_ENTER:
		return ev == PLAIT_EV_BARRIER_WAIT;
	case ORDER_BARRIER_LEAVE:
		return ev == PLAIT_EV_BARRIER_LEAVE;
	case ORDER_START:
		return ev == PLAIT_EV_START;
	case ORDER_EXIT:
		return ev == PLAIT_EV_EXIT;
	case ORDER_FORK:
		return ev == PLAIT_EV_FORK;
	case ORDER_JOIN:
		return ev == PLAIT_EV_JOIN;
	default:
		return ev != PLAIT_EV_BRANCH && ev != PLAIT_EV_ALLOC && ev != PLAIT_EV_FREE &&
		       ev != PLAIT_EV_FAILURE;
	}
}

static bool is_same(const struct plan *p, uint32_t event, const struct event *ev)
{
	const struct order_event *e = &p->m->events.data[event];

	if (!is_kind((enum order_kind)e->kind, ev->kind))
		return false;
	return e->kind == ORDER_START || e->kind == ORDER_EXIT || e->site == ev->site;
}

/* Steps of one thread among the first `clock` of the run. */
static uint64_t steps_until(const struct decisions *d, uint32_t thread, uint64_t clock)
{
	uint64_t n = 0, from = 0;
	uint32_t current = 0;

	for (size_t i = 0; i <= d->len; i++) {
		uint64_t to = i < d->len ? MIN(d->data[i].step, clock) : clock;

		if (i < d->len && d->data[i].kind == DECISION_CHOICE)
			continue;
		if (current == thread && to > from)
			n += to - from;
		if (i == d->len || to >= clock)
			break;
		from = to;
		current = d->data[i].value;
	}
	return n;
}

/* A step that is not a scheduling point, or that only gives a lock back, comes along with the step
 * before it, whether the model knows it or not. */
static bool comes_with_previous(uint32_t kind)
{
	return plait_is_step(kind) && (!plait_is_point(kind) || plait_releases(kind));
}

/* A thread's events that are steps of the program. */
struct own_events VEC_FIELDS(uint32_t);

static void list_own(const struct order_model *m, uint32_t thread, struct own_events *ret)
{
	const struct order_thread *t = &m->threads.data[thread];

	for (size_t i = 0; i < t->len; i++)
		if (!m->events.data[t->data[i]].aside)
			vec_push(ret, t->data[i]);
}

/* Match the events of one thread with the run's; the same model step may be several events. */
static struct err *match_thread(struct plan *p, struct trace *trace, const struct run_result *run,
				uint32_t thread)
{
	struct own_events own = { 0 }, *t = &own;
	uint64_t behind = 0; /* how much the native count is ahead of the model's */
	const struct event *ev;
	struct cursor c;
	struct err *err;
	size_t i = 0;

	if (p->native[thread] >= trace_meta(trace)->nthreads)
		return NULL;
	list_own(p->m, thread, &own);
	cursor_init(&c, trace, p->native[thread], 0);
	while (!(err = cursor_next(&c, &ev)) && ev) {
		uint32_t step = i < t->len ? p->built->step[t->data[i]] : 0;

		if (i == t->len || !is_same(p, t->data[i], ev)) {
			if (i && comes_with_previous(ev->kind) &&
			    ev->clock == p->seen[t->data[i - 1]] + 1)
				p->count[t->data[i - 1]]++;
			continue;
		}
		for (; i < t->len && p->built->step[t->data[i]] == step; i++) {
			p->seen[t->data[i]] = ev->clock;
			p->count[t->data[i]] =
				steps_until(&run->schedule.decisions, p->native[thread], ev->clock);
			behind = p->count[t->data[i]] - step - 1;
		}
	}
	cursor_deinit(&c);
	for (; i < t->len; i++)
		p->count[t->data[i]] = p->built->step[t->data[i]] + 1 + behind;
	vec_deinit(&own);
	return err;
}

/* How many events of the plan happened one after the other as asked. */
static size_t followed(const struct plan *p)
{
	uint64_t last = 0;
	size_t n;

	for (n = 0; n < p->len; n++) {
		uint64_t clock = p->seen[p->order[n]];

		if ((!clock || clock < last) && event_of(p, n)->kind != ORDER_START)
			break;
		last = MAX(clock, last);
	}
	return n;
}

static struct err *look(struct plan *p, const char *dir, struct realized *r)
{
	struct trace *trace;
	struct err *err = trace_open(dir, &trace);

	if (err)
		return err;
	memset(p->seen, 0, p->m->events.len * sizeof(*p->seen));
	for (uint32_t t = 0; t < p->m->threads.len && !err; t++)
		err = match_thread(p, trace, &r->run, t);
	trace_close(trace);
	r->matched = followed(p);
	r->followed = r->matched == p->len;
	return err;
}

/* ---- until it fits ---- */

static struct err *attempt(struct session *session, struct plan *p, const char *dir, bool exact,
			   struct realized *r)
{
	struct run_request req = { .strategy = exact ? PLAIT_STRATEGY_STAY : PLAIT_STRATEGY_FOLLOW,
				   .points = PLAIT_POINTS_ALL,
				   .flags = exact ? PLAIT_CONTROL_PREFIX : PLAIT_CONTROL_EAGER,
				   .record_dir = dir };
	struct err *err;

	decide(p);
	if (exact) {
		req.decisions = p->decisions.data;
		req.ndecisions = p->decisions.len;
	} else {
		req.turns = p->turns.data;
		req.nturns = p->turns.len;
	}
	r->runs++;
	file_remove_tree(dir);
	err = file_make_dirs(dir);
	if (!err)
		err = session_run(session, &req, &r->run);
	if (!err)
		err = look(p, dir, r);
	log_debug(1, "attempt %u: %zu of %zu events as asked, outcome %s%s%s", r->runs, r->matched,
		  p->len, outcome_name(r->run.outcome), r->run.text ? ": " : "",
		  r->run.text ? r->run.text : "");
	return err;
}

/* Correct the counts and try again, as long as that helps. */
static struct err *attempts(struct session *session, struct plan *p, const char *dir, bool exact,
			    struct realized *r)
{
	struct err *err = NULL;
	size_t best = 0;

	for (unsigned i = 0; i < MAX_RUNS && !err && !r->followed; i++) {
		err = attempt(session, p, dir, exact, r);
		if (!err && i > 1 && r->matched <= best)
			break;
		best = MAX(best, r->matched);
	}
	return err;
}

/* The same up to the last event asked for, then another strategy. */
static struct err *end_otherwise(struct session *session, struct plan *p, struct realized *r)
{
	struct run_request req = { .strategy = p->end->strategy,
				   .seed = p->end->seed,
				   .points = PLAIT_POINTS_ALL,
				   .flags = PLAIT_CONTROL_PREFIX };
	const struct decisions *d = &r->run.schedule.decisions;
	uint64_t until = 0;
	struct run_result other = { 0 };
	struct err *err;

	for (size_t i = 0; i < p->len; i++)
		until = MAX(until, p->seen[p->order[i]]);
	req.decisions = d->data;
	while (req.ndecisions < d->len && d->data[req.ndecisions].step < until)
		req.ndecisions++;
	err = session_run(session, &req, &other);
	if (err)
		return err;
	run_result_deinit(&r->run);
	r->run = other;
	return NULL;
}

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

static size_t keep(const struct order_built *b, uint32_t event, bool *taken, uint32_t *to)
{
	const struct order_event *e = &b->m->events.data[event];
	const struct order_thread *t = &b->m->threads.data[e->thread];
	size_t n = 0;

	for (size_t i = e->index; i < t->len; i++) {
		if (b->m->events.data[t->data[i]].aside)
			continue;
		if (n && !comes_along(b, to[n - 1], t->data[i]))
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

struct err *realize(struct session *session, const struct order_built *built, const uint32_t *order,
		    size_t len, const struct realize_end *end, struct realized *ret)
{
	struct plan p = { .built = built, .m = built->m, .end = end };
	uint32_t *kept = xcalloc(len + 1, sizeof(*kept));
	bool *taken = xcalloc(len + 1, sizeof(*taken));
	struct err *err = NULL;
	char *dir = NULL;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < len && !stops(&built->m->events.data[order[i]]); i++) {
		if (happens(&built->m->events.data[order[i]]) && !taken[order[i]])
			p.len += keep(built, order[i], taken, kept + p.len);
		if (is_last_of(built->m, order[i], end->last))
			break;
	}
	p.order = kept;
	p.count = xcalloc(built->m->events.len + 1, sizeof(*p.count));
	p.seen = xcalloc(built->m->events.len + 1, sizeof(*p.seen));
	for (size_t i = 0; i < built->m->events.len; i++)
		p.count[i] = built->step[i] + 1;
	number_threads(&p);
	ret->events = p.len;
	err = file_temp_dir(&dir);
	if (!err)
		err = attempts(session, &p, dir, true, ret);
	if (!err && ret->run.diverged) /* sleepers and the like: as near as possible, then */
		err = attempts(session, &p, dir, false, ret);
	if (!err && ret->followed && end->strategy != PLAIT_STRATEGY_FOLLOW)
		err = end_otherwise(session, &p, ret);
	if (dir)
		file_remove_tree(dir);
	free(dir);
	free(kept);
	free(taken);
	free(p.count);
	ret->clock = p.seen;
	free(p.native);
	vec_deinit(&p.decisions);
	vec_deinit(&p.turns);
	return err;
}
