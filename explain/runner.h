/* explain/runner.h - explain asks for native runs through this, so that its logic can be tested
 * without any. run/ provides the real one. */
#ifndef EXPLAIN_RUNNER_H
#define EXPLAIN_RUNNER_H

#include "explain/find/steps.h"
#include "unplait/control.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct err;
struct run_result;

struct explain_request {
	/* Follow the failing schedule up to the step with this clock, which is not decided any more
	 * (0: from the start freely; UINT64_MAX: to its end), then the strategy. */
	uint64_t prefix_steps;
	uint32_t strategy; /* enum plait_strategy; FOLLOW: the rest of the failing schedule */
	uint64_t seed;
	bool disturbed; /* FOLLOW: with a few changes, which the seed decides */
	const struct plait_constraint *constraints;
	size_t nconstraints;
	bool eager;  /* sleeps may end at any time */
	bool record; /* fill in result.steps */
};

struct explain_result {
	bool failed;		      /* by what counts as failing */
	bool same_failure;	      /* ... with the signature of the failure being explained */
	uint64_t signature;	      /* failed: in which way */
	const struct run_result *end; /* how it ended; until the next run; NULL: not known */
	bool constraint_dropped;      /* a constraint had to give way */
	struct steps steps;	      /* linked; only when recorded; the caller deinits */
};

struct explain_runner {
	struct err *(*run)(void *context, const struct explain_request *request,
			   struct explain_result *ret);
	/* Seconds that all runs so far take on an idle machine, by their number and their steps.
	 * Budgets count these, not time: the same plait has the same answer on a busy machine.
	 * Infinite when the time that the user gave is up: no budget has anything left then.
	 * NULL: nothing is counted. */
	double (*spent)(void *context);
	void *context;
};

#define EXPLAIN_ALL_SPENT INFINITY

static inline double explain_spent(const struct explain_runner *r)
{
	return r->spent ? r->spent(r->context) : 0;
}

#endif
