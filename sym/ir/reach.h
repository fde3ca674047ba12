/* sym/ir/reach.h - how far is it from here to a stack? (001 section 4.2, algorithm 1)
 *
 * The goal is a stack of a core dump, as the source has it: function and line from main, or from a
 * thread's first function, to the place of the failure. A function of the bitcode may hold several of
 * these frames, because others were inlined into it. A *stop* is a function together with the number
 * of the goal's frames that lie outside of it; its *sites* are the operations at which its part of the
 * goal is complete: calls that lead to the next stop, or the place of the failure itself.
 *
 * Distances are counted in operations, a call costs what the callee needs to come back. They are
 * computed once; to ask costs as many steps as the state has frames. */
#ifndef SYM_IR_REACH_H
#define SYM_IR_REACH_H

#include "base/vec.h"
#include "sym/sym.h"

#include <stdbool.h>
#include <stdint.h>

struct function;
struct ir;

#define REACH_NEVER UINT32_MAX /* there is no way */

struct reach_stop {
	uint32_t function, depth; /* frames of the goal outside of it */
	uint32_t *distance;	  /* per operation: to the goal, inside this call */
	uint32_t *next;		  /* per operation: 1 + stop that a call leads to; 0 = no site */
	uint8_t *here;		  /* per operation: the goal itself */
	bool possible;		  /* it has sites */
};

/* Per function, made when it is needed. */
struct reach_costs {
	uint32_t *back; /* per operation: to the end of the call */
};

struct reach {
	struct ir *ir;
	const struct sym_point *points; /* outermost first; borrowed */
	uint32_t npoints;
	VEC(struct reach_stop) stops; /* the first is where the goal begins */
	struct reach_costs *costs;    /* per function of the program */
	uint32_t ncosts;
	bool exact; /* nothing jumps over frames: what cannot be reached never will be */
	bool tails; /* the goal may lack frames: calls that were made jumps */
	uint32_t
		slack; /* callers were found up to so many lines away; REACH_NEVER = by function alone */
};

/* False when the program has no such stack. Lowers every function of the program. */
bool reach_init(struct reach *r, struct ir *ir, const struct sym_point *points, uint32_t n);
void reach_deinit(struct reach *r);

/* A frame of a state's stack, as reach needs it. */
struct reach_frame {
	uint32_t function, pc; /* of a caller: the operation behind the call */
};
/* frames[0] is the outermost. REACH_NEVER when the goal cannot be reached any more. *at: the innermost
 * operation is the goal, with the goal's stack. */
uint32_t reach_distance(const struct reach *r, const struct reach_frame *frames, uint32_t n,
			bool *at);

/* Ways to some operations, wherever they are called from. */
struct reach_place {
	uint32_t function, pc;
};
struct reach_ways {
	uint32_t **distance; /* per function: NULL, or per operation */
	uint32_t nfunctions;
};
void reach_ways_init(struct reach_ways *w, const struct reach *r, const struct reach_place *to,
		     size_t n);
void reach_ways_deinit(struct reach_ways *w);
/* To the nearest of them, from a stack of frames, the outermost first. */
uint32_t reach_ways_distance(const struct reach_ways *w, const struct reach *r,
			     const struct reach_frame *frames, uint32_t n);

/* Successors of an operation inside its function, at most `max`; returns how many there are. A call's
 * is the operation behind it. */
uint32_t op_successors(const struct ir *ir, const struct function *f, uint32_t pc, uint32_t *ret,
		       uint32_t max);

#endif
