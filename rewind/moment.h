/* rewind/moment.h - private to rewind/: one moment of a suffix as a debugger shows it: frames, variables, expressions. */
#ifndef REWIND_MOMENT_H
#define REWIND_MOMENT_H

#include "debug/locals.h"
#include "rewind/rewind.h"

enum { MOMENT_FRAMES = 24 };

struct moment;

struct moment_frame {
	struct moment *moment;
	uint64_t pc;	   /* of a caller: its return address */
	uint64_t regs[16]; /* by DWARF's numbers */
	bool known[16];
};

/* Does not move in memory: its scopes refer to it. */
struct moment {
	struct rewind *r;
	const struct past *past;
	bool others; /* threads that live beside this one: what they share with it is not known */
	struct moment_frame frames[MOMENT_FRAMES]; /* innermost first */
	struct scope scopes[MOMENT_FRAMES];
	size_t n; /* frames in modules with symbols; at least the innermost, if its module is known */
};

/* Borrows the past. */
void moment_init(struct moment *m, struct rewind *r, const struct past *p);
/* w bytes (at most 8); false: not known. */
bool moment_read(const struct moment *m, uint64_t address, void *to, size_t n);

/* What an expression means at this moment. */
struct moment_value {
	bool is_place, known; /* known: address, or value if it is no place */
	uint64_t address, size;
	bool has_value; /* of something that can be compared */
	uint64_t value;
	bool is_unsigned;
	size_t frame;	   /* of its first variable; m->n: it is global */
	char unknown[128]; /* the variable whose place is not known; "" = none */
};
struct err *moment_evaluate(struct moment *m, const char *text, struct moment_value *ret);

#endif
