/* solve/load.h - a recording into an order model, by way of the symbolic machine.
 *
 * What the machine cannot follow, or terms cannot express, is counted and named; the caller decides
 * whether to go on with it. */
#ifndef SOLVE_LOAD_H
#define SOLVE_LOAD_H

#include "order/model/build.h"

struct err;
struct sym_program;
struct trace;

struct loaded {
	struct order_built built;
	uint32_t failing;      /* thread of the failure; ORDER_NONE: a deadlock, or no failure */
	const char *condition; /* what the failure was taken to be, in words */
	struct names gaps;     /* what was left out or assumed, in words */
	char *unsupported;     /* why there is no model; NULL = there is one */
	bool stuck;	       /* a deadlock, and a choice of where the threads wait */
	uint64_t steps, symbols, conditions;
	double seconds; /* of following the paths */
};
void loaded_deinit(struct loaded *l);

struct load_options {
	double seconds; /* limit on following the paths; 0 = none */
	unsigned skip;	/* a deadlock: that many choices of where the threads wait led nowhere */
	struct sym_program *program; /* of the recording's binary, already open; NULL = open it */
};

/* ERR_ENV when the recording is no path recording of a binary that is still there. */
struct err *load_recording(struct trace *t, const struct load_options *options, struct loaded *ret);

#endif
