/* run/portfolio.c - see portfolio.h. */
#include "run/portfolio.h"

#include "base/err.h"
#include "base/map.h"
#include "sched/strategy.h"

#include <ctype.h>
#include <stdio.h>

enum {
	FIRST_RUNS = 32,
	LEARNING_RUNS = 1,
	EAGER_EVERY = 4,
	ALL_POINTS_EVERY = 4,
	ALL_POINTS_FIRST = 32
};

static uint64_t draw(struct portfolio *p, uint64_t n)
{
	p->random = hash_u64(p->random + 0x9e3779b97f4a7c15ull);
	return p->random % n;
}

/* ---- its members ---- */

static struct arm *add_arm(struct portfolio *p, uint32_t strategy, uint32_t depth, double share)
{
	struct arm *a = &p->arms[p->narms++];

	assert(p->narms <= PORTFOLIO_ARMS);
	*a = (struct arm){ .strategy = strategy, .depth = depth, .share = share, .weight = 1 };
	a->wishes = strategy == PLAIT_STRATEGY_RF;
	return a;
}

/* Shares as the twins of doc/results/control.md and the planted races of doc/results/injected.md
 * suggest: wishes find most bugs first; many turns of two threads at one object are for surw and
 * pos; where a thread must wait for long, pct is best, and between locks a random walk. */
static void add_all(struct portfolio *p)
{
	/* these two take turns first */
	add_arm(p, PLAIT_STRATEGY_RF, 0, 2);
	add_arm(p, PLAIT_STRATEGY_SURW, 0, 1.5);
	add_arm(p, PLAIT_STRATEGY_PCT, 3, 1);
	add_arm(p, PLAIT_STRATEGY_PCT, 3, 1)->wishes = true;
	add_arm(p, PLAIT_STRATEGY_POS, 0, 1.5);
	add_arm(p, PLAIT_STRATEGY_RANDOM, 0, 1);
}

/* The depth of "pct:3" or "dfs:3"; 3 without one. False: it is no number, or the strategy has none. */
static bool read_depth(const char *colon, uint32_t strategy, uint32_t *ret)
{
	unsigned long depth = 3;
	char *end;

	if (colon) {
		depth = strtoul(colon + 1, &end, 10);
		if (!isdigit((unsigned char)colon[1]) || *end ||
		    (strategy != PLAIT_STRATEGY_PCT && strategy != PLAIT_STRATEGY_DFS))
			return false;
	}
	*ret = (uint32_t)depth;
	return depth <= SCHED_MAX_DEPTH;
}

/* "name" or "name:depth". */
static bool add_named(struct portfolio *p, const char *text)
{
	const char *colon = strchr(text, ':');
	uint32_t depth;
	_cleanup_(xfreep) char *name =
		xstrndup(text, colon ? (size_t)(colon - text) : strlen(text));
	uint32_t strategy = sched_strategy_find(name);

	if (strategy == PLAIT_STRATEGY_COUNT || strategy == PLAIT_STRATEGY_REPLAY ||
	    strategy == PLAIT_STRATEGY_FOLLOW || /* needs a schedule to begin with */
	    !read_depth(colon, strategy, &depth))
		return false;
	add_arm(p, strategy, depth, 1);
	if (strategy == PLAIT_STRATEGY_DFS)
		p->way = PORTFOLIO_DFS;
	return true;
}

struct err *portfolio_init(struct portfolio *p, const char *strategy, uint64_t seed,
			   uint32_t points, bool has_states)
{
	assert(points <= PLAIT_POINTS_ALL || points == PLAIT_ANY);
	*p = (struct portfolio){ .seed = seed,
				 .random = hash_u64(seed),
				 .points = points,
				 .wisher = { .random = hash_u64(seed + 1) } };
	if (!strcmp(strategy, "auto")) {
		add_all(p);
	} else if (!strcmp(strategy, "states") && has_states) {
		add_arm(p, PLAIT_STRATEGY_STAY, 0, 1);
		p->way = PORTFOLIO_STATES;
	} else if (!add_named(p, strategy)) {
		return err_new(
			ERR_USAGE,
			"no strategy `%s': auto, random, pct[:d], pos, rf, surw, fair, stay, "
			"dfs[:bound], states",
			strategy);
	}
	return NULL;
}

bool portfolio_is_mixed(const struct portfolio *p)
{
	return p->narms > 1;
}

