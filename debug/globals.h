/* debug/globals.h - the numbers and pointers in a program's own variables with static storage.
 *
 * They come from debug information, and what they hold at first from the file. A dump of the program has them at the
 * same addresses, moved by the module's bias: what differs there was stored to. */
#ifndef DEBUG_GLOBALS_H
#define DEBUG_GLOBALS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dump;
struct err;
struct modules;

struct global_part {
	const char *variable; /* as the source calls it */
	uint64_t size;	      /* of the variable */
	uint64_t offset;      /* of the part in it */
	uint64_t address;     /* of the part, as the file counts */
	uint64_t first;	      /* what it holds before the program runs */
	uint8_t bytes;	      /* 1, 2, 4 or 8 */
	bool pointer;
	bool moves; /* to `first` the module's bias is added */
	bool alone; /* no other variable has this name */
};

/* Owns the strings of its parts. */
struct globals {
	struct modules *modules;
	struct module *module;	       /* owned by modules */
	VEC(struct global_part) parts; /* by address */
};

/* Of the program at `path`. No parts when it has no debug information. */
struct err *globals_open(const char *path, struct globals *ret);
void globals_close(struct globals *g); /* also after an error */

/* What the part holds in a dump of that program; false when it was not dumped. *changed: that is not what it held at
 * first. */
bool global_part_read(const struct global_part *p, const struct dump *d, uint64_t *ret,
		      bool *changed);

#endif
