/* run/hunt.c - search for a schedule that makes the target fail.
 *
 * A hunt is a sequence of runs. The portfolio (run/portfolio.c) plans each one; what fails becomes a
 * finding (run/findings.c). When sampling has found nothing for a while, one run in four goes on
 * with a systematic search instead (run/dfs.c): a small program is then explored to its end. Where
 * the target carries its bitcode, the other engine (struct proposer) searches its states meanwhile,
 * and native runs carry out what it finds: three times, with a budget that grows with the number of
 * runs. Before that, a few times and first behind the first run, a run that passed is asked what was
 * near it (struct predictor).
 *
 * With several jobs, runs overlap: each job has two sessions, so that one can run while the
 * result of the other is taken in. With n sessions, run number i knows what the runs up to i - n
 * have learned, whichever ends first: the hunt depends on the number of jobs and on nothing
 * else. */
#define LOG_DOMAIN "hunt"
#include "run/run.h"

#include "run/dfs.h"
#include "run/findings.h"
#include "run/portfolio.h"
#include "run/races.h"

#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "sched/strategy.h"

#include <signal.h>

enum { HUNT_JOBS = 64, SYSTEMATIC_AFTER = 400, SYSTEMATIC_EVERY = 4 };
enum { STATES_AFTER = 400, STATES_GROW = 16 };
/* When a run that passed is put to the predictor: behind so many runs, if it has at most so many steps.
 * Most of what can be predicted takes one or two runs, so small programs are asked about at once
 * (doc/results/predict.md). The limits are numbers, not seconds, so that the same seed gives the same hunt; the
 * time is a last resort. */
static const struct ask {
	uint64_t after, steps;
	struct predict_limits limits;
} asks[] = {
	{ 1, 1200, { .runs = 4, .questions = 20, .decisions = 20000 } },
	{ 8, 1200, { .runs = 4, .questions = 20, .decisions = 20000 } },
	{ 48, 2000, { .runs = 4, .questions = 50, .decisions = 50000 } },
	{ 128, 2000, { .runs = 16, .questions = 200, .decisions = 200000 } },
};
enum { PREDICT_SECONDS = 10 };
#define STATES_WORK   1000000000ull /* the first time: about a second */
#define PREDICT_SHARE 0.1	    /* of the time that the hunt has */

/* A run that is under way, or done. */
struct slot {
	struct session *session; /* with one slot: the hunt's own */
	uint64_t knowledge;	 /* how much of the hunt's it has */
	struct planned planned;
	bool systematic;
	struct run_result result;
};

struct hunt {
	const struct hunt_options *o;
	struct target target; /* as we judge now; what the sessions borrow */
	/* The first run whose exit status was not 0, as long as no run has ended with 0. */
	struct run_result odd_exit;
	uint64_t odd_run;
	const char *odd_strategy;
	struct hunt_result *result;
	struct session *session; /* what it has learned is what counts; confirms and saves */
	struct slot *slots;	 /* run i is in slot i % nslots */
	unsigned nslots;
	uint64_t started;
	struct portfolio portfolio;
	struct findings findings;
	struct race_tally races;
	double start;
	uint64_t knowledge; /* counts up with what was learned */
	struct dfs dfs;	    /* the systematic part */
	bool dfs_ended;
	uint64_t states_next; /* run behind which states are searched again; UINT64_MAX: never */
	uint64_t states_work; /* about nanoseconds */
	uint64_t walks;	      /* native runs of what was proposed */
	struct run_result passed; /* the shortest run since the predictor was asked last */
	bool predicts;		  /* it will be asked (again) */
	size_t asked;		  /* so often */
};

/* Runs that may still be started; those of proposals count, too. */
static uint64_t runs_left(const struct hunt *h)
{
	uint64_t begun = MAX(h->started, h->result->runs) + h->walks;

	return !h->o->runs ? UINT64_MAX : begun < h->o->runs ? h->o->runs - begun : 0;
}

