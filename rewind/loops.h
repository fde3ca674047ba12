/* rewind/loops.h - the loops of a function. */
#ifndef REWIND_LOOPS_H
#define REWIND_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct function;

/* Blocks that can reach each other, and that control can only get into by the first instruction of one of them. */
struct loop {
	const struct function *function;
	uint32_t header; /* that block */
	bool *has;	 /* per block of the function: is it one of them? */
	bool calls;	 /* one of them ends with a call */
};

/* Outer loops before those in them. */
struct loops {
	struct loop *data;
	size_t len, cap;
};

void loops_find(const struct function *f, struct loops *ret);
void loops_deinit(struct loops *l);
/* Does the block around this address belong to the loop? f: the address's function. */
bool loop_has(const struct loop *l, const struct function *f, uint64_t address);

#endif
