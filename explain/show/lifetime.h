/* explain/show/lifetime.h - sentences about something that was used after its end. */
#ifndef EXPLAIN_SHOW_LIFETIME_H
#define EXPLAIN_SHOW_LIFETIME_H

#include "explain/explanation.h"
#include "explain/find/gone.h"

struct err;
struct stacks;
struct trace;

/* Kind, summary and advice of x. keep_advice: the advice that is there says why it came to that. */
struct err *present_lifetime(struct explanation *x, struct trace *trace,
			     const struct stacks *stacks, const struct steps *failing,
			     const struct gone *gone, bool keep_advice);

#endif