static bool is_over(const struct hunt *h)
{
	if (interrupted() || (!runs_left(h) && h->result->runs >= h->started))
		return true;
	if (!h->o->all && h->result->failures.len)
		return true;
	/* one thread, and no signal or timer that could come at another moment: that was all */
	if (h->dfs_ended && h->result->claim.ended && h->result->threads == 1)
		return true;
	/* one run there is always: a hunt of none says nothing */
	return h->o->seconds > 0 && h->result->runs > 0 &&
	       clock_seconds() - h->start > h->o->seconds;
}

static void count(struct hunt *h, const struct run_result *r)
{
	findings_measure(&h->findings, r);
	race_tally_add(&h->races, r);
	h->result->steps += r->steps;
	h->result->uncontrolled |= r->uncontrolled;
	h->result->threads = MAX(h->result->threads, r->nthreads);
}

/* Do we look at exit statuses at all, without having been told to? */
static bool learns_exit(const struct hunt *h)
{
	const struct target *t = &h->target;

	return !t->fail_on_exit && !t->oracle && !t->expect &&
	       !(t->ignored & OUTCOME_BIT(PLAIT_OUTCOME_EXIT));
}

/* A status other than 0 is a failure as soon as we know that the program can end with 0. Until
 * then the first such run waits. */
static struct err *judge_exit(struct hunt *h, struct run_result *r, const char *strategy)
{
	struct run_result *odd = &h->odd_exit;

	if (!learns_exit(h) || r->outcome != PLAIT_OUTCOME_PASS)
		return NULL;
	if (r->exit_code == 0) {
		h->target.fail_on_exit = true;
		if (!odd->exit_code)
			return NULL;
		run_fail_by_exit(odd);
		return findings_consider(&h->findings, h->session, odd, h->odd_run,
					 h->odd_strategy);
	}
	if (odd->exit_code)
		return NULL;
	*odd = *r;
	memset(r, 0, sizeof(*r));
	h->odd_run = h->result->runs + h->walks;
	h->odd_strategy = strategy;
	return NULL;
}

/* A run that searches ends with the hunt's time, but for the first one: a hunt of none says nothing. */
static void limit(const struct hunt *h, struct session *s)
{
	bool limited = h->o->seconds > 0 && h->result->runs > 0;

	session_set_deadline(s, limited ? h->start + h->o->seconds : 0);
}

/* Look at a run closely if it failed. What was found is confirmed, however long that takes. */
static struct err *consider(struct hunt *h, struct run_result *r, const char *strategy)
{
	struct err *err = judge_exit(h, r, strategy);

	session_set_deadline(h->session, 0);
	if (err || !run_failed(r) || (!h->o->all && h->result->failures.len))
		return err;
	return findings_consider(&h->findings, h->session, r, h->result->runs + h->walks, strategy);
}

static void show_progress(struct hunt *h)
{
	double seconds = clock_seconds() - h->start;
	uint64_t runs = h->result->runs;

	progress("%llu runs, %.0f/s, %llu pairs, %zu failures%s", (unsigned long long)runs,
		 seconds > 0 ? (double)runs / seconds : 0, (unsigned long long)h->result->pairs,
		 h->result->failures.len, h->o->runs ? "" : " (no limit)");
}

static bool was_cut_off(const struct hunt *h)
{
	for (unsigned i = 0; i < h->nslots; i++) {
		if (h->slots[i].session && session_was_cut_off(h->slots[i].session))
			return true;
	}
	return session_was_cut_off(h->session);
}

/* After Ctrl-C, or a run that the time has cut off, the hunt still reports what it has found so far. */
static struct err *note_end(struct hunt *h, struct err *err)
{
	progress_done();
	if (!err || !(interrupted() || was_cut_off(h)))
		return err;
	err_free(err);
	return NULL;
}

