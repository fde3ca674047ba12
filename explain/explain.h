/* explain/explain.h - why does this schedule fail? The dynamic way: native runs only. */
#ifndef EXPLAIN_EXPLAIN_H
#define EXPLAIN_EXPLAIN_H

#include "explain/explanation.h"
#include "run/run.h"

struct err;

struct explain_options {
	const char *plait;    /* a failing plait with a schedule */
	char *const *command; /* run this instead of the plait's command; NULL = the plait's */
	double seconds;	      /* for the search; 0 = 30 */
	uint64_t max_pairs;   /* 0 = 500 */
	uint64_t runs;	      /* schedules to test advice with; 0 = do not test */
	uint64_t seed;
	struct target target; /* how to run and judge it; argv is that of the plait or `command` */
};

/* ERR_INCONCLUSIVE when the failure does not reproduce. */
struct err *explain_dynamic(const struct explain_options *options, struct explanation **ret);

#endif
