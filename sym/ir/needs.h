/* sym/ir/needs.h - what must memory hold on the way to a stack? (001 section 4.3.2)
 *
 * A *necessary edge* is a side of a branch that every way to the goal takes. Where the branch depends on a
 * value in memory that is no input, distances do not help: somebody must have stored the right value
 * first. So each necessary edge is traced back to the cells that it looks at, and to the *writers* that
 * can store what is wanted: these are the intermediate goals of the search. */
#ifndef SYM_IR_NEEDS_H
#define SYM_IR_NEEDS_H

#include "sym/ir/nulls.h"
#include "sym/ir/reach.h"

/* A comparison with a constant: (value & mask) code constant, or the other way round, is `holds`. */
struct want {
	uint16_t code; /* OP_EQ, OP_NE, OP_ULT, OP_ULE, OP_SLT, OP_SLE */
	uint8_t w;     /* bits compared */
	bool swapped;  /* the constant is on the left */
	bool holds;
	uint64_t mask, constant;
};
bool want_is_met(const struct want *want, uint64_t value);
/* How far a value is from what is wanted: 0 = met; saturates. */
enum { WANT_FAR = 1 << 16 };
uint32_t want_gap(const struct want *want, uint64_t value);

struct need {
	struct cells cells; /* one of them is looked at */
	uint8_t bytes;	    /* of the load */
	struct want want;
	bool stored; /* a dump has it: what the goal itself needs is not known to depend on it */
	bool local;  /* of the function that looks at it: it comes and goes with each call */
	VEC(struct reach_place) writers; /* that may store what is wanted */
	uint32_t step; /* every writer adds or subtracts that much at most; 0 = not known */
};

struct needs {
	struct ir *ir;
	struct aliases aliases;
	struct nulls nulls; /* made when it is asked for */
	VEC(struct need) all;
	struct map led; /* operations whose edges were looked at: function << 32 | pc */
	bool of_stored; /* what is traced now is a dump's variable */
	unsigned depth; /* of the trace that is being made */
	uint32_t steps; /* of all traces so far */
};

/* Of every way to the goal. near_null: its last operation must use an address of the first page. */
void needs_init(struct needs *n, struct ir *ir);
void needs_deinit(struct needs *n);
void needs_of_goal(struct needs *n, const struct reach *r, bool near_null);
/* Nobody knows where the goal is: what any branch looks at in memory that others write, and does not find
 * there at first. */
void needs_of_all(struct needs *n);

/* Add a need whose cells and want are set; takes it. f, context: where it was found, NULL = nowhere. False when it is
 * known, or nobody can meet it. */
struct context;
bool needs_take(struct needs *n, struct need *need, const struct function *f,
		const struct context *context);
/* stored.c: the dump says what a global variable held. False when the program has no such variable, several, or no store that
 * could have given it the value. */
bool needs_of_stored(struct needs *n, const struct sym_stored *stored);

#endif