/* A search has nothing left to try. */
static void searched(struct hunt *h)
{
	struct claim *c = &h->result->claim;

	c->ended = true;
	if (strchr(h->o->strategy, ':'))
		c->gaps |= CLAIM_BOUND;
	if (h->result->uncontrolled)
		c->gaps |= CLAIM_UNCONTROLLED;
	if (h->result->unfinished)
		c->gaps |= CLAIM_BUDGET;
	if (h->o->target.argv)
		claim_look_at(c, h->o->target.argv[0]);
}

/* ---- sampling: beginning a run ---- */

static struct err *open_session(const struct hunt *h, struct session **ret)
{
	return h->o->open ? h->o->open(h->o->open_context, &h->target, ret)
			  : session_open(&h->target, ret);
}

/* Sessions are opened when they are first needed: many hunts end before. */
static struct err *prepare(struct hunt *h, struct slot *slot)
{
	struct err *err;

	if (h->nslots == 1) {
		slot->session = h->session;
		return NULL;
	}
	if (!slot->session) {
		err = open_session(h, &slot->session);
		if (err)
			return err;
	}
	if (slot->knowledge != h->knowledge)
		session_learn_all(slot->session, h->session);
	slot->knowledge = h->knowledge;
	return NULL;
}

/* Systematic runs always use the same slot, so that one has ended before the next begins. A program
 * without threads has few schedules, mostly one: it is searched at once. */
static bool is_systematic(const struct hunt *h, const struct slot *slot, uint64_t run)
{
	uint64_t first = h->result->threads == 1 ? SYSTEMATIC_EVERY : SYSTEMATIC_AFTER;

	return portfolio_is_mixed(&h->portfolio) && !h->dfs_ended && slot == h->slots &&
	       run >= first && run / h->nslots % SYSTEMATIC_EVERY == 0;
}

static struct err *begin(struct hunt *h, uint64_t run)
{
	struct slot *slot = &h->slots[run % h->nslots];
	struct err *err = prepare(h, slot);

	if (err)
		return err;
	slot->systematic = is_systematic(h, slot, run);
	if (slot->systematic) {
		slot->planned = (struct planned){ 0 };
		dfs_request(&h->dfs, &slot->planned.request);
	} else {
		const struct knowledge k = session_knowledge(h->session);

		portfolio_plan(&h->portfolio, run, &k, &slot->planned);
	}
	slot->planned.request.point_budget = h->findings.point_budget;
	return session_start(slot->session, &slot->planned.request);
}

/* ---- sampling: taking in a run ---- */

/* The systematic part gives up for good when the target is not deterministic. */
static void take_in_systematic(struct hunt *h, const struct run_result *r)
{
	struct err *err;
	bool more = true;

	err = r->diverged ? err_new(ERR_INCONCLUSIVE, "diverged") : dfs_advance(&h->dfs, r, &more);
	h->dfs_ended = err || !more;
	claim_add_run(&h->result->claim, r);
	if (!err && !more)
		searched(h);
	err_free(err);
}

/* What the predictor starts from. */
static void keep_passed(struct hunt *h, const struct run_result *r)
{
	if (!h->predicts || run_failed(r) || r->outcome != PLAIT_OUTCOME_PASS || !r->steps ||
	    r->nthreads < 2 || (h->passed.steps && h->passed.steps <= r->steps))
		return;
	schedule_deinit(&h->passed.schedule);
	h->passed = (struct run_result){ .outcome = r->outcome, .steps = r->steps };
	schedule_copy(&r->schedule, &h->passed.schedule);
}

/* Count it, learn from it, and look at it closely if it failed. */
static struct err *take_in(struct hunt *h, struct slot *slot)
{
	struct run_result *r = &slot->result;
	uint32_t strategy = slot->planned.request.strategy;

	if (slot->session != h->session && (r->new_pairs || r->new_points)) {
		r->new_pairs = session_learn_all(h->session, slot->session);
		h->knowledge++;
	}
	h->result->runs++;
	h->result->pairs += r->new_pairs;
	count(h, r);
	keep_passed(h, r);
	portfolio_learn(&h->portfolio, &slot->planned, r);
	if (slot->systematic)
		take_in_systematic(h, r);
	show_progress(h);
	return consider(h, r, slot->systematic ? "dfs" : sched_strategy_name(strategy));
}

