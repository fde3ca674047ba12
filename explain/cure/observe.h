/* explain/cure/observe.h - does a run keep to what a cure would enforce? Nothing is enforced here. */
#ifndef EXPLAIN_CURE_OBSERVE_H
#define EXPLAIN_CURE_OBSERVE_H

#include "explain/cure/cure.h"

/* In how many of the schedules seen a cure was broken. */
struct cure_seen {
	uint64_t failing, broken_failing; /* schedules with the failure being explained */
	uint64_t passing, broken_passing;
};

/* Can it be seen in a run? (What a deadlock needs speaks for itself.) */
bool cure_observable(const struct cure *c);

/* Is it broken in `run`? `example` is the run that the cure is about. failed: the run ended early,
 * so that a block may lack its end. */
bool cure_broken(const struct cure *c, const struct steps *example, const struct steps *run,
		 bool failed);

/* An order: which threads come to its first place, and to its second? Bit n: thread n. */
void cure_roles(const struct cure *c, const struct steps *run, uint64_t *first, uint64_t *then);

/* How well it tells failing schedules from passing ones: the share of failing ones that break it
 * minus that of passing ones. 1: always and only then; 0: it makes no difference, or nothing to
 * compare was seen. */
double cure_separation(const struct cure_seen *s);

#endif
