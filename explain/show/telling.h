/* explain/show/telling.h - a cause in words. Who tells it does not know whether it will be the headline:
 * that is decided by the evidence (rank/). */
#ifndef EXPLAIN_SHOW_TELLING_H
#define EXPLAIN_SHOW_TELLING_H

#include "explain/explanation.h"

struct stacks;
struct steps;
struct trace;

/* Strings in the explanation's arena. */
struct telling {
	enum bug_kind kind;
	const char *summary; /* what happened; NULL: nothing can be said */
	const char *advice;  /* what to do; NULL: nothing */
};

/* What a teller looks at; borrowed. */
struct scene {
	struct explanation *x; /* for its arena and the names of threads */
	struct trace *trace;   /* a recording of the failing run, for names */
	const struct stacks *stacks;
	const struct steps *failing, *passing;
};

#endif
