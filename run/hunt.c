/* run/hunt.c - search for a schedule that makes the target fail.
 *
 * A hunt is a sequence of runs; run number i of seed s is the same run on every machine. The first
 * few learn: random walk with every access a scheduling point. They tell which sites touch shared
 * memory and how long a run is. After them `auto` draws each run's strategy by weight: what has
 * lately seen new write-to-read pairs gets more runs, none ever gets none, and a share of the runs
 * takes every access as a point. When sampling has found nothing for a while, one run in four goes
 * on with a systematic search instead: a small program is then explored to its end. Where the
 * target carries its bitcode, the other engine (struct proposer) searches its states meanwhile, and
 * native runs carry out what it finds: three times, with a budget that goes with the runs so far.
 *
 * With several jobs, runs overlap: each job has two sessions, so that one can run while the
 * result of the other is taken in. Run number i knows what the runs up to i - n have learned, n
 * being the number of sessions, whichever ends first: the hunt depends on the number of jobs and on
 * nothing else.
 *
 * A failure is replayed before it is reported. A hang (budget used up) is believed only if
 * the program hangs under the fair strategy too. */
#define LOG_DOMAIN "hunt"
#include "run/run.h"

#include "run/dfs.h"
#include "run/guide.h"
#include "run/launch.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "sched/strategy.h"

enum { LEARNING_RUNS = 2, EAGER_EVERY = 4, ALL_POINTS_EVERY = 4 };

enum { HUNT_JOBS = 64, SYSTEMATIC_AFTER = 400, SYSTEMATIC_EVERY = 4 };
enum { STATES_AFTER = 400, STATES_GROW = 16 };
#define STATES_WORK 1000000000ull /* the first time: about a second */

/* One member of the portfolio. */
struct arm {
	uint32_t strategy, depth;
	bool guided; /* with wishes for rare write-to-read pairs */
	double weight;
	uint64_t runs;
};

/* A run that is under way, or done. */
struct slot {
	struct session *session; /* with one slot: the hunt's own */
	uint64_t knowledge;	 /* how much of the hunt's it has */
	struct arm *arm;
	struct run_request request;
	struct plait_constraint constraints[PLAIT_MAX_CONSTRAINTS];
	struct wishes wishes;
	bool learning, systematic;
	struct run_result result;
};

struct hunt {
	const struct hunt_options *o;
	struct hunt_result *result;
	struct session *session; /* what it has learned is what counts; confirms and saves */
	struct slot *slots;	 /* run i is slot i % nslots's */
	unsigned nslots;
	uint64_t started;
	struct arm arms[8];
	size_t narms;
	uint64_t random;
	uint64_t longest; /* points of the longest run so far */
	struct map seen;  /* signature -> index into failures */
	double start;
	uint64_t knowledge; /* counts up with what was learned */
	struct guide guide;
	struct dfs dfs; /* auto: the systematic part */
	bool dfs_ended;
	uint64_t states_next; /* run behind which states are searched again; UINT64_MAX: never */
	uint64_t states_work; /* about nanoseconds; UINT64_MAX: the strategy is states */
	uint64_t walks;	      /* native runs of what was proposed */
};

static uint64_t draw(struct hunt *h, uint64_t n)
{
	h->random = hash_u64(h->random + 0x9e3779b97f4a7c15ull);
	return h->random % n;
}

/* ---- the portfolio ---- */

static void add_arm(struct hunt *h, uint32_t strategy, uint32_t depth, bool guided)
{
	h->arms[h->narms++] =
		(struct arm){ .strategy = strategy, .depth = depth, .guided = guided, .weight = 1 };
}

static struct err *parse_strategy(struct hunt *h, const char *text)
{
	const char *colon = strchr(text, ':');
	char name[16];
	uint32_t strategy, depth = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;