/* ---- the other engine ---- */

void proposals_deinit(struct proposals *p)
{
	for (size_t i = 0; i < p->failing.len; i++)
		free(p->failing.data[i].ops);
	vec_deinit(&p->failing);
	memset(p, 0, sizeof(*p));
}

static struct err *try_proposal(struct hunt *h, const struct proposal *p)
{
	struct run_result r = { 0 };
	struct err *err;

	limit(h, h->session);
	err = h->o->proposer->carry_out(h->session, p, &r);
	h->walks++;
	if (!err) {
		count(h, &r);
		err = consider(h, &r, "states");
	}
	run_result_deinit(&r);
	return err;
}

/* What it proves holds for what it can judge by itself. */
static bool can_propose(const struct hunt *h)
{
	const struct target *t = &h->target;

	return h->o->proposer && !t->oracle && !t->expect && !t->spurious;
}

static struct err *propose_and_try(struct hunt *h, uint64_t work, bool all, struct proposals *ret)
{
	double left = h->o->seconds > 0 ? h->o->seconds - (clock_seconds() - h->start) : 0;
	struct err *err = h->o->proposer->propose(h->o->proposer->arg, &h->target, work,
						  MAX(left, 0), all, ret);

	h->result->states = MAX(h->result->states, ret->states);
	for (size_t i = 0; !err && i < ret->failing.len; i++)
		err = try_proposal(h, &ret->failing.data[i]);
	return err;
}

/* work: at most that much; 0 = no limit, the strategy is states. */
static struct err *search_states(struct hunt *h, uint64_t work)
{
	struct proposals p = { 0 };
	struct err *err = propose_and_try(h, work, h->o->all, &p);

	/* no native run showed the first failing state: perhaps another */
	if (!err && p.failing.len && !h->o->all && !is_over(h)) {
		proposals_deinit(&p);
		err = propose_and_try(h, work, true, &p);
	}
	if (!err && p.complete && !p.failing.len) {
		searched(h);
		if (p.reads_clock)
			h->result->claim.gaps |= CLAIM_CLOCK;
	}
	if (!err && !work && !p.complete && !p.failing.len)
		memcpy(h->result->states_why, p.why, sizeof(p.why));
	if (!err && !work && p.failing.len && !h->result->failures.len)
		snprintf(h->result->states_why, sizeof(h->result->states_why),
			 "%zu failing states were found, but no native run showed a failure",
			 p.failing.len);
	if (p.complete || p.failing.len)
		h->states_next = UINT64_MAX; /* there is no more to be had */
	proposals_deinit(&p);
	return err;
}

/* auto: a bounded search now and then. A program that it cannot deal with is left to the others. */
static void states_in_between(struct hunt *h)
{
	struct err *err;

	if (h->result->runs < h->states_next)
		return;
	h->states_next = h->states_work >= STATES_WORK * STATES_GROW * STATES_GROW
				 ? UINT64_MAX
				 : h->states_next * STATES_GROW;
	err = search_states(h, h->states_work);
	h->states_work *= STATES_GROW;
	if (err) {
		log_verbose("states are not searched: %s", err_message(err));
		h->states_next = UINT64_MAX;
		err_free(err);
	}
}

/* ---- a third one ---- */

void predicted_deinit(struct predicted *p)
{
	for (size_t i = 0; i < p->failing.len; i++)
		schedule_deinit(&p->failing.data[i]);
	vec_deinit(&p->failing);
}

/* The alarm of a watchdog ended the run. What it watched has failed before, and other runs show that by
 * its name: a deadlock, mostly. */
static bool is_watchdogs(const struct run_result *r)
{
	return r->signal == SIGALRM || r->signal == SIGVTALRM || r->signal == SIGPROF;
}

/* What failed there is replayed here, and judged like any run. That run is counted already. */
static struct err *try_predicted(struct hunt *h, const struct schedule *s)
{
	struct run_request req = schedule_request(s);
	struct run_result r = { 0 };
	struct err *err;

