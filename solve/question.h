/* solve/question.h - a recording put to the order engine, and its answers carried out natively
 * (000 sections 4.1.3 to 4.1.5).
 *
 *	struct question q;
 *	err = question_open(trace, session, &options, &q);   paths -> model
 *	err = question_fail(&q);                             a failing schedule, confirmed or not
 *	err = question_pass(&q);                             the nearest that passes
 *
 * Solver proposes, replay disposes: `confirmed` is about native runs only. */
#ifndef SOLVE_QUESTION_H
#define SOLVE_QUESTION_H

#include "solve/realize.h"
#include "solve/load.h"

struct err;
struct trace;

struct question_options {
	double seconds; /* per question to the solver; 0 = 30 */
	uint64_t seed;
	bool keep_switches; /* do not reduce them */
};

/* An order of the model, and what became of it. */
struct question_answer {
	enum order_status status;
	uint32_t *order;
	size_t len;
	size_t switches_found, switches; /* as solved; after reduction */
	struct order_stats stats;
	struct realized native;
	bool confirmed; /* the native run ended as the order says */
	double seconds_solve, seconds_native;
};

struct question {
	struct loaded loaded; /* loaded.unsupported: nothing more can be asked */
	struct question_answer failing, passing;
	struct order_core core;	   /* of the failing order; edges of loaded.built.m */
	struct order_edge flipped; /* that the passing order inverts; before = ORDER_NONE: none */
	size_t pairs_tried;
	bool left_path; /* in the passing run the failing thread decides otherwise somewhere */
	double seconds_trace, seconds_core;
	struct question_options options;
	struct trace *trace;	 /* borrowed */
	struct session *session; /* borrowed; NULL: nothing is run */
	enum plait_outcome_kind recorded;
};

/* session may be NULL: solve, but run nothing. */
struct err *question_open(struct trace *trace, struct session *session,
			  const struct question_options *options, struct question *ret);
void question_close(struct question *q);

struct err *question_fail(struct question *q);
/* Asks why the failing order fails and flips what is to blame. Without a failing order, or for a
 * deadlock: any order that passes. */
struct err *question_pass(struct question *q);

#endif
