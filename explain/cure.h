/* explain/cure.h - what kind of bug it is, judged by what cures it. */
#ifndef EXPLAIN_CURE_H
#define EXPLAIN_CURE_H

#include "explain/explanation.h"
#include "explain/projection.h"
#include "explain/search.h"

enum { CURE_CONSTRAINTS = 24 };

/* A remedy: constraints by site (any thread, every occurrence), and the steps of the failing run it
 * is about. */
struct cure {
	enum bug_kind kind;
	uint32_t cost; /* how far-fetched it is: try the cheapest first */
	struct plait_constraint constraints[CURE_CONSTRAINTS];
	size_t nconstraints;
	uint32_t from; /* atomic: the block; order: what must come first; may be of the passing run
			*/
	uint32_t to;
	bool to_in_passing; /* `to` is a step of the passing run: the failing one ended before it */
	uint32_t intruder; /* atomic: the step of another thread inside the block; else STEP_NONE */
	/* atomic: what that thread does around the intruder must be one block too; from STEP_NONE:
	 * no */
	uint32_t other_from, other_to;
	bool other_to_in_passing;
};

struct cures VEC_FIELDS(struct cure);

/* Candidates, in no particular order; the cost says which to try first. */
void cures_find(const struct steps *failing, const struct alternate *alternate,
		const struct projection *projection, bool deadlocked, struct cures *ret);

/* The step that took the innermost lock a waiting thread holds; STEP_NONE. */
uint32_t cure_held(const struct steps *s, uint32_t waiting);

/* How often random schedules fail without any remedy: runs until `enough` failures, or the limits.
 */
struct cure_rate {
	uint64_t failed, runs;
};
struct err *cure_rate(const struct explain_runner *runner, uint64_t enough, uint64_t max_runs,
		      uint64_t seed, double seconds, struct cure_rate *ret);

struct cure_trial {
	uint64_t failed, runs;
	bool dropped; /* in some run the constraint had to give way */
};
/* The same schedules with the cure enforced; stops at the first failure if told to. */
struct err *cure_try(const struct explain_runner *runner, const struct cure *cure, uint64_t runs,
		     uint64_t seed, double seconds, bool stop_at_failure, struct cure_trial *ret);

#endif
