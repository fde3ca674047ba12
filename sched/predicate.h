/* sched/predicate.h - evaluate a condition over variables (unplait/predicate.h). */
#ifndef SCHED_PREDICATE_H
#define SCHED_PREDICATE_H

#include "unplait/predicate.h"

#include <stdbool.h>
#include <stddef.h>

/* Where variables are. */
struct predicate_memory {
	uint64_t load_address; /* of the program: added to the addresses in its file */
	/* Copy what is there; false: it cannot be read. */
	bool (*read)(uint64_t address, void *to, size_t n);
	/* The same with an argument, if it is there. */
	bool (*read_with)(void *arg, uint64_t address, void *to, size_t n);
	void *arg;
};

enum predicate_answer {
	PREDICATE_HOLDS,
	PREDICATE_BROKEN,
	PREDICATE_UNKNOWN, /* it reads memory that is not there, or divides by zero */
};
enum predicate_answer predicate_evaluate(const struct plait_predicate *p,
					 const struct predicate_memory *m);
/* The value of an expression; false: PREDICATE_UNKNOWN. */
bool predicate_value(const struct plait_predicate *p, const struct predicate_memory *m,
		     uint64_t *ret);

#endif
