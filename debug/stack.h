/* debug/stack.h - the stacks of a core dump's threads, as the source has them.
 *
 * A machine frame becomes one logical frame per function: inlined functions are frames of their own.
 * Compilers and options change the machine's frames; the logical ones stay. */
#ifndef DEBUG_STACK_H
#define DEBUG_STACK_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct dump;
struct err;
struct modules;
struct stacks;

/* Strings belong to the stacks. */
struct stack_frame {
	const char *function; /* demangled; NULL = not known */
	const char *file;     /* relative to the compilation directory; NULL = not known */
	unsigned line, column;
	bool inlined; /* into the next frame */
	bool split;   /* a part of a function that gcc made a function of: called by the rest */
	bool own;     /* the program's own code: neither a library nor a header of the system */
	bool merged; /* the same, but an optimiser made one of several pieces of code: no line is known */
	uint64_t pc;	    /* of the machine frame; a return address but for the innermost frame */
	const char *module; /* its path; NULL = in no module */
	uint64_t offset;    /* pc as the module's own file counts */
};
struct stack_frames VEC_FIELDS(struct stack_frame);

struct stack {
	struct stack_frames frames; /* innermost first */
	bool whole;		    /* it was walked to the thread's beginning */
	bool guessed; /* the tables did not lead on: return addresses were looked for on the stack */
};

/* What may stand in for the files that the dump names; both may be NULL. */
struct stack_options {
	const char *program;	 /* the program's own file, when it lies elsewhere now */
	const char *sysroot;	 /* libraries are below this folder */
	bool force;		 /* go on with a file of another build */
	struct modules *modules; /* to open them with, borrowed; NULL = its own */
};

/* Borrows the dump. Files that are missing or of another build make notes, but the program's own file
 * must be there and be the one that ran. */
struct err *stacks_open(const struct dump *d, const struct stack_options *o, struct stacks **ret);
void stacks_close(struct stacks *s); /* NULL is fine */
/* The stack of the dump's thread number i. Valid until stacks_close. */
const struct stack *stacks_get(struct stacks *s, size_t i);
/* Path of the program's file. */
const char *stacks_program(const struct stacks *s);
/* Does the program's file have lines? */
bool stacks_has_lines(const struct stacks *s);
/* The address of a symbol in the dumped process; 0 when no module has it. */
uint64_t stacks_symbol(struct stacks *s, const char *name);
/* What could not be used, in words. Returns how many. */
size_t stacks_notes(const struct stacks *s, char *const **ret);

#endif