	limit(h, h->session);
	err = session_run(h->session, &req, &r);
	if (!err) {
		count(h, &r);
		if (!is_watchdogs(&r))
			err = consider(h, &r, "predict");
	}
	run_result_deinit(&r);
	return err;
}

static struct err *ask_predictor(struct hunt *h, struct predict_limits limits)
{
	_cleanup_(xfreep) char *dir = NULL, *plait = NULL;
	struct predicted p = { 0 };
	struct err *err = file_temp_dir(&dir);

	if (err)
		return err;
	plait = xasprintf("%s/passed.plait", dir);
	err = save_plait(h->session, &h->passed, plait);
	if (!err)
		err = h->o->predictor->predict(h->o->predictor->arg, &h->target, plait, &limits,
					       &p);
	h->walks += p.runs;
	for (size_t i = 0; !err && i < p.failing.len; i++)
		err = try_predicted(h, &p.failing.data[i]);
	predicted_deinit(&p);
	file_remove_tree(dir);
	return err;
}

/* The next question is about another run, which may have gone another way. */
static void forget_passed(struct hunt *h)
{
	run_result_deinit(&h->passed);
	h->passed = (struct run_result){ 0 };
}

/* auto: within a share of the runs and of the time. A proposal may take more than one run. */
static void predict_in_between(struct hunt *h)
{
	const struct ask *ask = &asks[h->asked];
	struct predict_limits limits;
	struct err *err;

	if (!h->predicts || h->result->runs < ask->after)
		return;
	h->predicts = ++h->asked < ARRAY_SIZE(asks);
	limits = ask->limits;
	limits.seconds = h->o->seconds > 0 ? MIN(PREDICT_SECONDS, h->o->seconds * PREDICT_SHARE)
					   : PREDICT_SECONDS;
	if (!h->passed.steps || h->passed.steps > ask->steps || runs_left(h) < 2 * limits.runs)
		return;
	err = ask_predictor(h, limits);
	if (err) {
		log_verbose("nothing is predicted: %s", err_message(err));
		err_free(err);
	}
	forget_passed(h);
}

/* ---- the three ways ---- */

static bool may_start(const struct hunt *h)
{
	return h->started - h->result->runs < h->nslots && runs_left(h) > 0;
}

static struct err *search(struct hunt *h)
{
	struct err *err = NULL;

	while (!err && !is_over(h) && !claim_is_complete(&h->result->claim)) {
		struct slot *slot = &h->slots[h->result->runs % h->nslots];

		for (; !err && may_start(h); h->started++)
			err = begin(h, h->started);
		if (!err) {
			limit(h, slot->session);
			err = session_finish(slot->session, &slot->result);
		}
		if (!err)
			err = take_in(h, slot);
		if (!err && (h->o->all || !h->result->failures.len)) {
			predict_in_between(h);
			states_in_between(h);
		}
	}
	return err;
}

/* Systematic search instead of sampling. */
static struct err *search_all(struct hunt *h)
{
	bool bounded = strchr(h->o->strategy, ':') != NULL, more = true;
	struct run_result r = { 0 };
	struct run_request req;
	struct err *err = NULL;

	h->dfs.bound = bounded ? h->portfolio.arms[0].depth : PLAIT_ANY;
	while (!err && more && !is_over(h)) {
		dfs_request(&h->dfs, &req);
		req.point_budget = h->findings.point_budget;
		limit(h, h->session);
		err = session_run(h->session, &req, &r);
		if (!err && r.diverged)
			err = err_new(ERR_INCONCLUSIVE, "the target is not deterministic: %s",
				      r.text);
		if (err)
			break;
		h->result->runs++;
		count(h, &r);
		show_progress(h);
		claim_add_run(&h->result->claim, &r);
		err = dfs_advance(&h->dfs, &r, &more);
		if (!err)
			err = consider(h, &r, "dfs");
	}
	if (!err && !more)
		searched(h);
	run_result_deinit(&r);
	return err;
}

