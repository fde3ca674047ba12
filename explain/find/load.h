/* explain/find/load.h - a recorded run into steps. */
#ifndef EXPLAIN_FIND_LOAD_H
#define EXPLAIN_FIND_LOAD_H

#include "explain/find/steps.h"

struct run_result;
struct err;
struct trace;

/* The communicating events of a trace whose clock is a total order, linked. */
struct err *steps_load(struct trace *trace, struct steps *ret);

/* An access that was caught before it was done (memory that was freed) is no event of the run. Who
 * was about to do it, and where, is known: a pending step at the end. STEP_NONE: none was. */
uint32_t steps_add_caught(struct steps *s, const struct run_result *r);

#endif
