/* debug/predicate.h - a C expression over a program's global variables becomes code. */
#ifndef DEBUG_PREDICATE_H
#define DEBUG_PREDICATE_H

#include "unplait/predicate.h"

#include <stdbool.h>
#include <stddef.h>

struct err;
struct scope;
struct strbuf;

/* Variables with static storage, by name, with members, elements and what pointers lead to; integers,
 * characters, all of C's operators that change nothing but casts, sizeof and calls. Numbers are
 * integers and pointers. An error says what is not understood. */
struct err *predicate_compile(const char *text, const char *program, struct plait_predicate *ret);

/* What an expression is that was compiled for one moment. */
struct predicate_meaning {
	bool is_place;	/* the code leaves the address of something of `size` bytes, else a value */
	bool is_number; /* that something is an integer or a pointer: it can be compared */
	uint64_t size;
	bool is_unsigned;
	size_t frame; /* the frame that its first variable belongs to; `frames`: a global one */
	char unknown[128]; /* a variable whose place cannot be told at that moment; "" = none */
};
/* The same over the variables of frames, innermost first, and then over the global ones of their
 * modules. Addresses in the code are those of the process. */
struct err *predicate_compile_in(const char *text, const struct scope *frames, size_t nframes,
				 struct plait_predicate *ret, struct predicate_meaning *meaning);

#endif
