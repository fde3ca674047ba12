/* run/perform.h - run the program on a stage by a script, or without one, at random, and write a script of it. */
#ifndef RUN_PERFORM_H
#define RUN_PERFORM_H

#include "run/script.h"

struct stage;
struct actor;

struct turns_made VEC_FIELDS(struct turn);

struct performance {
	struct stage *stage;
	const struct turn *turns; /* borrowed */
	size_t nturns;
	struct actor *now;	     /* who moved last */
	size_t at;		     /* the turn that it is */
	size_t missed;		     /* turns that ended elsewhere than they say */
	uint32_t steps;		     /* of this turn, still to be made behind its instruction */
	bool begun;		     /* there is a second thread */
	bool only_begin;	     /* stop there */
	struct map wanted;	     /* breaks that the script needs */
	const struct actor *stepped; /* stop when this one has made an instruction; NULL */
};

enum performed {
	PERFORM_FAILED,	 /* now->signal ends the process */
	PERFORM_EXITS,	 /* it ends with stage->exit_code */
	PERFORM_STUCK,	 /* everybody waits for somebody else */
	PERFORM_LATE,	 /* its time is over */
	PERFORM_BREAK,	 /* `now` stands before a break that the script has not set */
	PERFORM_STEPPED, /* `stepped` has made an instruction */
	PERFORM_BEGUN,	 /* only_begin: there is a second thread */
};

/* Go on by the script. After BREAK and STEPPED it can be called again. */
enum performed perform(struct performance *p);
void performance_deinit(struct performance *p);

/* Nobody is ready: give those who sleep a moment. False: nobody will be, *ret says why. */
bool wait_for_somebody(struct stage *s, enum performed *ret);

/* From the second thread on, switch at random, on average at one of `one_in` instructions of the program. The turns
 * that were taken are added to `made`: performed, they give the same run. */
enum performed improvise(struct stage *s, uint64_t seed, unsigned one_in, struct actor **who,
			 struct turns_made *made);

#endif