/* ---- planning ---- */

/* Wishes and surw take turns first: most bugs are found by one of them, and soon. */
static struct arm *draw_arm(struct portfolio *p, uint64_t run)
{
	double total = 0, at;
	size_t i;

	assert(p->narms > 0);
	if (portfolio_is_mixed(p) && run < FIRST_RUNS)
		return &p->arms[run % 2];
	for (i = 0; i < p->narms; i++)
		total += p->arms[i].share * p->arms[i].weight;
	at = (double)draw(p, 1u << 30) / (double)(1u << 30) * total;
	for (i = 0; i + 1 < p->narms; i++) {
		at -= p->arms[i].share * p->arms[i].weight;
		if (at < 0)
			break;
	}
	return &p->arms[i];
}

static uint32_t choose_points(const struct portfolio *p, const struct planned *planned,
			      uint64_t run)
{
	if (p->points != PLAIT_ANY)
		return p->points;
	if (planned->learning)
		return PLAIT_POINTS_ALL;
	/* a random walk loses its way among many points: half of them see synchronisation only */
	if (planned->arm->strategy == PLAIT_STRATEGY_RANDOM && run % 2)
		return PLAIT_POINTS_SYNC;
	return run % (run < ALL_POINTS_FIRST ? ALL_POINTS_EVERY : 2 * ALL_POINTS_EVERY) == 0
		       ? PLAIT_POINTS_ALL
		       : PLAIT_POINTS_LEARNED;
}

static void add_wishes(struct portfolio *p, const struct knowledge *k, struct planned *ret)
{
	struct wisher *w = &p->wisher;

	if (!wisher_next(w, k, ret->request.points == PLAIT_POINTS_ALL))
		return;
	memcpy(ret->constraints, w->constraints, w->nconstraints * sizeof(w->constraints[0]));
	ret->request.constraints = ret->constraints;
	ret->request.nconstraints = w->nconstraints;
	ret->wishes = w->last;
}

static void add_focus(struct portfolio *p, const struct knowledge *k, struct planned *ret)
{
	focus_draw(&p->random, k, &ret->focus);
	ret->request.focus = ret->focus.sites;
	ret->request.nfocus = ret->focus.nsites;
	ret->request.weights = ret->focus.weights;
	ret->request.nweights = FOCUS_THREADS;
}

void portfolio_plan(struct portfolio *p, uint64_t run, const struct knowledge *k,
		    struct planned *ret)
{
	bool learning = run < LEARNING_RUNS && p->points == PLAIT_ANY;
	struct arm *arm = draw_arm(p, run);

	*ret = (struct planned){ .arm = arm, .learning = learning };
	ret->request = (struct run_request){
		.strategy = learning ? PLAIT_STRATEGY_RANDOM : arm->strategy,
		.seed = p->seed * 1000003 + run,
		.depth = arm->depth,
		.points = choose_points(p, ret, run),
		.flags = PLAIT_CONTROL_LEARN | PLAIT_CONTROL_PAIRS | PLAIT_CONTROL_AGAIN |
			 PLAIT_CONTROL_RACES,
	};
	ret->request.length = p->longest[ret->request.points];
	if (run % EAGER_EVERY == 1)
		ret->request.flags |= PLAIT_CONTROL_EAGER;
	if (arm->wishes && !learning)
		add_wishes(p, k, ret);
	if (ret->request.strategy == PLAIT_STRATEGY_SURW)
		add_focus(p, k, ret);
}

/* ---- learning ---- */

static void reward(struct arm *a, const struct run_result *r)
{
	a->weight = a->weight * 0.98 + 0.02 * (r->new_pairs ? 5 : 0.5);
	a->weight = MAX(a->weight, 0.3);
}

void portfolio_learn(struct portfolio *p, const struct planned *planned, const struct run_result *r)
{
	bool wished = planned->request.nconstraints > 0;
	uint64_t *longest = &p->longest[planned->request.points];

	/* a run that was given up, or held back by wishes, says nothing about how long they are */
	if (r->points > *longest && r->outcome != PLAIT_OUTCOME_HANG && !wished)
		*longest = r->points;
	if (planned->arm && !planned->learning)
		reward(planned->arm, r);
	if (wished)
		wisher_learn(&p->wisher, &planned->wishes, r->new_pairs);
}
