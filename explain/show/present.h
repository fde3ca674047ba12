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

/* Threads that hold locks and wait for each other's. tested: as for present_stuck. */
bool has_cycle(const struct steps *failing);
struct err *present_cycle(struct explanation *x, struct trace *trace, const struct stacks *stacks,
			  const struct steps *failing, const struct cure *tested);

/* Which threads wait for ever, with their stacks: x->waits (waits.c). */
struct err *present_waits(struct explanation *x, struct trace *trace,
			  const struct run_result *failing);
/* A thread waits for a signal for ever: kind, summary and advice of x say why, where the run itself
 * shows it (stuck.c). tested: the cure that x's advice was tested with; NULL: none. */
struct err *present_stuck(struct explanation *x, struct trace *trace, const struct stacks *stacks,
			  const struct steps *failing, const struct cure *tested);

/* Where the program itself was when it failed, also into x's fields; NULL = not known. */
const char *present_failure(struct explanation *x, struct trace *trace,
			    const struct plait_failure *failure);

/* "main.c:12 in get()" for a program counter or a site; into x's arena. */
const char *present_site(struct explanation *x, struct trace *trace, uint32_t site);

#endif
