/* rewind/hardware.h - did the machine do this, and no program? (001 section 6.5.2)
 *
 * Three strengths. Certain: bytes that nobody can have changed differ from the file they come from, by
 * single bits; or the failing instruction, run again on the dump's state, does not fail. Strong: every
 * way to the dump contradicts it, and with one bit flipped there is one (flipped.h). Weak: one flipped bit
 * in the bad address would make it a good one, and nothing else explains it. */
#ifndef REWIND_HARDWARE_H
#define REWIND_HARDWARE_H

#include <stdbool.h>
#include <stdint.h>

struct dump;
struct code;
struct err;
struct strbuf;

enum hardware_strength { HARDWARE_NONE, HARDWARE_WEAK, HARDWARE_STRONG, HARDWARE_CERTAIN };

struct hardware {
	uint8_t strength;
	uint64_t address;   /* of what differs, or the bad address */
	uint64_t compared;  /* bytes compared with files */
	uint64_t differing; /* bytes */
	char what[200];
	char against[120]; /* what speaks against it, or was not done */
};

const char *hardware_name(enum hardware_strength s);

/* may_run: the failing instruction may be run again. */
struct err *hardware_check(const struct dump *d, struct code *c, bool may_run,
			   struct hardware *ret);

#endif
