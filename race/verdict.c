/* race/verdict.c - what a race does: both orders from the same state, then the same continuation.
 *
 * For every instance: reach the racing state (meet.c). A side that only waits for the other's write
 * is a flag, and a state that nobody can reach shows that one order is the only one: single
 * ordering. If both orders lead to the same state (states.c) nothing behind it can differ.
 * Otherwise pairs of runs, which leave the state in the two orders and then see the same choices:
 * those of the recorded run, then of strategies with equal seeds. A pair that ends differently is a
 * suspicion. It becomes a verdict when the difference is this race's doing: one run of the pair is
 * followed with nothing but the two accesses turned round (turn.c), and the ending differs still. Without this check a race that shifts the random choices would be blamed
 * for what its neighbour does. Both runs are then replayed; a run that prints something else when
 * it is replayed says nothing about output. */
#define LOG_DOMAIN "race"
#include "race/study.h"

#include "base/err.h"
#include "base/log.h"

enum { REPLAYS = 5 };

/* Two runs that are shown: endings of both ways of an instance. */
struct shown {
	struct ending way[2];
	const struct instance *in;
	uint64_t step;
	uint32_t thread[2];
};

static void shown_deinit(struct shown *s)
{
	ending_deinit(&s->way[0]);
	ending_deinit(&s->way[1]);
}

static uint32_t input_of(const struct study *s, const struct instance *in)
{
	return s->runs.data[in->run].input;
}

/* ---- continuations ---- */

/* The n-th continuation; turns must stay until it has run. */
static struct run_request continuation(const struct study *s, const struct instance *in, unsigned n,
				       struct turns *turns)
{
	static const uint32_t strategies[] = { PLAIT_STRATEGY_RANDOM, PLAIT_STRATEGY_POS,
					       PLAIT_STRATEGY_RANDOM, PLAIT_STRATEGY_PCT };
	const struct study_run *run = &s->runs.data[in->run];
	struct run_request req = { .strategy = strategies[n % ARRAY_SIZE(strategies)],
				   .seed = s->o->seed + n,
				   .depth = 3,
				   .length = run->points };

	if (n)
		return req;
	schedule_turns(&run->schedule, turns);
	turns_link(turns);
	req.strategy = PLAIT_STRATEGY_FOLLOW;
	req.turns = turns->data;
	req.nturns = turns->len;
	req.flags = PLAIT_CONTROL_EAGER;
	return req;
}

static struct err *run_pair(struct study *s, const struct instance *in, const struct meeting *m,
			    unsigned n, struct shown *ret)
{
	struct turns turns = { 0 };
	struct run_request req = continuation(s, in, n, &turns);
	struct err *err = pair_run(s, input_of(s, in), &m->way[0], &req, &ret->way[0]);

	if (!err)
		err = pair_run(s, input_of(s, in), &m->way[1], &req, &ret->way[1]);
	vec_deinit(&turns);
	ret->in = in;
	ret->step = m->step;
	ret->thread[0] = m->thread[0];
	ret->thread[1] = m->thread[1];
	return err;
}

/* ---- blame ---- */

static struct err *confirm_both(struct study *s, struct group *g, struct shown *pair, bool *repeats,
				bool *stable)
{
	struct err *err = NULL;

	*repeats = *stable = true;
	for (int w = 0; w < 2 && !err; w++) {
		struct race_order *o = &g->race.order[w ^ pair->in->turned];
		bool prints_same;

		o->tried = REPLAYS;
		err = ending_confirm(s, input_of(s, pair->in), &pair->way[w], REPLAYS, &o->same,
				     &prints_same);
		*repeats &= o->same == o->tried;
		*stable &= prints_same;
	}
	/* a line that changes by itself on one side does not count on the other either */
	ending_mask(s, input_of(s, pair->in), &pair->way[0]);
	ending_mask(s, input_of(s, pair->in), &pair->way[1]);
	return err;
}

static bool is_difference(enum difference d)
{
	return d == DIFFERENCE_OUTPUT || d == DIFFERENCE_FAILURE;
}

/* How the two runs of a pair differ. Prints in another order are no difference. */
static struct err *compare(struct study *s, const struct shown *pair, struct tally *tally,
			   enum difference *ret)
{
	bool alike = false;
	struct err *err = NULL;

	*ret = ending_compare(&pair->way[0], &pair->way[1]);
	if (*ret == DIFFERENCE_OUTPUT)
		err = race_prints_alike(s, input_of(s, pair->in), &pair->way[0], &pair->way[1],
					&alike);
	if (alike)
		*ret = DIFFERENCE_NONE;
	tally->reordered += alike;
	return err;
}

