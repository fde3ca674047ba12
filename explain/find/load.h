/* explain/find/load.h - a recorded run into steps. */
#ifndef EXPLAIN_FIND_LOAD_H
#define EXPLAIN_FIND_LOAD_H

#include "explain/find/steps.h"

struct err;
struct trace;

/* The communicating events of a trace whose clock is a total order, linked. */
struct err *steps_load(struct trace *trace, struct steps *ret);

#endif
