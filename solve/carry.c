/* solve/carry.c - from a proposed schedule to a native run that does it.
 *
 * The plan says after how many steps of its thread each operation has been done (count). From the
 * counts follow the decisions of a run: thread after thread, so many steps each. The run is
 * recorded; its events are matched with the operations thread by thread, in order, which corrects
 * the counts. An operation whose count nobody knows yet ends the plan: its thread runs on freely, and
 * shows where the operation is. Each run settles at least one more operation of the schedule;
 * mostly two or three runs settle all.
 *
 * Decisions are exact: a thread that cannot run when its turn comes is a divergence. Where that
 * happens (a sleeper, a lock the proposer does not know of) the same turns are tried once more in
 * the tolerant way: in this order, as near as possible. */
#define LOG_DOMAIN "solve"
#include "solve/carry.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "trace/trace.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RUNS = 10 };

struct plan {
	const struct carry_op *ops;
	size_t n;
	bool skips_alone, stops_at_release;
	uint32_t nthreads; /* of the schedule */
	const struct carry_end *end;
	uint64_t *count; /* per operation: steps of its thread up to and with it; 0 = ? */
	uint64_t *along; /* per operation: how many of them come along behind it */
	uint64_t *seen;	 /* per operation: its clock in the last run; 0 = did not happen */
	uint64_t alone;	 /* skips_alone: steps of main until another thread lives; 0 = ? */
	uint64_t beyond; /* clock of the first operation that nobody asked for; UINT64_MAX = none */
	struct decisions decisions; /* exact: after so many steps of the run, this thread */
	struct turns turns;	    /* tolerant: so many steps of each thread, in turn */
};

void carried_deinit(struct carried *c)
{
	run_result_deinit(&c->run);
	free(c->clock);
	c->clock = NULL;
}

/* ---- the schedule as turns ---- */

static void add_turn(struct plan *p, uint64_t step, uint32_t thread, uint64_t upto, bool say)
{
	if (say)
		vec_push(&p->decisions, ((struct decision){ step, DECISION_SWITCH, thread }));
	vec_push(&p->turns, ((struct plait_turn){ thread, PLAIT_ANY, upto }));
}

static void add_choice(struct plan *p, uint64_t step, uint32_t choice)
{
	vec_push(&p->turns, ((struct plait_turn){ PLAIT_ANY, PLAIT_ANY, choice }));
	vec_push(&p->decisions, ((struct decision){ step, DECISION_CHOICE, choice }));
}

/* A wait that gives up while another thread has its mutex is a decision without an event. */
static void add_giving_up(struct plan *p, uint64_t step, uint32_t thread)
{
	vec_push(&p->decisions, ((struct decision){ step, DECISION_SWITCH, thread }));
}

static void decide(struct plan *p)
{
	uint64_t *done = xcalloc(p->nthreads + 1, sizeof(*done)), step = 0;
	uint32_t current = 0, last;
	size_t i;

	vec_clear(&p->decisions);
	vec_clear(&p->turns);
	step = done[0] = p->alone;
	for (i = 0; i < p->n && (p->count[i] || p->ops[i].gives_up); i++) {
		const struct carry_op *o = &p->ops[i];

		if (o->gives_up) {
			add_giving_up(p, step, o->thread);
			current = PLAIT_ANY; /* the one that goes on now must be named */
			continue;
		}
		if (p->count[i] > done[o->thread]) {
			add_turn(p, step, o->thread, p->count[i],
				 current != o->thread || o->expires);
			current = o->thread;
			step += p->count[i] - done[o->thread];
			done[o->thread] = p->count[i];
		}
		if (o->nchoices > 1)
			add_choice(p, step - p->along[i], o->choice);
	}
	/* where the next one is nobody knows: let its thread run to it, and not wait for others there */
	last = i < p->n ? p->ops[i].thread : p->end->last;
	if (last != PLAIT_ANY && (p->alone || !p->skips_alone))
		add_turn(p, step, last, UINT64_MAX,
			 last != current || (i < p->n && p->ops[i].expires));
	turns_link(&p->turns);
	free(done);
}

/* ---- what the run did ---- */

static bool is_kind(uint32_t wanted, uint32_t kind)
{
	if (wanted == PLAIT_EV_NONE)
		return plait_is_step(kind);
	return kind == wanted || (wanted == PLAIT_EV_ONCE_BEGIN && kind == PLAIT_EV_ONCE_PASS);
}