	if (!strcmp(text, "auto")) {
		add_arm(h, PLAIT_STRATEGY_POS, 0, false);
		add_arm(h, PLAIT_STRATEGY_PCT, 3, false);
		add_arm(h, PLAIT_STRATEGY_RANDOM, 0, false);
		add_arm(h, PLAIT_STRATEGY_RF, 0, true);
		add_arm(h, PLAIT_STRATEGY_PCT, 3, true);
		return NULL;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(colon ? colon - text : (long)strlen(text)),
		 text);
	if (!strcmp(name, "states") && h->o->proposer && !colon) {
		add_arm(h, PLAIT_STRATEGY_STAY, 0, false);
		h->states_work = UINT64_MAX;
		return NULL;
	}
	strategy = sched_strategy_find(name);
	if (strategy == PLAIT_STRATEGY_COUNT || strategy == PLAIT_STRATEGY_REPLAY ||
	    strategy == PLAIT_STRATEGY_FOLLOW || /* needs a schedule to begin with */
	    (colon && depth > SCHED_MAX_DEPTH))
		return err_new(ERR_USAGE,
			       "no strategy `%s': auto, random, pct[:d], pos, rf, fair, stay, "
			       "dfs[:bound], states",
			       text);
	add_arm(h, strategy, colon ? depth : 3, strategy == PLAIT_STRATEGY_RF);
	return NULL;
}

static struct arm *draw_arm(struct hunt *h)
{
	double total = 0, at;
	size_t i;

	for (i = 0; i < h->narms; i++)
		total += h->arms[i].weight;
	at = (double)draw(h, 1u << 30) / (double)(1u << 30) * total;
	for (i = 0; i + 1 < h->narms; i++) {
		at -= h->arms[i].weight;
		if (at < 0)
			break;
	}
	return &h->arms[i];
}

static void reward(struct arm *a, const struct run_result *r)
{
	a->runs++;
	a->weight = a->weight * 0.98 + 0.02 * (r->new_pairs ? 5 : 0.5);
	if (a->weight < 0.3)
		a->weight = 0.3;
}

/* ---- failures ---- */

static bool out_of_time(const struct hunt *h)
{
	if (launch_interrupted() || (h->o->runs && h->result->runs >= h->o->runs))
		return true;
	return h->o->seconds > 0 && clock_seconds() - h->start > h->o->seconds;
}

/* A hang under an unfair schedule is the scheduler's fault: half of the run again, then fairly. A
 * program that has got into a loop it cannot leave hangs all the same. */
static struct err *really_hangs(struct hunt *h, const struct run_result *hung, bool *ret)
{
	struct run_request req = { .strategy = PLAIT_STRATEGY_FAIR,
				   .seed = 1,
				   .points = PLAIT_POINTS_ALL,
				   .flags = PLAIT_CONTROL_PREFIX | hung->schedule.flags,
				   .decisions = hung->schedule.decisions.data };
	struct run_result r = { 0 };
	struct err *err;

	while (req.ndecisions < hung->schedule.decisions.len &&
	       req.decisions[req.ndecisions].step < hung->steps / 2)
		req.ndecisions++;
	err = session_run(h->session, &req, &r);
	*ret = !err && r.outcome == PLAIT_OUTCOME_HANG;
	run_result_deinit(&r);
	return err;
}

static struct err *save(struct hunt *h, struct hunt_failure *f)
{
	size_t n = h->result->failures.len;

	if (!h->o->output)
		return NULL;
	f->plait =
		h->o->all ? xasprintf("%s/fail-%zu.plait", h->o->output, n) : xstrdup(h->o->output);
	return err_wrap(save_plait(h->session, &f->result, f->plait), "saving %s", f->plait);
}

/* Takes r's contents when it is a new failure. */
static struct err *consider(struct hunt *h, struct run_result *r, const char *strategy)
{
	uint64_t signature = run_signature(r), *known = map_find(&h->seen, signature);
	struct hunt_failure f = { .run = h->result->runs + h->walks,
				  .times = 1,
				  .tried = h->o->replays };
	struct err *err;
	bool hangs = true;

