/* solve/solve.h - solver proposes, replay disposes.
 *
 * A solver can say which interleaving must have happened; only a native run can show that it does.
 * This folder is the way from the one to the other:
 *
 *	a recording becomes a question      load.c      per-thread paths -> a model of order/
 *	the question gets an answer         question.c  which order fails, which nearby one passes
 *	the answer becomes a schedule       realize.c   events of the model -> operations of threads
 *	the schedule becomes a native run   carry.c     run, compare, correct, until it fits
 *
 * Callers that have a recording ask as `unplait solve` does:
 *
 *	struct question q;
 *	err = question_open(trace, session, &options, &q);
 *	err = question_fail(&q);            q.failing: an order, and the native run of it
 *	err = question_pass(&q);            q.passing: the nearest that does not fail
 *	if (q.failing.confirmed) ...        only now it is a finding
 *	question_close(&q);
 *
 * Callers that have a schedule from elsewhere (the symbolic machine, a prediction) write it as
 * operations and call carry_out(). A hunt takes a proposer (propose.h), which does both.
 *
 * Nothing is a finding that `confirmed` or `followed` does not vouch for. */
#ifndef SOLVE_SOLVE_H
#define SOLVE_SOLVE_H

#include "solve/carry.h"
#include "solve/propose.h"
#include "solve/question.h"

#endif
