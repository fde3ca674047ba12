/* race/meet.c - the racing state: both accesses pending at once.
 *
 * An instance is a recorded run in which two accesses raced. We follow its decisions up to the
 * first access, hold that thread back, and let the others go on until one of them is about to make
 * the second access (PLAIT_CONSTRAINT_MEET, rt/control/meet.c). From this state the accesses are made
 * in both orders, adjacent to each other. The decisions of these two runs up to there are the two
 * ways into which everything behind is put.
 *
 * How the others go on decides whether they get there, so several strategies are tried. When every
 * one of them ends with the others stuck (waiting, or repeating themselves exactly), then the
 * second access needs the first one before it: this order is the only one. */
#define LOG_DOMAIN "race"
#include "race/study.h"

#include "base/err.h"
#include "base/log.h"
#include "sched/strategy.h"
#include "trace/trace.h"

void meeting_deinit(struct meeting *m)
{
	vec_deinit(&m->way[0]);
	vec_deinit(&m->way[1]);
	memset(m, 0, sizeof(*m));
}

/* Any time that the thread comes to this place. Addresses are not compared: those of the heap may
 * be others in this run, and the engine looks whether the accesses conflict. */
static struct plait_pattern place_of(const struct race_access *a)
{
	return (struct plait_pattern){
		.thread = a->thread, .site_low = a->site, .site_high = a->site, .nth = PLAIT_ANY
	};
}

/* Exactly this event of its thread, as long as the run is followed. */
static struct plait_pattern event_of(const struct schedule *s, const struct race_access *a)
{
	struct plait_pattern p = place_of(a);

	p.index = schedule_events(s, a->thread, a->step);
	return p;
}

/* What the others do while the first is held back. */
static const struct held_way {
	uint32_t strategy;
	uint64_t seed;
	bool anybody; /* the second access may be another thread's */
} held_ways[] = {
	{ PLAIT_STRATEGY_FOLLOW, 0, false }, { PLAIT_STRATEGY_STAY, 0, false },
	{ PLAIT_STRATEGY_RANDOM, 1, false }, { PLAIT_STRATEGY_RANDOM, 2, true },
	{ PLAIT_STRATEGY_POS, 3, true },
};

/* Who makes the step with this clock. */
static uint32_t thread_at(const struct schedule *s, uint64_t clock)
{
	uint32_t thread = 0;

	for (size_t i = 0; i < s->decisions.len && s->decisions.data[i].step < clock; i++)
		if (s->decisions.data[i].kind != DECISION_CHOICE)
			thread = s->decisions.data[i].value;
	return thread;
}

/* The decisions up to the step with this clock, which is not decided any more. A prefix is over
 * with its last decision, and the strategy may then take the processor away before that step: so
 * that the step before it happens too, its thread is named once more. */
static void prefix_of(const struct schedule *s, uint64_t clock, struct decisions *ret)
{
	size_t n = schedule_prefix(s, clock);

	for (size_t i = 0; i < n; i++)
		vec_push(ret, s->decisions.data[i]);
	if (clock < 2 || (n && ret->data[n - 1].step + 2 >= clock))
		return;
	vec_push(ret, (struct decision){ clock - 2, DECISION_SWITCH, thread_at(s, clock - 1) });
}

/* What a request borrows. */
struct lent {
	struct turns turns;
	struct decisions prefix;
};

static void lent_deinit(struct lent *l)
{
	vec_deinit(&l->turns);
	vec_deinit(&l->prefix);
}

/* The request up to the first access. */
static struct run_request request_of(const struct study *s, const struct instance *in,
				     const struct held_way *way, struct lent *lent)
{
	const struct study_run *run = &s->runs.data[in->run];
	struct run_request req = {
		.strategy = way->strategy,
		.seed = way->seed,
		.points = PLAIT_POINTS_ALL,
		.flags = PLAIT_CONTROL_PREFIX | PLAIT_CONTROL_AGAIN,
		.point_budget = s->budget,
	};

	prefix_of(&run->schedule, in->first.step, &lent->prefix);
	req.decisions = lent->prefix.data;
	req.ndecisions = lent->prefix.len;
	if (way->strategy == PLAIT_STRATEGY_FOLLOW) {
		schedule_turns(&run->schedule, &lent->turns);
		turns_link(&lent->turns);
		req.turns = lent->turns.data;
		req.nturns = lent->turns.len;
		req.flags |= PLAIT_CONTROL_EAGER; /* a sleeper is due when its turn comes */
	}
	return req;
}

/* The decisions of a run up to the step of this clock, then: `first` makes that step, `second` the
 * next. */
static void cut(const struct schedule *s, uint64_t clock, uint32_t first, uint32_t second,
		struct decisions *ret)
{
	const struct decision *last = NULL;

	vec_clear(ret);
	for (size_t i = 0; i < s->decisions.len && s->decisions.data[i].step < clock; i++)
		vec_push(ret, s->decisions.data[i]);
	last = ret->len ? vec_last(ret) : NULL;
	if (!last || last->step + 1 < clock || last->kind == DECISION_CHOICE)
		vec_push(ret, (struct decision){ clock - 1, DECISION_SWITCH, first });
	vec_push(ret, (struct decision){ clock, DECISION_SWITCH, second });
}