static bool is_same(const struct carry_op *o, const struct event *ev)
{
	return is_kind(o->kind, ev->kind) && (o->site == PLAIT_ANY || o->site == ev->site);
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

/* Gives a lock or memory back: not every proposer stops before those. */
static bool gives_back(uint32_t kind)
{
	return plait_releases(kind) || kind == PLAIT_EV_FREE;
}

/* A step that is not a scheduling point comes along with the step before it, whether the proposer
 * knows it or not. So does one that gives something back, unless the proposer stops before those. */
static bool comes_with_previous(const struct plan *p, uint32_t kind)
{
	return plait_is_step(kind) &&
	       (!plait_is_point(kind) || (gives_back(kind) && !p->stops_at_release));
}

/* An operation that a proposer would have named. Threads start by themselves. */
static bool is_choice(uint32_t kind)
{
	return plait_is_step(kind) && plait_is_point(kind) && !gives_back(kind) &&
	       kind != PLAIT_EV_START && kind != PLAIT_EV_EXIT;
}

/* Matching one thread's events with its operations. */
struct matching {
	VEC(size_t) own; /* its operations */
	size_t at;	 /* the next of them */
	uint64_t ahead;	 /* how much the native count is ahead of the proposer's */
	uint64_t last;	 /* clock of the last event that belongs to a matched operation */
};

static void match_event(struct plan *p, struct matching *m, const struct decisions *d,
			const struct event *ev)
{
	size_t i = m->at < m->own.len ? m->own.data[m->at] : SIZE_MAX;

	if (i != SIZE_MAX && is_same(&p->ops[i], ev)) {
		p->seen[i] = ev->clock;
		p->along[i] = 0;
		p->count[i] = steps_until(d, ev->thread, ev->clock);
		m->ahead = p->count[i] - p->ops[i].count;
		m->last = ev->clock;
		m->at++;
	} else if (m->at && comes_with_previous(p, ev->kind) && ev->clock == m->last + 1) {
		p->count[m->own.data[m->at - 1]]++;
		p->along[m->own.data[m->at - 1]]++;
		m->last = ev->clock;
	} else if (m->at == m->own.len && is_choice(ev->kind)) {
		p->beyond = MIN(p->beyond, ev->clock);
	}
}

/* What did not happen is expected where the proposer says, shifted as what came before it was. */
static void expect_rest(struct plan *p, const struct matching *m)
{
	for (size_t k = m->at; k < m->own.len; k++) {
		size_t i = m->own.data[k];

		p->count[i] = p->ops[i].count ? p->ops[i].count + m->ahead : 0;
		p->along[i] = 0;
	}
}

static struct err *match(struct plan *p, struct trace *trace, const struct run_result *run)
{
	struct matching *threads = xcalloc(p->nthreads, sizeof(*threads));
	uint32_t alive = 1;
	const struct event *ev;
	struct cursor c;
	struct err *err;

	for (size_t i = 0; i < p->n; i++)
		if (!p->ops[i].gives_up)
			vec_push(&threads[p->ops[i].thread].own, i);
	memset(p->seen, 0, p->n * sizeof(*p->seen));
	p->beyond = UINT64_MAX;
	cursor_init(&c, trace, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev) {
		if (ev->thread < p->nthreads && !(p->skips_alone && alive < 2))
			match_event(p, &threads[ev->thread], &run->schedule.decisions, ev);
		if (ev->kind == PLAIT_EV_FORK && alive == 1 && !ev->thread && !p->alone)
			p->alone = steps_until(&run->schedule.decisions, 0, ev->clock);
		alive += ev->kind == PLAIT_EV_FORK;
		alive -= ev->kind == PLAIT_EV_EXIT;
	}
	cursor_deinit(&c);
	for (uint32_t t = 0; t < p->nthreads; t++) {
		expect_rest(p, &threads[t]);
		vec_deinit(&threads[t].own);
	}
	free(threads);
	return err;
}

/* A thread has gone further than it was asked to, before the last operation. Then the order of the
 * operations alone says little: a run of one thread after the other has many orders. */
static bool went_too_far(const struct plan *p)
{
	return p->n && p->beyond < p->seen[p->n - 1];
}

/* How many operations happened one after the other as asked. */
static size_t followed(const struct plan *p)
{
	uint64_t last = 0;
	size_t n;

	for (n = 0; n < p->n; n++) {
		uint64_t clock = p->seen[n];

		if (p->ops[n].gives_up)
			continue;
		if ((!clock || clock < last) && p->ops[n].kind != PLAIT_EV_START)
			break;
		last = MAX(clock, last);
	}
	return n;
}

static struct err *look(struct plan *p, const char *dir, struct carried *r)
{
	struct trace *trace;
	struct err *err = trace_open(dir, &trace);

	if (err)
		return err;
	err = match(p, trace, &r->run);
	trace_close(trace);
	r->matched = followed(p);
	r->followed = r->matched == p->n && !went_too_far(p);
	return err;
}

/* ---- until it fits ---- */

/* A run that goes astray behind the decisions need not go on for long. */
static uint64_t enough_steps(const struct plan *p)
{
	uint64_t most = p->n;

	for (size_t i = 0; i < p->n; i++)
		most = MAX(most, p->count[i]);
	return 16 * most * p->nthreads + 10000;
}

static struct err *run_once(struct session *session, struct plan *p, const char *dir, bool exact,
			    uint64_t budget, struct carried *r)
{
	struct run_request req = { .strategy = exact ? PLAIT_STRATEGY_STAY : PLAIT_STRATEGY_FOLLOW,
				   .points = PLAIT_POINTS_ALL,
				   .flags = exact ? PLAIT_CONTROL_PREFIX : PLAIT_CONTROL_EAGER,
				   .event_budget = budget,
				   .record_dir = dir };
	struct err *err;

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
	return err ? err : look(p, dir, r);
}

static struct err *attempt(struct session *session, struct plan *p, const char *dir, bool exact,
			   struct carried *r)
{
	struct err *err;

	decide(p);
	err = run_once(session, p, dir, exact, enough_steps(p), r);
	if (!err && r->followed && r->run.end == PLAIT_END_BUDGET)
		err = run_once(session, p, dir, exact, 0, r);
	log_debug(1, "attempt %u: %zu of %zu operations as asked, outcome %s%s%s", r->runs,
		  r->matched, p->n, outcome_name(r->run.outcome), r->run.text ? ": " : "",
		  r->run.text ? r->run.text : "");
	return err;
}

/* Correct the counts and try again, as long as that helps. */
static struct err *attempts(struct session *session, struct plan *p, const char *dir, bool exact,
			    struct carried *r)
{
	struct err *err = NULL;
	size_t best = 0;
	unsigned idle = 0;

	r->followed = false;
	for (unsigned i = 0; i < MAX_RUNS + p->n && idle < 2 && !err && !r->followed; i++) {
		err = attempt(session, p, dir, exact, r);
		idle = r->matched > best ? 0 : idle + 1;
		best = MAX(best, r->matched);
	}
	return err;
}

/* The same up to the last operation asked for, then another strategy. */
static struct err *end_otherwise(struct session *session, struct plan *p, struct carried *r)
{
	struct run_request req = { .strategy = p->end->strategy,
				   .seed = p->end->seed,
				   .points = PLAIT_POINTS_ALL,
				   .flags = PLAIT_CONTROL_PREFIX };
	const struct decisions *d = &r->run.schedule.decisions;
	uint64_t until = 0;
	struct run_result other = { 0 };
	struct err *err;

	for (size_t i = 0; i < p->n; i++)
		until = MAX(until, p->seen[i]);
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

static bool something_expires(const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->ops[i].expires)
			return true;
	return false;
}

struct err *carry_out(struct session *session, const struct carry_schedule *schedule,
		      const struct carry_end *end, struct carried *ret)
{
	struct plan p = { .ops = schedule->ops,
			  .n = schedule->n,
			  .skips_alone = schedule->skips_alone,
			  .stops_at_release = schedule->stops_at_release,
			  .nthreads = 1,
			  .end = end };
	_cleanup_(xfreep) char *dir = NULL;
	struct err *err = file_temp_dir(&dir);

	*ret = (struct carried){ 0 };
	if (err)
		return err;
	p.count = xcalloc(p.n + 1, sizeof(*p.count));
	p.along = xcalloc(p.n + 1, sizeof(*p.along));
	p.seen = xcalloc(p.n + 1, sizeof(*p.seen));
	for (size_t i = 0; i < p.n; i++) {
		assert(p.ops[i].site != PLAIT_ANY || p.ops[i].kind != PLAIT_EV_NONE);
		p.count[i] = p.ops[i].count;
		p.nthreads = MAX(p.nthreads, p.ops[i].thread + 1);
	}
	if (end->last != PLAIT_ANY)
		p.nthreads = MAX(p.nthreads, end->last + 1);
	err = attempts(session, &p, dir, true, ret);
	if (!err && ret->run.diverged)
		err = attempts(session, &p, dir, false, ret);
	/* the tolerant way never lets a wait time out; now the counts are known */
	if (!err && ret->followed && something_expires(&p))
		err = attempts(session, &p, dir, true, ret);
	if (!err && ret->followed && end->strategy != PLAIT_STRATEGY_FOLLOW)
		err = end_otherwise(session, &p, ret);
	file_remove_tree(dir);
	free(p.count);
	free(p.along);
	ret->clock = p.seen;
	vec_deinit(&p.decisions);
	vec_deinit(&p.turns);
	return err;
}
