/* rewind/fixed.h - what a register holds at the beginning of a block in every run of its function. */
#ifndef REWIND_FIXED_H
#define REWIND_FIXED_H

#include <stdbool.h>
#include <stdint.h>

struct function;

enum fixed_kind {
	FIXED_NOT_REACHED,
	FIXED_NUMBER, /* always the same */
	FIXED_FRAME, /* the frame's address plus a number; that is the stack pointer before the call + 0 */
	FIXED_NO,
};

struct fixed {
	uint8_t kind;
	uint64_t number;
};

/* The general registers before and behind a block. */
struct fixed_block {
	struct fixed before[16], behind[16];
};

/* A block to which jumps of another function lead. */
struct fixed_entry {
	uint64_t address;
	struct fixed
		stack; /* the stack pointer there, as the unwind table says; nothing else is known */
};

/* One per block. is_entry: the function's first instruction is where calls lead, so that the stack pointer
 * is the frame's address - 8 there. outside: n other ways in. */
struct fixed_block *fixed_find(const struct function *f, bool is_entry,
			       const struct fixed_entry *outside, uint32_t n);

/* A general register before the instruction at `address`. */
struct fixed fixed_at(const struct function *f, uint64_t address, unsigned reg);
/* The stack pointer before the instruction at `address`, from the frame's address on. False: it is not the same in every
 * run. */
bool fixed_stack(const struct function *f, uint64_t address, uint64_t *ret);

#endif