	if (known) {
		h->result->failures.data[*known].times++;
		return NULL;
	}
	if (r->outcome == PLAIT_OUTCOME_HANG && !r->timed_out) {
		err = really_hangs(h, r, &hangs);
		if (err)
			return err;
		if (!hangs) {
			h->result->hangs_dismissed++;
			return NULL;
		}
	}
	err = confirm(h->session, r, f.tried, &f.same);
	if (err)
		return err;
	if (f.same < f.tried)
		h->result->unconfirmed++;
	map_put(&h->seen, signature, h->result->failures.len);
	snprintf(f.strategy, sizeof(f.strategy), "%s", strategy);
	f.result = *r;
	memset(r, 0, sizeof(*r));
	vec_push(&h->result->failures, f);
	return save(h, vec_last(&h->result->failures));
}

/* ---- the loop ---- */

static struct run_request next_request(struct hunt *h, struct arm *a, bool learning, uint64_t run)
{
	struct run_request req = {
		.strategy = learning ? PLAIT_STRATEGY_RANDOM : a->strategy,
		.seed = h->o->seed * 1000003 + run,
		.depth = a->depth,
		.length = h->longest,
		.flags = PLAIT_CONTROL_LEARN | PLAIT_CONTROL_PAIRS | PLAIT_CONTROL_AGAIN,
	};

	if (h->o->points != PLAIT_ANY)
		req.points = h->o->points;
	else
		req.points = learning || run % ALL_POINTS_EVERY == 0 ? PLAIT_POINTS_ALL
								     : PLAIT_POINTS_LEARNED;
	/* a random walk loses its way among many points: half of them see synchronisation only */
	if (h->o->points == PLAIT_ANY && !learning && a->strategy == PLAIT_STRATEGY_RANDOM &&
	    run % 2)
		req.points = PLAIT_POINTS_SYNC;
	if (run % EAGER_EVERY == 1)
		req.flags |= PLAIT_CONTROL_EAGER;
	if (a->guided && !learning && guide_next(&h->guide, session_pairs(h->session))) {
		req.constraints = h->guide.constraints;
		req.nconstraints = h->guide.nconstraints;
	}
	return req;
}

static void show_progress(struct hunt *h)
{
	double seconds = clock_seconds() - h->start;
	uint64_t runs = h->result->runs;

	progress("%llu runs, %.0f/s, %llu pairs, %zu failures%s", (unsigned long long)runs,
		 seconds > 0 ? (double)runs / seconds : 0, (unsigned long long)h->result->pairs,
		 h->result->failures.len, h->o->runs ? "" : " (no limit)");
}

/* Always in the same slot, so that one such run has ended before the next begins. */
static bool is_systematic(const struct hunt *h, const struct slot *slot, uint64_t run)
{
	return h->narms > 1 && !h->dfs_ended && slot == h->slots && run >= SYSTEMATIC_AFTER &&
	       run / h->nslots % SYSTEMATIC_EVERY == 0;
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
		err = session_open(&h->o->target, &slot->session);
		if (err)
			return err;
	}
	if (slot->knowledge != h->knowledge)
		session_learn_all(slot->session, h->session);
	slot->knowledge = h->knowledge;
	return NULL;
}

static struct err *begin(struct hunt *h, struct slot *slot, uint64_t run)
{
	struct err *err = prepare(h, slot);

	if (err)
		return err;
	slot->systematic = is_systematic(h, slot, run);
	if (slot->systematic) {
		dfs_request(&h->dfs, &slot->request);
		return session_start(slot->session, &slot->request);
	}
	slot->learning = run < LEARNING_RUNS && h->o->points == PLAIT_ANY;
	slot->arm = draw_arm(h);
	slot->request = next_request(h, slot->arm, slot->learning, run);
	slot->wishes = h->guide.last;
	if (slot->request.nconstraints) {
		memcpy(slot->constraints, h->guide.constraints,
		       slot->request.nconstraints * sizeof(slot->constraints[0]));
		slot->request.constraints = slot->constraints;
	}
	return session_start(slot->session, &slot->request);
}

