/* run/place.h - where a run failed, in the words of the source: stacks of the thread that failed
 * and of the threads that wait. */
#ifndef RUN_PLACE_H
#define RUN_PLACE_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct plait_blocked;
struct run_result;
struct stack;
struct symbols;
struct trace_outcome;

/* Strings are owned. */
struct place {
	char *file; /* "" = unknown */
	char *function;
	uint32_t line;
	bool library; /* not in the program's own file */
	bool merged; /* the program's own, but an optimiser made one of several pieces of code: no line is known */
};
struct places VEC_FIELDS(struct place);

void places_deinit(struct places *p);
/* The frames of the program's own code and of its libraries, innermost first, at most PLACES_MOST.
 * Frames of the runtime are left out, and those of libc at the inner end (abort, raise). */
enum { PLACES_MOST = 8 };
void places_of_blocked(struct symbols *s, const struct plait_blocked *b, struct places *ret);
/* The thread that failed; in a deadlock the first that waits. Empty when the run left no frames.
 * The plait at `path` says what the addresses mean. */
struct err *places_of_failure(const struct run_result *r, const char *path, struct places *ret);
/* The same without a limit and with merged code, with the symbols of an open plait. */
void places_of_failure_all(struct symbols *s, const struct run_result *r, struct places *ret);
void places_of_blocked_all(struct symbols *s, const struct plait_blocked *b, struct places *ret);
/* Of the run that a plait holds. */
void places_of_outcome(struct symbols *s, const struct trace_outcome *o, struct places *ret);
/* Of a thread of a core dump. */
void places_of_stack(const struct stack *k, struct places *ret);
/* The innermost place that is not in a header of the system; NULL when there is none. Borrowed. */
const struct place *places_at(const struct places *p);

#endif
