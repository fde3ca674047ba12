/* explain/show/stacks.h - where a step happened, seen from the code that a reader knows.
 *
 * A step of a library (a lock of libstdc++, a spin lock in a header) is told at the line that
 * called it, and a block whose ends lie in different functions at the two lines of the function
 * that both were called from. The call stacks come from a replay (dynamic.c). */
#ifndef EXPLAIN_SHOW_STACKS_H
#define EXPLAIN_SHOW_STACKS_H

#include "base/map.h"
#include "base/vec.h"
#include "debug/names.h"
#include "explain/find/steps.h"
#include "unplait/control.h"

struct stacks {
	const struct steps *steps; /* of the failing run; borrowed */
	struct map index;	   /* step -> place in data */
	VEC(struct plait_stack) data;
};

void stacks_deinit(struct stacks *s);
void stacks_add(struct stacks *s, uint32_t step, const uint64_t *frames, uint32_t nframes);
/* NULL: not known, or no step of the failing run. */
const struct plait_stack *stacks_find(const struct stacks *s, const struct step *step);

/* Is this file the compiler's or the system's, not the program's? */
bool is_system_file(const char *file);
/* The innermost line of the program itself. */
bool stack_own_line(struct symbols *symbols, const struct plait_stack *s, struct code_point *ret);

/* The first line outside the file that the step is in, of the program itself. */
bool stack_caller(struct symbols *symbols, const struct plait_stack *s, const char *file,
		  struct code_point *ret);

/* The innermost destructor of the program that the step was done in; NULL. As long as the symbols live. */
const char *stack_destructor(struct symbols *symbols, const struct plait_stack *s);

/* Is code of this file on the stack? */
bool stack_has_file(struct symbols *symbols, const struct plait_stack *s, const char *file);

/* Is the innermost code that is known the system's? */
bool stack_in_library(struct symbols *symbols, const struct plait_stack *s);

/* Is this function, by its name and file, somewhere on the stack? */
bool stack_has_function(struct symbols *symbols, const struct plait_stack *s,
			const struct code_point *at);

/* Two steps of one thread whose calls part in one function of the program. */
struct stack_block {
	struct code_point from, to; /* the two lines of that function */
	const struct plait_stack *first, *last;
	uint32_t first_inner, last_inner; /* frames below it */
};
/* False: not known, or both are in that function itself. */
bool stack_common(struct symbols *symbols, const struct plait_stack *first,
		  const struct plait_stack *last, struct stack_block *ret);
/* The line of a third step, seen from outside the functions that the block's ends were in. */
bool stack_beside(struct symbols *symbols, const struct stack_block *b, const struct plait_stack *s,
		  struct code_point *ret);

#endif
