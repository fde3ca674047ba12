/* sym/follow/addrmap.h - private to sym/: addresses of the recorded run and addresses of the machine.
 *
 * A recorded pointer is a number of the native process. Globals and functions are found by the
 * binary's symbols, heap blocks by the recorded allocations, everything else (stacks, constants
 * without a symbol, what libc owns) is learned: where the machine's memory holds a pointer and the
 * recording says what the native one was, that object's native place is known from then on. */
#ifndef SYM_FOLLOW_ADDRMAP_H
#define SYM_FOLLOW_ADDRMAP_H

#include "sym/ir/ir.h"
#include "sym/follow/recorded.h"

struct addr_range {
	uint64_t low, size;
	uint64_t machine; /* address of the object's first byte, or of the function */
};

struct addrmap {
	struct recorded *r;		/* borrowed */
	VEC(struct addr_range) symbols; /* by address; functions have size 1 */
	VEC(struct addr_range) learned; /* newest last */
	struct map base_of;		/* object id -> native address of its first byte, + 1 */
	VEC(uint32_t) by_address;	/* heap blocks, ascending */
	uint64_t largest;
	struct addr_section {
		uint64_t low, size;
		uint8_t *bytes;
	} *sections; /* constant ones; owned */
	size_t nsections;
};

struct err *addrmap_init(struct addrmap *n, struct recorded *r, const struct ir *ir);
void addrmap_deinit(struct addrmap *n);

/* The machine's address of a native one that was in use between two clocks; 0 = unknown.
 * A heap block that has no object yet is handed out in *block (to be made, then asked again). */
uint64_t addrmap_machine(struct addrmap *n, uint64_t value, uint64_t clock, uint64_t until,
			 struct rec_block **block);
/* Can this native address, in use between two clocks, be that machine address? Heap blocks that had
 * the same address one after the other are different objects. */
bool addrmap_may_be(const struct addrmap *n, uint64_t machine, uint64_t value, uint64_t clock,
		    uint64_t until);
/* The machine's address among what was learned. Stack addresses are used again: ask memory first.
 */
uint64_t addrmap_learned(const struct addrmap *n, uint64_t value);
/* Object `machine` (its first byte) of `size` bytes lies at `low` natively. */
void addrmap_learn(struct addrmap *n, uint64_t low, uint64_t size, uint64_t machine);
/* What the binary has at that address and never changes: bytes up to the end of its section, in
 * *ret (borrowed from n); 0 = the address is not in a constant section. */
size_t addrmap_constant(const struct addrmap *n, uint64_t native, const uint8_t **ret);
/* The native address of a machine address, 0 = unknown. */
uint64_t addrmap_native(const struct addrmap *n, uint64_t machine);
/* Is this native address that machine address? Data that nobody writes may have a copy in every
 * variant of the binary. */
bool addrmap_is(const struct addrmap *n, uint64_t machine, uint64_t native);

#endif