/* A run of the systematic part; it gives up for good when the target is not deterministic. */
static void take_in_systematic(struct hunt *h, const struct run_result *r)
{
	struct err *err;
	bool more = true;

	err = r->diverged ? err_new(ERR_INCONCLUSIVE, "diverged") : dfs_advance(&h->dfs, r, &more);
	h->dfs_ended = err || !more;
	h->result->exhausted = !err && !more && !h->result->uncontrolled;
	err_free(err);
}

/* Count it, learn from it, and look at it closely if it failed. */
static struct err *take_in(struct hunt *h, struct slot *slot)
{
	struct run_result *r = &slot->result;

	if (slot->session != h->session && (r->new_pairs || r->new_points)) {
		r->new_pairs = session_learn_all(h->session, slot->session);
		h->knowledge++;
	}
	h->result->runs++;
	h->result->steps += r->steps;
	h->result->pairs += r->new_pairs;
	h->result->uncontrolled |= r->uncontrolled;
	h->result->threads = MAX(h->result->threads, r->nthreads);
	/* a run that was given up, or held back by wishes, says nothing about how long they are */
	if (r->points > h->longest && r->outcome != PLAIT_OUTCOME_HANG &&
	    !slot->request.nconstraints)
		h->longest = r->points;
	if (slot->systematic)
		take_in_systematic(h, r);
	else if (!slot->learning)
		reward(slot->arm, r);
	if (slot->request.nconstraints)
		guide_learn(&h->guide, &slot->wishes, r->new_pairs);
	show_progress(h);
	if (!run_failed(r) || (!h->o->all && h->result->failures.len))
		return NULL;
	return consider(h, r,
			slot->systematic ? "dfs" : sched_strategy_name(slot->request.strategy));
}

/* ---- the other engine ---- */

static struct err *try_proposal(struct hunt *h, const struct proposal *p)
{
	struct run_result r = { 0 };
	bool followed;
	struct err *err = walk_run(h->session, p->steps, p->n, &r, &followed);

	h->walks++;
	if (!err) {
		h->result->steps += r.steps;
		h->result->uncontrolled |= r.uncontrolled;
		h->result->threads = MAX(h->result->threads, r.nthreads);
		if (run_failed(&r))
			err = consider(h, &r, "states");
	}
	run_result_deinit(&r);
	return err;
}

/* What it proves holds for what it can judge by itself. */
static bool can_propose(const struct hunt *h)
{
	const struct target *t = &h->o->target;

	return h->o->proposer && !t->oracle && !t->expect && !t->spurious;
}

static struct err *search_states(struct hunt *h, uint64_t work)
{
	double left = h->o->seconds > 0 ? h->o->seconds - (clock_seconds() - h->start) : 0;
	struct proposals p = { 0 };
	struct err *err =
		h->o->proposer->propose(h->o->proposer->arg, work, MAX(left, 0), h->o->all, &p);

	h->result->states = MAX(h->result->states, p.states);
	for (size_t i = 0; !err && i < p.failing.len; i++)
		err = try_proposal(h, &p.failing.data[i]);
	if (!err && p.complete && !p.failing.len)
		h->result->exhausted = !h->result->uncontrolled;
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

static bool may_start(const struct hunt *h)
{
	return h->started - h->result->runs < h->nslots && (!h->o->runs || h->started < h->o->runs);
}

/* After Ctrl-C what was found so far is told all the same. */
static struct err *interrupted(struct hunt *h, struct err *err)
{
	if (!launch_interrupted())
		return err;
	h->result->interrupted = true;
	err_free(err);
	return NULL;
}

static struct err *search(struct hunt *h)
{
	struct err *err = NULL;

