/* explain/rank/plan.h - in which order cures are tried. */
#ifndef EXPLAIN_RANK_PLAN_H
#define EXPLAIN_RANK_PLAN_H

#include "explain/cure/observe.h"

struct planned_cure {
	struct cure cure;
	size_t alternate; /* the passing run that it comes from */
	size_t number;	  /* as found: decides between equals */
	struct cure_seen seen;
	uint64_t broken[FACES]; /* failing schedules that break it, by the way they fail */
	uint32_t counted;	/* ways of failing that `seen` and its trials are about */
	/* order: threads that came to either place, in all schedules that were seen (bit n: thread n) */
	uint64_t first_threads, then_threads;
	bool lacks_lock; /* one side lacks a lock that every other access holds */
	double worth;	 /* plan_make: its separation, and what else speaks for or against it */
	uint32_t place;	 /* plan_make: its number in the order of trials */
	unsigned group;	 /* plan_make; 0: tells failing from passing schedules best */
};
struct planned_cures VEC_FIELDS(struct planned_cure);

/* The most promising first: those that tell failing from passing schedules about equally well form a
 * group; in a group, the cheapest come first. */
void plan_make(struct planned_cures *all);

#endif
