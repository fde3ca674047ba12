/* rewind/trail.h - private to rewind/: follow one value backwards along the suffix.
 *
 * From the place where a value is (a register, or memory) to the instruction that set it, to the
 * memory that was read there, to the write that put the value there, and so on, until a constant, a
 * call that was skipped, a computation from several values, or the suffix's beginning. Each step is a
 * link of the cause's chain. */
#ifndef REWIND_TRAIL_H
#define REWIND_TRAIL_H

#include "rewind/rewind.h"

/* What is being followed: a register, or bytes of memory. */
struct place {
	bool in_memory;
	unsigned reg;
	uint64_t address;
	unsigned w;
};

/* A position in the suffix, walked backwards: the instruction before it is the next to look at. */
struct cursor {
	const struct node *node;
	uint32_t piece, insn; /* behind this one */
};

struct trail {
	struct rewind *r;
	struct history *h;
	const struct past *best;
	struct place place;
	struct cursor at;
	bool lost; /* the chain ends at an address that is not known yet */
};

/* The instruction of the cursor, and its function. */
const struct insn *trail_insn(const struct trail *t, const struct function **f);
/* One instruction back; false at the suffix's beginning. */
bool trail_back(struct trail *t);
void trail_add(struct trail *t, struct link l);

/* The order of the cursor's instruction in its step, as accesses count. */
uint32_t trail_order(const struct cursor *c);
/* The operation that makes a temporary of an instruction, and the last one that sets a register; NULL = none. */
const struct lift_op *trail_definition(const struct lift_op *ops, unsigned n, uint16_t temp);
const struct lift_op *trail_last_put(const struct lift_op *ops, unsigned n, unsigned reg);
/* The value that a temporary has at a moment. */
bool trail_evaluate(const struct trail *t, const struct past *p, const struct lift_op *ops,
		    unsigned n, uint16_t temp, uint64_t *ret);

/* What an instruction could not use. */
struct bad_use {
	bool found, is_write, is_jump;
	bool is_divisor;  /* a division by it is what failed: no address */
	uint64_t address; /* that could not be used */
	uint64_t from;	  /* where the target or the divisor was read; 0 = it was in the register */
	uint8_t w;	  /* bits that were read there */
	unsigned reg;
	bool has_reg;
	bool scaled; /* the register is multiplied in the address */
};

/* Which access of the failing instruction failed? */
struct bad_use trail_find_use(struct trail *t, const struct function *f, const struct insn *in);
/* Is the address in memory that allows this (2 write, 4 read)? */
bool is_mapped(const struct dump *d, uint64_t address, uint32_t flag);

/* The cursor's instruction looked at something, memory first, else a register: that becomes the place. */
bool trail_to_operand(struct trail *t);
/* Where the cursor's instruction stored something; false: that is not known. */
bool trail_stored_at(struct trail *t, uint64_t *address);
/* The cursor's instruction stored something: the chain's next link. False: where is not known. */
bool trail_to_store(struct trail *t);
/* From the cursor's branch back to what it compared: that becomes the place. False: not known. */
bool trail_to_compared(struct trail *t);
/* Control went where no code is: follow the target of the jump or call at the suffix's end. Else as trail_walk(). */
bool trail_walk_from_jump(struct trail *t);
/* Follow the place to the end of its chain. False: it may go on before the suffix. */
bool trail_walk(struct trail *t);

#endif
