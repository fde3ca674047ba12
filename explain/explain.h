/* explain/explain.h - why does this schedule fail? Two ways to the answer, one report.
 *
 * Dynamic: native runs only; needs a failing schedule. By constraints: the order engine finds the
 * failing schedule and the passing one from per-thread paths, native runs confirm them. */
#ifndef EXPLAIN_EXPLAIN_H
#define EXPLAIN_EXPLAIN_H

#include "explain/explanation.h"
#include "run/run.h"

struct err;

/* Runs that were found by other means (by-constraints.c). */
struct explain_found {
	const struct run_result *failing;
	const struct run_result *passing; /* NULL: look for one */
	/* clocks of the pair that the passing run inverts, in each run; 0: the run ends before */
	uint64_t pair[2], pair_passing[2];
	uint64_t pairs_tried;
};

struct explain_options {
	const char *plait;    /* a failing plait with a schedule */
	char *const *command; /* run this instead of the plait's command; NULL = the plait's */
	double seconds;	      /* real time for all of it; 0 = 300 */
	uint64_t max_pairs;   /* 0 = 500 */
	uint64_t runs;	      /* schedules to test advice with; 0 = do not test */
	uint64_t seed;
	const struct explain_found *found; /* NULL: the plait has the schedule */
	struct target target; /* how to run and judge it; argv is that of the plait or `command` */
};

/* ERR_INCONCLUSIVE when the failure does not reproduce. */
struct err *explain_dynamic(const struct explain_options *options, struct explanation **ret);

/* ERR_INCONCLUSIVE, saying why, when the paths cannot be followed, the solver has no answer, or the
 * failing schedule it found does not fail natively. */
struct err *explain_by_constraints(const struct explain_options *options, struct explanation **ret);

enum explain_method { EXPLAIN_AUTO, EXPLAIN_DYNAMIC, EXPLAIN_CONSTRAINTS, EXPLAIN_BOTH };

/* AUTO: dynamic when the plait has a schedule. Where constraints fail, the dynamic way takes over
 * (after a hunt for the failure, when no schedule is known) and a note says so. BOTH: the answer by
 * constraints, with notes on where the dynamic one differs. */
struct err *explain_run(const struct explain_options *options, enum explain_method method,
			struct explanation **ret);

#endif