/* One native run first: how the program ends by itself, and what of it is not under control. */
static struct err *search_only_states(struct hunt *h)
{
	struct run_request req = { .strategy = PLAIT_STRATEGY_STAY };
	struct run_result r = { 0 };
	struct err *err = session_run(h->session, &req, &r);

	if (!err) {
		h->result->runs++;
		count(h, &r);
		err = consider(h, &r, "stay");
	}
	run_result_deinit(&r);
	return err || is_over(h) ? err : search_states(h, 0);
}

static struct err *search_by_strategy(struct hunt *h)
{
	switch (h->portfolio.way) {
	case PORTFOLIO_STATES:
		return search_only_states(h);
	case PORTFOLIO_DFS:
		return search_all(h);
	case PORTFOLIO_SAMPLE:
		return search(h);
	}
	BUG("no such way");
}

/* ---- beginning and end ---- */

static struct err *open_hunt(struct hunt *h)
{
	const struct hunt_options *o = h->o;
	bool mixed;
	struct err *err =
		portfolio_init(&h->portfolio, o->strategy, o->seed, o->points, o->proposer != NULL);

	if (err)
		return err;
	if (h->portfolio.way == PORTFOLIO_STATES && !can_propose(h))
		return err_new(ERR_USAGE, "states cannot judge by output or an oracle, and knows "
					  "no spurious wake-ups");
	mixed = portfolio_is_mixed(&h->portfolio);
	h->states_next = mixed && can_propose(h) ? STATES_AFTER : UINT64_MAX;
	h->states_work = STATES_WORK;
	h->predicts = mixed && o->predictor;
	if (o->all && o->output)
		err = file_make_dirs(o->output);
	return err ? err : open_session(h, &h->session);
}

static void close_hunt(struct hunt *h)
{
	for (unsigned i = 0; i < h->nslots; i++) {
		run_result_deinit(&h->slots[i].result);
		if (h->slots[i].session != h->session)
			session_close(h->slots[i].session);
	}
	free(h->slots);
	run_result_deinit(&h->odd_exit);
	run_result_deinit(&h->passed);
	session_close(h->session);
	dfs_deinit(&h->dfs);
	findings_deinit(&h->findings);
	race_tally_deinit(&h->races);
}

struct err *hunt_run(const struct hunt_options *o, struct hunt_result *ret)
{
	struct hunt h = { .o = o,
			  .target = o->target,
			  .result = ret,
			  .findings = { .o = o, .result = ret, .point_budget = RUN_POINTS },
			  .dfs = { .bound = PLAIT_ANY },
			  .start = clock_seconds() };
	struct err *err;

	assert(o->strategy && (o->open || o->target.argv));
	memset(ret, 0, sizeof(*ret));
	h.nslots = o->jobs <= 1 ? 1 : 2 * MIN(o->jobs, HUNT_JOBS);
	h.slots = xcalloc(h.nslots, sizeof(*h.slots));
	err = open_hunt(&h);
	if (!err)
		err = note_end(&h, search_by_strategy(&h));
	ret->interrupted = interrupted();
	if (!err && !interrupted())
		err = findings_end(&h.findings, h.session);
	ret->runs += h.walks;
	if (!err && session_note(h.session))
		ret->note = xstrdup(session_note(h.session));
	if (!err && !h.target.fail_on_exit)
		ret->odd_exit = h.odd_exit.exit_code;
	if (!err) {
		ret->points = session_npoints(h.session);
		ret->races = race_tally_places(&h.races, session_process(h.session));
	}
	ret->seconds = clock_seconds() - h.start;
	close_hunt(&h);
	return err;
}

void hunt_result_deinit(struct hunt_result *r)
{
	for (size_t i = 0; i < r->failures.len; i++) {
		run_result_deinit(&r->failures.data[i].result);
		free(r->failures.data[i].plait);
	}
	vec_deinit(&r->failures);
	free(r->note);
	claim_deinit(&r->claim);
	memset(r, 0, sizeof(*r));
}
