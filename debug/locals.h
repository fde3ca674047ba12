/* debug/locals.h - the variables that a program has at one of its instructions, and what they hold.
 *
 * The state of the program is given by two callbacks, one for registers and one for memory. Either may say that it does
 * not know: a variable whose place or value follows from that is not known, and nothing else is. */
#ifndef DEBUG_LOCALS_H
#define DEBUG_LOCALS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module;
struct strbuf;

/* A frame: where it is, and the state of the program there. */
struct scope {
	struct module *module;
	uint64_t
		offset; /* of the instruction, as the module's file counts; of a caller: the byte before its return address */
	uint64_t bias;	/* run-time address minus the file's */
	void *arg;	/* for both callbacks */
	/* A register by DWARF's number; false: not known. */
	bool (*reg)(void *arg, unsigned number, uint64_t *ret);
	/* Copy memory; false: some of it is not known. */
	bool (*read)(void *arg, uint64_t address, void *to, size_t n);
};

struct local {
	char *name,
		*text; /* owned; text: the value as C would write it, with ? for what is not known */
	bool known;    /* all of it */
};
struct locals VEC_FIELDS(struct local);

/* Append the variables and parameters of the innermost function, inlined ones count, innermost block first. A name
 * that an inner block hides is left out. */
void scope_locals(const struct scope *s, struct locals *ret);
void locals_deinit(struct locals *l);
/* The variable of the frame's function that lies around an address: where it begins, its size, and its name with the
 * member or element, appended. False: there is none. */
bool scope_local_at(const struct scope *s, uint64_t address, uint64_t *base, uint64_t *size,
		    struct strbuf *name);

/* The addresses (as the file counts) at which a line of the source begins. `file` is the end of a path: "queue.c",
 * "src/queue.c". False: no such file in the module. Without code on that line nothing is appended, and *next is the
 * first line behind it that has some; 0 = none. */
struct addresses VEC_FIELDS(uint64_t);
bool module_line_begins(struct module *m, const char *file, unsigned line, struct addresses *ret,
			unsigned *next);

#endif
