/* explain/find/projection.h - what differs between a failing and a passing run, and nothing else. */
#ifndef EXPLAIN_FIND_PROJECTION_H
#define EXPLAIN_FIND_PROJECTION_H

#include "explain/find/steps.h"

struct projection_flow {
	bool failing;
	uint32_t from, to; /* steps of that run; from STEP_NONE = initial value */
};

struct projection {
	uint32_t *
		twin_of_failing; /* [failing.len]: the same step in the passing run, or STEP_NONE */
	uint32_t *twin_of_passing;
	uint8_t *show_failing; /* [failing.len]: bits of enum projection_why */
	uint8_t *show_passing;
	struct projection_flow *flows;
	size_t nflows;
};

enum projection_why {
	PROJECT_FLOW = 1,      /* end of a data flow that differs */
	PROJECT_REORDERED = 2, /* member of a conflicting pair whose order differs */
	PROJECT_ONLY_HERE = 4, /* control flow differs: the other run has no such step */
	PROJECT_FAILURE = 8,   /* the last step of the failing thread */
	PROJECT_CAUSE = 16,    /* a sentence of the report speaks of it */
	PROJECT_HISTORY = 32,  /* how a short run came to this */
};

/* Both runs must be linked (steps_link). `failed` is the thread that failed, or STEP_NONE. */
void projection_make(const struct steps *failing, const struct steps *passing, uint32_t failed,
		     struct projection *ret);
void projection_deinit(struct projection *p);

#endif
