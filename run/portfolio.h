/* run/portfolio.h - private to run/: which strategy the next run of a hunt uses.
 *
 * The first run learns: a random walk with every access a scheduling point. It tells which sites
 * touch shared memory and how long a run is. After it each run draws its strategy by share and
 * weight. A strategy that has lately seen new write-to-read pairs gets more runs; every strategy
 * keeps a share. A share of the runs takes every access as a point.
 *
 * Run number i of seed s is the same run on every machine, given what the runs before have
 * learned. */
#ifndef RUN_PORTFOLIO_H
#define RUN_PORTFOLIO_H

#include "run/focus.h"
#include "run/run.h"
#include "run/wishes.h"

enum portfolio_way {
	PORTFOLIO_SAMPLE, /* draw strategies */
	PORTFOLIO_DFS,	  /* explore every schedule, with native runs */
	PORTFOLIO_STATES, /* explore every state, with the other engine */
};

/* One member of the portfolio. */
struct arm {
	uint32_t strategy; /* enum plait_strategy */
	uint32_t depth;	   /* PCT d, DFS bound */
	bool wishes;	   /* its runs wish for rare write-to-read pairs */
	double share;	   /* of the runs, as long as all weights are equal */
	double weight;	   /* grows with what it finds */
};

enum { PORTFOLIO_ARMS = 8 };

struct portfolio {
	enum portfolio_way way;
	struct arm arms[PORTFOLIO_ARMS];
	size_t narms;
	uint64_t seed, random;
	uint32_t points; /* enum plait_points for all runs; PLAIT_ANY: we choose */
	uint64_t longest[PLAIT_POINTS_ALL +
			 1]; /* points of the longest run so far, by kind of points */
	struct wisher wisher;
};

/* A run as it was planned; the request points into it. */
struct planned {
	struct run_request request;
	struct arm *arm;
	bool learning; /* one of the first runs */
	struct wishes wishes;
	struct plait_constraint constraints[PLAIT_MAX_CONSTRAINTS];
	struct focus focus;
};

/* strategy: as the user typed it. An error when there is no such strategy, or no `states` here. */
struct err *portfolio_init(struct portfolio *p, const char *strategy, uint64_t seed,
			   uint32_t points, bool has_states);
/* Several strategies take turns. */
bool portfolio_is_mixed(const struct portfolio *p);
/* Run number `run`, from 0. */
void portfolio_plan(struct portfolio *p, uint64_t run, const struct knowledge *k,
		    struct planned *ret);
/* That run has ended like this. */
void portfolio_learn(struct portfolio *p, const struct planned *planned,
		     const struct run_result *r);

#endif
