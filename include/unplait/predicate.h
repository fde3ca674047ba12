/* unplait/predicate.h - a condition over the program's variables, as code for a small stack machine.
 *
 * The tool makes it of a C expression and of debug information (debug/predicate.h), the runtime
 * evaluates it while the program runs (rt/control/predicate.c). sched/predicate.c is the machine. */
#ifndef UNPLAIT_PREDICATE_H
#define UNPLAIT_PREDICATE_H

#include <stdint.h>

enum plait_predicate_op {
	PLAIT_PREDICATE_NUMBER,	 /* push `value` */
	PLAIT_PREDICATE_PLACE,	 /* push the address of a variable: `value` in the program's file */
	PLAIT_PREDICATE_LOAD,	 /* an address becomes what is stored there */
	PLAIT_PREDICATE_CONVERT, /* a number becomes one of `type` */
	/* two numbers become one; `type` is that of both */
	PLAIT_PREDICATE_MULTIPLY,
	PLAIT_PREDICATE_DIVIDE,
	PLAIT_PREDICATE_REMAINDER,
	PLAIT_PREDICATE_ADD,
	PLAIT_PREDICATE_SUBTRACT,
	PLAIT_PREDICATE_LEFT,
	PLAIT_PREDICATE_RIGHT,
	PLAIT_PREDICATE_LESS,
	PLAIT_PREDICATE_LESS_EQUAL,
	PLAIT_PREDICATE_EQUAL,
	PLAIT_PREDICATE_UNEQUAL,
	PLAIT_PREDICATE_AND,
	PLAIT_PREDICATE_XOR,
	PLAIT_PREDICATE_OR,
	/* to step number `value` */
	PLAIT_PREDICATE_JUMP,
	PLAIT_PREDICATE_UNLESS, /* pop; jump if it was 0 */
};

/* A type: its size in bytes, and this bit if it is unsigned. */
enum { PLAIT_PREDICATE_UNSIGNED = 16 };

struct plait_predicate_step {
	uint32_t op;   /* enum plait_predicate_op */
	uint32_t type; /* where the operation needs one */
	int64_t value;
};

enum { PLAIT_PREDICATE_STEPS = 512, PLAIT_PREDICATE_STACK = 64 };

struct plait_predicate {
	uint32_t n, reserved; /* n = 0: the user gave no predicate */
	struct plait_predicate_step step[PLAIT_PREDICATE_STEPS];
	char text[1024]; /* as the user wrote it */
};

#endif
