/* explain/cure/advise.h - which cures work, seen over many schedules. */
#ifndef EXPLAIN_CURE_ADVISE_H
#define EXPLAIN_CURE_ADVISE_H

#include "explain/rank/candidate.h"

struct err;
struct gone;
struct trace;

struct advise_request {
	const struct explain_runner *runner;
	const struct steps *failing;
	const struct alternates *alternates;
	struct trace *trace; /* of the failing run, for the copies of a line */
	uint32_t failed;     /* thread, or STEP_NONE */
	bool deadlocked;
	const struct gone *gone; /* what was used after its end; NULL */
	uint64_t runs;		 /* schedules to test with; 0 = do not test */
	uint64_t seed;
};

struct advice {
	/* Every cure that was tried; the first of the plan when none could be. In no order: ranked
	 * with the other candidates (rank/). */
	struct candidates tried;
	struct cure_trial before; /* without a cure */
	struct faces faces;	  /* ways in which schedules failed */
	/* What was used after its end stays until everybody else is done: that was tried, too. */
	bool late_tested;
	struct cure_trial late, late_before;
	uint32_t late_counted; /* ways of failing that those are about */
	/* A block on other objects that was broken before, in every schedule that failed, and under
	 * which nothing fails either: what cures it may be its consequence. */
	struct {
		bool found;
		struct cure cure;
		struct cure_trial after;
		struct cure_seen seen;
	} earlier;
};

/* Tries the cures that go with the failure, the most promising first, until one of them is good
 * enough. */
struct err *advise(const struct advise_request *request, struct advice *ret);
void advice_deinit(struct advice *a);

#endif
