/* explain/dynamic/found.h - what the failing run shows by itself, for those who rank it and tell it. */
#ifndef EXPLAIN_DYNAMIC_FOUND_H
#define EXPLAIN_DYNAMIC_FOUND_H

#include "explain/find/guards.h"
#include "explain/find/stuck.h"

struct advice;
struct candidate;
struct candidates;
struct job;

struct found {
	struct stuck stuck; /* a wait that nobody ends */
	struct guard guard; /* a lock that is missing at the failure; steps STEP_NONE: none */
};

/* All candidates, the best first; what the run shows goes into *found. */
struct err *job_collect(struct job *j, const struct advice *a, struct found *found,
			struct candidates *ret);
/* A block within what was used after its end says why it came to that; NULL. Borrowed from all. */
const struct candidate *job_find_reason(const struct job *j, const struct candidates *all);

#endif