	while (!err && !out_of_time(h) && !h->result->exhausted &&
	       (h->o->all || !h->result->failures.len)) {
		struct slot *slot = &h->slots[h->result->runs % h->nslots];

		for (; !err && may_start(h); h->started++)
			err = begin(h, &h->slots[h->started % h->nslots], h->started);
		if (!err)
			err = session_finish(slot->session, &slot->result);
		if (!err)
			err = take_in(h, slot);
		if (!err && (h->o->all || !h->result->failures.len))
			states_in_between(h);
	}
	progress_done();
	return interrupted(h, err);
}

/* Systematic search instead of sampling. */
static struct err *search_all(struct hunt *h)
{
	bool bounded = strchr(h->o->strategy, ':') != NULL, more = true;
	struct dfs d = { .bound = bounded ? h->arms[0].depth : PLAIT_ANY };
	struct run_result r = { 0 };
	struct err *err = NULL;

	while (!err && more && !out_of_time(h)) {
		struct run_request req;

		dfs_request(&d, &req);
		err = session_run(h->session, &req, &r);
		if (!err && r.diverged)
			err = err_new(ERR_INCONCLUSIVE, "the target is not deterministic: %s",
				      r.text);
		if (err)
			break;
		h->result->runs++;
		h->result->steps += r.steps;
		h->result->uncontrolled |= r.uncontrolled;
		h->result->threads = MAX(h->result->threads, r.nthreads);
		show_progress(h);
		err = dfs_advance(&d, &r, &more);
		if (!err && run_failed(&r))
			err = consider(h, &r, "dfs");
		if (!h->o->all && h->result->failures.len)
			break;
	}
	h->result->exhausted = !err && !more;
	dfs_deinit(&d);
	run_result_deinit(&r);
	progress_done();
	return interrupted(h, err);
}

struct err *hunt_run(const struct hunt_options *o, struct hunt_result *ret)
{
	struct hunt h = { .o = o,
			  .result = ret,
			  .random = hash_u64(o->seed),
			  .guide = { .random = hash_u64(o->seed + 1) },
			  .dfs = { .bound = PLAIT_ANY } };
	struct err *err;
	unsigned i;

	memset(ret, 0, sizeof(*ret));
	h.start = clock_seconds();
	err = parse_strategy(&h, o->strategy);
	if (h.states_work == UINT64_MAX && !can_propose(&h))
		err = err_new(ERR_USAGE, "states cannot judge by output or an oracle, and knows no "
					 "spurious wake-ups");
	h.states_next = h.narms > 1 && can_propose(&h) ? STATES_AFTER : UINT64_MAX;
	if (h.narms > 1)
		h.states_work = STATES_WORK;
	if (!err && o->all && o->output)
		err = file_make_dirs(o->output);
	if (!err)
		err = session_open(&o->target, &h.session);
	h.nslots = o->jobs <= 1 ? 1 : 2 * (o->jobs < HUNT_JOBS ? o->jobs : HUNT_JOBS);
	h.slots = xcalloc(h.nslots, sizeof(*h.slots));
	if (!err)
		err = h.states_work == UINT64_MAX ? interrupted(&h, search_states(&h, 0))
		      : h.arms[0].strategy == PLAIT_STRATEGY_DFS ? search_all(&h)
								 : search(&h);
	ret->runs += h.walks;
	if (!err && session_note(h.session))
		ret->note = xstrdup(session_note(h.session));
	if (!err)
		ret->points = session_npoints(h.session);
	ret->seconds = clock_seconds() - h.start;
	for (i = 0; i < h.nslots; i++) {
		run_result_deinit(&h.slots[i].result);
		if (h.slots[i].session != h.session)
			session_close(h.slots[i].session);
	}
	free(h.slots);
	session_close(h.session);
	dfs_deinit(&h.dfs);
	map_deinit(&h.seen);
	return err;
}

void hunt_result_deinit(struct hunt_result *r)
{
	size_t i;

	for (i = 0; i < r->failures.len; i++) {
		run_result_deinit(&r->failures.data[i].result);
		free(r->failures.data[i].plait);
	}
	vec_deinit(&r->failures);
	free(r->note);
	memset(r, 0, sizeof(*r));
}