/* Is the pair's difference this race's doing? *ret: what it shows. */
static struct err *blame(struct study *s, struct group *g, const struct meeting *m,
			 struct shown *pair, struct tally *tally, enum difference *ret)
{
	enum difference d = DIFFERENCE_NONE;
	int kept = pair->way[1].failed;
	bool repeats, stable;
	struct err *err = race_turn_round(s, input_of(s, pair->in), &m->way[!kept],
					  &pair->way[kept], &pair->way[!kept]);

	*ret = DIFFERENCE_NONE;
	if (!err)
		err = compare(s, pair, tally, &d);
	if (err || !is_difference(d))
		return err;
	err = confirm_both(s, g, pair, &repeats, &stable);
	if (err || !repeats)
		return err;
	*ret = ending_compare(&pair->way[0], &pair->way[1]);
	if (*ret == DIFFERENCE_OUTPUT && !stable) {
		tally->unstable++;
		*ret = DIFFERENCE_NONE;
	}
	return NULL;
}

/* ---- what is kept to be shown ---- */

static void take_ending(struct race_order *o, struct ending *e)
{
	run_result_deinit(&o->run);
	free(o->out);
	free(o->errors);
	o->seen = true;
	o->run = e->run;
	o->out = e->out;
	o->errors = e->errors;
	memset(e, 0, sizeof(*e));
}

static void take_needs(struct study *s, struct race *r, uint32_t input)
{
	const struct study_input *in = s->inputs.data[input];

	if (!input || r->needs)
		return;
	if (in->target.env) {
		if (!r->note)
			r->note = xasprintf("it needs %s in the environment", in->target.env[0]);
		return;
	}
	for (size_t n = 0;; n++) {
		r->needs = xreallocarray(r->needs, n + 1, sizeof(*r->needs));
		r->needs[n] = in->target.argv[n] ? xstrdup(in->target.argv[n]) : NULL;
		if (!r->needs[n])
			return;
	}
}

static void keep(struct study *s, struct group *g, struct shown *pair)
{
	struct race *r = &g->race;

	for (int w = 0; w < 2; w++) {
		int order = w ^ pair->in->turned;

		if (pair->way[w].failed)
			r->failing = order;
		take_ending(&r->order[order], &pair->way[w]);
		g->shown_step = pair->step;
		/* whose access is which side's */
		g->shown_thread[w ^ pair->in->turned] = pair->thread[w]; /* side */
	}
	g->shown_input = input_of(s, pair->in);
	take_needs(s, r, g->shown_input);
}

/* ---- one instance ---- */

/* What a pair has shown, after the check for blame. */
static void take_pair(struct study *s, struct group *g, enum difference d, struct shown *pair)
{
	struct race *r = &g->race;
	enum race_verdict v = d == DIFFERENCE_FAILURE  ? RACE_SPEC_VIOLATED
			      : d == DIFFERENCE_OUTPUT ? RACE_OUTPUT_DIFFERS
						       : RACE_NOT_JUDGED;

	if (v > r->verdict)
		r->verdict = v;
	else if (d != DIFFERENCE_NONE || r->order[0].seen)
		return;
	keep(s, g, pair);
}

/* The continuations from number `from` on, less than `upto`. */
static struct err *judge_pairs(struct study *s, struct group *g, const struct instance *in,
			       const struct meeting *m, unsigned from, unsigned upto)
{
	struct tally *tally = &g->tally;
	struct err *err = NULL;

	for (unsigned n = from; n < upto && !err; n++) {
		struct shown pair = { 0 };
		enum difference d = DIFFERENCE_UNKNOWN;

		err = run_pair(s, in, m, n, &pair);
		if (!err)
			err = compare(s, &pair, tally, &d);
		tally->pairs += d < DIFFERENCE_UNKNOWN;
		tally->both += d == DIFFERENCE_BOTH;
		log_debug(1, "race %u: pair %u: %d", g->race.id, n, d);
		if (!err && (d == DIFFERENCE_FAILURE ||
			     (d == DIFFERENCE_OUTPUT && g->race.verdict < RACE_OUTPUT_DIFFERS)))
			err = blame(s, g, m, &pair, tally, &d);
		if (!err)
			take_pair(s, g, d, &pair);
		shown_deinit(&pair);
		if (g->race.verdict == RACE_SPEC_VIOLATED || study_out_of_time(s))
			break;
	}
	return err;
}

/* Both orders fail, whatever comes behind: an earlier round of a loop, in which the next round fails
 * anyway. The last round in which the two can meet is the one that tells. */
