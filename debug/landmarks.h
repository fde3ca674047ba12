/* debug/landmarks.h - what can be recognised in the code of a binary without symbols: calls of imported functions,
 * calls of its own functions, constants that lie in read-only data and may be texts.
 *
 * Nothing is disassembled: an instruction with a 32-bit distance is looked for at every byte, and counts only if the
 * distance leads to the beginning of a function, to the slot of an import, or to read-only data. */
#ifndef DEBUG_LANDMARKS_H
#define DEBUG_LANDMARKS_H

#include "debug/text.h"

struct err;

struct landmark {
	uint64_t address; /* behind the instruction */
	enum landmark_kind { LANDMARK_IMPORT, LANDMARK_CALL, LANDMARK_TEXT } kind;
	const char *text; /* IMPORT: its name; TEXT: what lies there, which ends in 0. Borrowed */
	uint64_t target;  /* CALL: where the function begins */
	bool jump;	  /* in place of a call before a return */
};

struct landmarks {
	struct text text;
	VEC(struct landmark) all; /* by address */
	VEC(uint64_t)
	owners;		/* per function of the text: where the one begins that it is a part of */
	uint64_t main;	/* where main begins; 0 = not known */
	uint64_t start; /* the function at the program's entry point */
};

struct err *landmarks_open(const char *path, struct landmarks *ret);
void landmarks_close(struct landmarks *l); /* also after an error of landmarks_open */

/* Where the function around an address begins: of the part that is called, if compilers put a part of it elsewhere.
 * 0 = the tables have none. */
uint64_t landmarks_function(const struct landmarks *l, uint64_t address);
/* The call directly before a return address; NULL = none of those that are known. */
const struct landmark *landmarks_call_before(const struct landmarks *l, uint64_t address);

#endif
