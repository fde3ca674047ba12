/* explain/cure/trials.h - private to explain/: what is known while cures are tried. */
#ifndef EXPLAIN_CURE_TRIALS_H
#define EXPLAIN_CURE_TRIALS_H

#include "base/map.h"
#include "explain/cure/advise.h"
#include "explain/rank/plan.h"

enum { WATCHED_STEPS = 4000000 }; /* in all runs that are watched */
#define SECONDS_SHORT 4.0
#define SECONDS_FULL  10.0

/* In how many runs each place was come to. */
struct coverage {
	struct map places, last; /* site -> runs; the latest of them, so that each counts once */
	uint64_t runs;
};

struct trials {
	const struct advise_request *r;
	struct cure_trial rate;	 /* without a cure, a short trial */
	struct cure_trial full;	 /* ... a long one */
	double end;		 /* no new trial after this */
	uint64_t failing[FACES]; /* recorded schedules that fail, by the way they do */
	struct planned_cures all;
	struct planned_cures lates; /* what was used after its end stays until all are done */
	struct coverage usual;	    /* of schedules that pass without a cure */
	struct advice *out;
};

/* Of the schedules that `full` has seen without a cure. */
struct trial_limits trials_limits(struct trials *t, uint64_t runs, uint64_t failures,
				  double seconds, uint32_t counted);
/* A run to watch: where it came to. */
void trials_cover(void *coverage, const struct explain_result *run);
double trials_share(uint64_t part, const struct cure_trial *of);
/* A short trial: worth a long one? */
struct err *trials_weed_out(struct trials *t, const struct planned_cure *c,
			    struct cure_trial *trial, bool *ret);
/* One more candidate. Is it perfect? */
struct err *trials_try(struct trials *t, const struct planned_cure *c, bool *ret);
struct candidate trials_candidate(const struct trials *t, const struct planned_cure *c,
				  const struct cure_trial *trial);
void trials_log(const struct planned_cure *c, const struct cure_trial *trial);
/* The best of those that were tried; NULL: none was. */
struct candidate *trials_best(struct trials *t);
void trials_deinit(struct trials *t);
/* Beside the best: a shorter block in it, the mistake behind it, and what came before it (around.c). */
struct err *trials_look_around(struct trials *t);

#endif
