/* explain/show/present.h - steps and numbers into names and source lines. */
#ifndef EXPLAIN_SHOW_PRESENT_H
#define EXPLAIN_SHOW_PRESENT_H

#include "explain/cure/cure.h"
#include "explain/explanation.h"
#include "explain/find/projection.h"

struct err;
struct plait_failure;
struct run_result;
struct stacks;
struct trace;

/* Fill in the schedules, flows, threads and pair of x. `trace` is a recording of the failing run,
 * for names; stacks: what is known of its call stacks. */
struct err *present_schedules(struct explanation *x, struct trace *trace,
			      const struct stacks *stacks, const struct steps *failing,
			      const struct alternate *alternate,
			      const struct projection *projection);

/* Sentences about a cure, with source lines; into x's arena (sentences.c). */
struct err *present_cure(struct explanation *x, struct trace *trace, const struct stacks *stacks,
			 const struct steps *failing, const struct steps *passing,
			 const struct cure *cure);

/* Which threads wait for ever, with their stacks: x->waits (waits.c). */
struct err *present_waits(struct explanation *x, struct trace *trace,
			  const struct run_result *failing);
/* Two kinds of waiting for ever that are no lost wake-ups: a thread waits for a signal while it
 * holds a lock that the others need; what it waits for was there, and another thread took it away.
 * When it is one of them, kind, summary and advice of x say so (stuck.c). */
struct err *present_stuck(struct explanation *x, struct trace *trace, const struct stacks *stacks,
			  const struct steps *failing);

/* Where the program itself was when it failed, also into x's fields; NULL = not known. */
const char *present_failure(struct explanation *x, struct trace *trace,
			    const struct plait_failure *failure);

/* "main.c:12 in get()" for a program counter or a site; into x's arena. */
const char *present_site(struct explanation *x, struct trace *trace, uint32_t site);

#endif
