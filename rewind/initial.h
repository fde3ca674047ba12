/* rewind/initial.h - private to rewind/: what a module's own data is when the program begins. */
#ifndef REWIND_INITIAL_H
#define REWIND_INITIAL_H

#include "debug/text.h"

struct code;
struct dump;
struct dump_module;

struct initial {
	const struct dump *dump;	  /* borrowed */
	struct code *code;		  /* borrowed */
	const struct dump_module *module; /* the last one asked about, and its relocations */
	struct text_relocations relocations;
};

void initial_deinit(struct initial *x);

/* The byte at an address, as main() finds it: from the file, relocated, or zero. False: not known, because that is no data
 * of a module, another module decides it, or the module has code that runs before main(). */
bool initial_byte(struct initial *x, uint64_t address, uint8_t *ret);

#endif
