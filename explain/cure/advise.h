/* explain/cure/advise.h - which cure works, and beside which passing schedule it is best told. */
#ifndef EXPLAIN_CURE_ADVISE_H
#define EXPLAIN_CURE_ADVISE_H

#include "explain/cure/observe.h"

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
	bool found;	  /* there is a cure */
	size_t alternate; /* the passing schedule it comes from */
	struct cure cure;
	bool tested;
	unsigned rejected; /* cures under which schedules still fail */
	unsigned removing; /* of them: orders under which part of the program no longer runs */
	struct cure_trial before;
	struct cure_trial after;
	struct cure_seen seen; /* without any cure; failing 0: not looked at */
	/* What was used after its end stays until everybody else is done: that was tried, too. */
	bool late_tested;
	struct cure_trial late;
	/* A block on other objects that was broken before, in every schedule that failed, and under
	 * which nothing fails either: what was taken may be its consequence. */
	struct {
		bool found;
		struct cure cure;
		struct cure_trial after;
		struct cure_seen seen;
	} earlier;
};

/* Cures that tell failing schedules from passing ones best come first; the first of them under
 * which (nearly) nothing fails is taken. When there is none: the one under which the fewest
 * schedules fail, or the first; `before` says how often the program fails without. */
struct err *advise(const struct advise_request *request, struct advice *ret);

#endif
