/* run/samples.h - failing and passing runs on demand: what `rank --hunt` compares. */
#ifndef RUN_SAMPLES_H
#define RUN_SAMPLES_H

#include "run/run.h"

struct samples_options {
	struct target target;
	uint64_t seed;
	uint64_t wanted;    /* failing and passing runs each */
	uint64_t max_runs;  /* schedules to try; 0 = 20000 */
	double seconds;	    /* 0 = 60 */
	const char *folder; /* where the plaits go */
};

struct samples_result {
	uint64_t runs;		   /* schedules tried */
	uint64_t failing, passing; /* kept */
};

/* Schedules of a mixed portfolio, until there are enough of both kinds or the budget is used up.
 * Each sample is a plait NUMBER-OUTCOME.plait with all events and its schedule. */
struct err *samples_run(const struct samples_options *o, struct samples_result *ret);

#endif