static struct err *try_way(struct study *s, const struct instance *in, const struct held_way *way,
			   uint32_t nth, struct meeting *ret)
{
	uint32_t input = s->runs.data[in->run].input;
	const struct schedule *schedule = &s->runs.data[in->run].schedule;
	bool frees = in->second.kind == PLAIT_EV_FREE;
	struct plait_constraint c = { .kind = PLAIT_CONSTRAINT_MEET,
				      .a = event_of(schedule, &in->first),
				      .b = frees ? event_of(schedule, &in->second)
						 : place_of(&in->second) };
	_cleanup_(lent_deinit) struct lent lent = { 0 };
	struct run_request req = request_of(s, in, way, &lent);
	struct run_result r = { 0 };
	struct err *err = NULL;

	c.b.nth = nth;
	if (way->anybody && !frees)
		c.b.thread = PLAIT_ANY;
	req.constraints = &c;
	req.nconstraints = 1;
	for (int order = 0; order < 2 && !err; order++) {
		c.flags = order ? PLAIT_CONSTRAINT_REVERSED : 0;
		err = study_run(s, input, &req, &r);
		if (err)
			break;
		ret->fate = r.constraint_fate[0];
		if (ret->fate != PLAIT_FATE_MET)
			break;
		cut(&r.schedule, r.meet_step, r.meet_thread[order], r.meet_thread[!order],
		    &ret->way[order]);
		ret->step = r.meet_step;
		ret->thread[0] = r.meet_thread[0];
		ret->thread[1] = r.meet_thread[1];
	}
	run_result_deinit(&r);
	return err;
}

struct err *race_meet(struct study *s, const struct instance *in, uint32_t nth, struct meeting *ret)
{
	bool impossible = true;
	struct err *err = NULL;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < ARRAY_SIZE(held_ways) && !err; i++) {
		if (i && study_out_of_time(s)) {
			impossible = false;
			break;
		}
		err = try_way(s, in, &held_ways[i], nth, ret);
		log_debug(2, "held at step %llu, %s: fate %d", (unsigned long long)in->first.step,
			  sched_strategy_name(held_ways[i].strategy), ret->fate);
		if (ret->fate == PLAIT_FATE_MET)
			return err;
		impossible &= ret->fate == PLAIT_FATE_IMPOSSIBLE;
	}
	ret->fate = impossible ? PLAIT_FATE_IMPOSSIBLE : PLAIT_FATE_OPEN;
	return err;
}

/* ---- flags ---- */

/* What the waiting thread does until the write: it must come back to its read and do nothing that
 * others could see. */
struct waiting {
	const struct race_access *read;
	uint64_t reads; /* since it did something else */
};

static void look(struct waiting *w, const struct event *ev)
{
	if (ev->thread != w->read->thread)
		return;
	/* the optimiser gives a loop's first look a site of its own */
	if (plait_is_access(ev->kind) && !plait_writes(ev->kind) && ev->address == w->read->address)
		w->reads++;
	else if (plait_writes(ev->kind) || plait_acquires(ev->kind) ||
		 ev->kind == PLAIT_EV_OUTPUT || ev->kind == PLAIT_EV_EXIT)
		w->reads = 0;
}

static struct err *reads_until(struct trace *t, const struct race_access *read,
			       const struct race_access *write, uint64_t from, uint64_t *ret)
{
	struct waiting w = { .read = read };
	_cleanup_(cursor_deinit) struct cursor cur;
	const struct event *ev;
	struct err *err;

	cursor_init(&cur, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&cur, &ev)) && ev) {
		if (ev->clock >= from && ev->thread == write->thread && ev->site == write->site &&
		    ev->address == write->address)
			break;
		look(&w, ev);
	}
	*ret = w.reads;
	return err;
}

struct err *race_is_flag(struct study *s, const struct instance *in, bool *ret)
{
	const struct race_access *read = in->first.is_write ? &in->second : &in->first;
	const struct race_access *write = in->first.is_write ? &in->first : &in->second;
	/* nobody matches b: the write waits until nobody else makes progress */
	struct plait_constraint c = { .kind = PLAIT_CONSTRAINT_MEET,
				      .a = place_of(write),
				      .b = { .thread = PLAIT_ANY - 1, .site_low = PLAIT_ANY } };
	_cleanup_(lent_deinit) struct lent lent = { 0 };
	struct run_request req = request_of(s, in, &held_ways[1], &lent);
	struct run_result r = { 0 };
	struct trace *t = NULL;
	uint64_t reads = 0;
	struct err *err;

	*ret = false;
	if (read->is_write || write->kind == PLAIT_EV_FREE)
		return NULL;
	req.constraints = &c;
	req.nconstraints = 1;
	req.flags &= ~(uint32_t)PLAIT_CONTROL_AGAIN;
	err = study_record(s, s->runs.data[in->run].input, &req, &r, &t);
	if (!err && r.constraint_fate[0] == PLAIT_FATE_IMPOSSIBLE)
		err = reads_until(t, read, write, in->first.step, &reads);
	*ret = reads > 1;
	trace_close(t);
	run_result_deinit(&r);
	return err;
}
