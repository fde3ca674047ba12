/* explain/cure.h - what kind of bug it is, judged by what cures it. */
#ifndef EXPLAIN_CURE_H
#define EXPLAIN_CURE_H

#include "explain/explanation.h"
#include "explain/search.h"

/* A remedy: constraints by site (any thread, every occurrence), and the steps of the failing run it
 * is about. */
struct cure {
	enum bug_kind kind;
	struct plait_constraint constraint;
	uint32_t from, to; /* atomic: the block; order: from must come before to */
	uint32_t intruder; /* atomic: the step of another thread inside the block; else STEP_NONE */
};

struct cures VEC_FIELDS(struct cure);

/* Candidates, the most specific first. `deadlocked`: the failing run ended in a deadlock. */
void cures_find(const struct steps *failing, const struct alternate *alternate, bool deadlocked,
		struct cures *ret);

struct cure_trial {
	uint64_t failed_before, runs_before;
	uint64_t failed_after, runs_after;
	bool dropped; /* in some run the constraint had to give way */
};

/* Run `runs` random schedules without and with the cure. */
struct err *cure_try(const struct explain_runner *runner, const struct cure *cure, uint64_t runs,
		     uint64_t seed, double seconds, struct cure_trial *ret);

#endif
