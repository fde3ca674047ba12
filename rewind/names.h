/* rewind/names.h - what addresses of a dump are called: functions and lines, variables, heap blocks. */
#ifndef REWIND_NAMES_H
#define REWIND_NAMES_H

#include "debug/modules.h"

#include <stdbool.h>
#include <stdint.h>

struct dump;
struct strbuf;

/* Both are borrowed. */
struct dump_names {
	const struct dump *dump;
	struct modules *modules;
};

/* The functions at a program counter, innermost first; the caller frees the list (vec_deinit). */
void dump_names_frames(struct dump_names *n, uint64_t pc, struct source_frames *ret);
/* "main.c:31 in list_push", or the function alone, or "0x55..+..."; appended. */
void dump_names_add_place(struct dump_names *n, uint64_t pc, struct strbuf *out);
/* "queue.head", "heap block of 24 bytes + 8", "stack of main + 16": appended. `bits` may be 0. */
void dump_names_add_object(struct dump_names *n, uint64_t address, struct strbuf *out);
/* The bounds of the global variable around an address. */
bool dump_names_global(struct dump_names *n, uint64_t address, uint64_t *base, uint64_t *size);

#endif
