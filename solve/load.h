/* solve/load.h - a recording into an order model, by way of the symbolic machine.
 *
 * The only file of order/ that knows sym/ is load.c (with load-expr.c for expressions). What the
 * machine cannot follow, or terms cannot express, is counted and named; whoever asks decides
 * whether to go on with it. */
#ifndef SOLVE_LOAD_H
#define SOLVE_LOAD_H

#include "order/model/build.h"

struct err;
struct trace;

struct order_loaded {
	struct order_built built;
	uint32_t failing;      /* thread of the failure; ORDER_NONE: a deadlock, or no failure */
	const char *condition; /* what the failure was taken to be, in words */
	struct names gaps;     /* what was left out or assumed, in words */
	char *unsupported;     /* why there is no model; NULL = there is one */
	bool stuck;	       /* a deadlock, and a choice of where the threads wait */
	uint64_t steps, symbols, conditions;
	double seconds; /* of following the paths */
};
void order_loaded_deinit(struct order_loaded *l);

struct order_load_options {
	double seconds; /* limit on following the paths; 0 = none */
	unsigned skip;	/* a deadlock: that many choices of where the threads wait led nowhere */
};

/* ERR_ENV when the recording is no path recording of a binary that is still there. */
struct err *order_load(struct trace *t, const struct order_load_options *options,
		       struct order_loaded *ret);

#endif
