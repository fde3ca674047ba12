/* explain/load.h - a recorded run into steps. */
#ifndef EXPLAIN_LOAD_H
#define EXPLAIN_LOAD_H

#include "explain/steps.h"

struct err;
struct trace;

/* The communicating events of a trace whose clock is a total order, linked. */
struct err *steps_load(struct trace *trace, struct steps *ret);

#endif