static struct err *judge_last_round(struct study *s, struct group *g, const struct instance *in)
{
	enum { ROUNDS = 1 << 12 };
	uint32_t low = 1, high = 2; /* the first can be met; nobody knows about the second */
	struct meeting m = { 0 };
	struct err *err = NULL;

	for (bool found = false;
	     !err && low + 1 < high + !found && high < ROUNDS && !study_out_of_time(s);) {
		uint32_t nth = found ? (low + high) / 2 : high;

		meeting_deinit(&m);
		err = race_meet(s, in, nth, &m);
		if (m.fate == PLAIT_FATE_MET) {
			low = nth;
			high = found ? high : nth * 2;
		} else {
			high = nth;
			found = true;
		}
	}
	meeting_deinit(&m);
	if (!err && low > 1)
		err = race_meet(s, in, low, &m);
	if (!err && low > 1 && m.fate == PLAIT_FATE_MET)
		err = judge_pairs(s, g, in, &m, 0, s->o->schedules);
	meeting_deinit(&m);
	return err;
}

/* Reach the racing state and see what it is; *ret: the states behind the two orders, UNKNOWN when
 * there are none to compare. */
static struct err *look_at_meeting(struct study *s, struct group *g, const struct instance *in,
				   struct meeting *m, enum race_states *ret)
{
	struct tally *tally = &g->tally;
	bool flag = false;
	struct err *err = race_meet(s, in, 1, m);

	*ret = RACE_STATES_UNKNOWN;
	if (!err && m->fate == PLAIT_FATE_MET)
		err = race_is_flag(s, in, &flag);
	if (!err && m->fate == PLAIT_FATE_MET && !flag)
		err = race_states(s, input_of(s, in), m, ret);
	tally->impossible += m->fate == PLAIT_FATE_IMPOSSIBLE;
	tally->unknown += m->fate != PLAIT_FATE_IMPOSSIBLE && m->fate != PLAIT_FATE_MET;
	tally->flags += flag;
	tally->met += *ret != RACE_STATES_UNKNOWN;
	tally->same += *ret == RACE_STATES_SAME;
	if (*ret != RACE_STATES_UNKNOWN)
		tally->inputs |= 1ull << MIN(input_of(s, in), 63);
	log_debug(1, "race %u: fate %d, flag %d, states %d", g->race.id, m->fate, flag, *ret);
	return err;
}

static struct err *judge_instance(struct study *s, struct group *g, const struct instance *in)
{
	unsigned pairs = g->tally.pairs, both = g->tally.both;
	struct meeting m = { 0 };
	enum race_states states;
	struct err *err = look_at_meeting(s, g, in, &m, &states);

	if (!err && (states == RACE_STATES_DIFFER ||
		     (states == RACE_STATES_SAME && !g->race.order[0].seen)))
		err = judge_pairs(s, g, in, &m, 0, s->o->schedules);
	meeting_deinit(&m);
	if (!err && g->tally.pairs == pairs && g->tally.both > both)
		err = judge_last_round(s, g, in);
	return err;
}

/* The first instance once more: its racing state is known, and its first pair has run. */
static struct err *judge_rest_of_first(struct study *s, struct group *g)
{
	const struct instance *in = &g->instances.data[0];
	struct meeting m = { 0 };
	struct err *err;

	if (g->tally.first == RACE_STATES_UNKNOWN)
		return NULL;
	err = race_meet(s, in, 1, &m);
	if (!err && m.fate == PLAIT_FATE_MET)
		err = judge_pairs(s, g, in, &m, 1, s->o->schedules);
	meeting_deinit(&m);
	if (!err && !g->tally.pairs && g->tally.both)
		err = judge_last_round(s, g, in);
	return err;
}

/* ---- all of them ---- */

/* The order that can happen, as the recorded run showed it. */
static struct err *show_recorded(struct study *s, struct group *g)
{
	const struct instance *in = &g->instances.data[0];
	const struct study_run *run = &s->runs.data[in->run];
	struct run_request req = schedule_request(&run->schedule);
	struct race_order *o = &g->race.order[in->turned];
	struct ending e = { 0 };
	bool stable;
	struct err *err = pair_run(s, run->input, &run->schedule.decisions, &req, &e);

	o->tried = REPLAYS;
	if (!err)
		err = ending_confirm(s, run->input, &e, REPLAYS, &o->same, &stable);
	if (!err)
		take_ending(o, &e);
	g->shown_input = run->input;
	ending_deinit(&e);
	return err;
}

/* Whenever the two accesses come together the program fails, in either order. Where the recorded
 * run, in which they are apart, passes, the other order is the failure, as in the paper: primary and
 * alternate (001 section 7.2.2). */
