/* run/focus.h - private to run/: what a run of strategy surw looks at.
 *
 * The focus is one piece of shared memory or one lock, drawn anew for each run and named by the
 * sites that touch it; every fourth run looks at everything. With it go estimates of how often
 * each thread will come there, from the run before. */
#ifndef RUN_FOCUS_H
#define RUN_FOCUS_H

#include "run/run.h"

enum { FOCUS_THREADS = 256 }; /* those beyond it have no estimate */

struct focus {
	uint32_t sites[PLAIT_MAX_FOCUS];
	size_t nsites; /* 0: all points */
	uint32_t weights[FOCUS_THREADS];
};

/* *random: the state of the caller's generator. */
void focus_draw(uint64_t *random, const struct knowledge *k, struct focus *ret);

#endif
