/* explain/show/present.h - steps and numbers into names and source lines. */
#ifndef EXPLAIN_SHOW_PRESENT_H
#define EXPLAIN_SHOW_PRESENT_H

#include "explain/cure/cure.h"
#include "explain/explanation.h"
#include "explain/find/projection.h"
#include "explain/show/telling.h"

struct err;
struct guard;
struct plait_failure;
struct run_result;
struct stacks;
struct stuck;
struct trace;

/* Fill in the schedules, flows, threads and pair of x. `trace` is a recording of the failing run,
 * for names; stacks: what is known of its call stacks. */
struct err *present_schedules(struct explanation *x, struct trace *trace,
			      const struct stacks *stacks, const struct steps *failing,
			      const struct alternate *alternate,
			      const struct projection *projection);

/* Sentences about a cure (sentences.c, orders.c, lacks.c). */
struct err *present_cure(const struct scene *scene, const struct cure *cure, struct telling *ret);

/* A lock that one side lacks (lacks.c). */
struct err *present_guard(const struct scene *scene, const struct guard *guard,
			  struct telling *ret);

/* Threads that hold locks and wait for each other's (cycle.c). */
enum cycle_kind {
	CYCLE_NONE,
	CYCLE_OF_LOCKS,
	CYCLE_ORPHAN, /* a lock is held by the thread that waits for it, or by one that has ended */
	CYCLE_OF_UNITS, /* all who hold units of a semaphore wait for more of them */
};
enum cycle_kind find_cycle(const struct steps *failing);
struct err *present_cycle(const struct scene *scene, struct telling *ret);

/* Which threads wait for ever, with their stacks: x->waits (waits.c). */
struct err *present_waits(struct explanation *x, struct trace *trace,
			  const struct run_result *failing);
/* A thread waits for a signal for ever (stuck.c). */
struct err *present_stuck(const struct scene *scene, const struct stuck *stuck,
			  struct telling *ret);

/* The call stack of the thread that failed: x->stack (waits.c). */
struct err *present_stack(struct explanation *x, struct trace *trace,
			  const struct run_result *failing);

/* Where the program itself was when it failed, also into x's fields; NULL = not known. */
const char *present_failure(struct explanation *x, struct trace *trace,
			    const struct plait_failure *failure);

/* How schedules fail that show this face: "Segmentation fault at main.c:12 in get()"; into x's arena. */
const char *present_face(struct explanation *x, struct trace *trace, const struct face *face);

/* "main.c:12 in get()" for a program counter or a site; into x's arena. */
const char *present_site(struct explanation *x, struct trace *trace, uint32_t site);

#endif
