/* explain/find/gone.h - was something used that was no longer there? */
#ifndef EXPLAIN_FIND_GONE_H
#define EXPLAIN_FIND_GONE_H

#include "explain/explanation.h"
#include "explain/find/steps.h"

struct run_result;

struct gone {
	enum bug_kind kind; /* use after free, double free, destroyed lock, foreign unlock */
	uint32_t use;	    /* the step that uses it: often the last, and not done any more */
	uint32_t by;	    /* who freed or destroyed it; foreign unlock: who holds it, STEP_NONE */
};

/* `end`: how the recorded failing run ended. */
bool gone_find(const struct steps *failing, const struct run_result *end, struct gone *ret);

#endif
