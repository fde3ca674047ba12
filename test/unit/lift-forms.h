/* test/unit/lift-forms.h - which form of instruction is this?
 *
 * Two instructions have the same form if the lifter treats them alike: the same opcode, prefixes, width
 * and length of vectors, and both work on a register or both on memory. Which registers, which address
 * and which constant does not matter. */
#ifndef TEST_LIFT_FORMS_H
#define TEST_LIFT_FORMS_H

#include <stdbool.h>
#include <stdint.h>

struct form {
	uint64_t key;	/* equal for equal forms */
	unsigned modrm; /* where that byte is; 0 = none */
	bool relative;	/* memory at a distance from the instruction's end, 4 bytes behind modrm */
};

struct form form_of(const uint8_t *bytes, unsigned length);

#endif