static struct err *judge_apart(struct study *s, struct group *g, const struct instance *in)
{
	const struct study_run *run = &s->runs.data[in->run];
	struct run_request req = schedule_request(&run->schedule);
	struct shown pair = { .in = in };
	struct meeting m = { 0 };
	bool repeats = false, stable;
	struct err *err = pair_run(s, run->input, &run->schedule.decisions, &req, &pair.way[0]);

	if (!err && !pair.way[0].failed)
		err = race_meet(s, in, 1, &m);
	req = (struct run_request){ .strategy = PLAIT_STRATEGY_STAY };
	if (!err && m.fate == PLAIT_FATE_MET)
		err = pair_run(s, run->input, &m.way[1], &req, &pair.way[1]);
	if (!err && pair.way[1].failed)
		err = confirm_both(s, g, &pair, &repeats, &stable);
	if (!err && repeats) {
		g->race.verdict = RACE_SPEC_VIOLATED;
		g->race.note =
			xstrdup("it fails in both orders when the two accesses come together; "
				"in the order that passes they are apart");
		keep(s, g, &pair);
		g->shown_step = 0; /* in the passing run they are elsewhere */
	}
	meeting_deinit(&m);
	shown_deinit(&pair);
	return err;
}

static void conclude(struct group *g)
{
	const struct tally *t = &g->tally;
	struct race *r = &g->race;

	r->instances = (unsigned)g->instances.len;
	r->met = t->met;
	r->paths = (unsigned)__builtin_popcountll(t->inputs);
	r->schedules = r->paths ? t->pairs / r->paths : 0;
	r->states = !t->met		? RACE_STATES_UNKNOWN
		    : t->same == t->met ? RACE_STATES_SAME
					: RACE_STATES_DIFFER;
	if (r->verdict >= RACE_OUTPUT_DIFFERS)
		return;
	if (t->met && r->states != RACE_STATES_SAME && !t->pairs)
		r->verdict = RACE_UNDECIDED;
	else if (t->met)
		r->verdict = t->unstable ? RACE_NOT_STABLE : RACE_HARMLESS;
	else if (t->impossible + t->flags && !t->unknown)
		r->verdict = RACE_SINGLE_ORDERING;
	else
		r->verdict = RACE_NOT_REPRODUCED;
	if (r->verdict == RACE_HARMLESS && t->reordered && !r->note)
		r->note = xstrdup("threads print in another order; each of them prints the same");
}

/* What is shown repeats: also of a race that does nothing. */
static struct err *confirm_shown(struct study *s, struct group *g)
{
	struct err *err = NULL;

	for (int i = 0; i < 2 && !err; i++) {
		struct race_order *o = &g->race.order[i];
		struct ending e = { .run = o->run, .out = o->out, .errors = o->errors };
		bool stable;

		if (!o->seen || o->tried)
			continue;
		o->tried = REPLAYS;
		err = ending_confirm(s, g->shown_input, &e, REPLAYS, &o->same, &stable);
		o->out = e.out;
		o->errors = e.errors;
	}
	return err;
}

struct err *race_glance(struct study *s, struct group *g)
{
	double begin = clock_seconds();
	struct meeting m = { 0 };
	struct err *err = NULL;

	if (g->instances.len)
		err = look_at_meeting(s, g, &g->instances.data[0], &m, &g->tally.first);
	if (!err && g->tally.first != RACE_STATES_UNKNOWN)
		err = judge_pairs(s, g, &g->instances.data[0], &m, 0, MIN(1, s->o->schedules));
	meeting_deinit(&m);
	conclude(g);
	g->race.seconds += clock_seconds() - begin;
	return err;
}

struct err *race_judge(struct study *s, struct group *g)
{
	double begin = clock_seconds();
	struct err *err = NULL;

	for (size_t i = 0; i < g->instances.len && !err && !study_out_of_time(s); i++) {
		if (g->race.verdict == RACE_SPEC_VIOLATED)
			break;
		err = i ? judge_instance(s, g, &g->instances.data[i]) : judge_rest_of_first(s, g);
	}
	conclude(g);
	for (size_t i = 0; i < g->instances.len && g->race.verdict == RACE_UNDECIDED && !err &&
			   !study_out_of_time(s);
	     i++)
		err = judge_apart(s, g, &g->instances.data[i]);
	if (!err && !g->race.order[0].seen && !g->race.order[1].seen && g->instances.len)
		err = show_recorded(s, g);
	if (!err)
		err = confirm_shown(s, g);
	g->race.seconds += clock_seconds() - begin;
	return err;
}
