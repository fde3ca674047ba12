/* run/ends.h - play a script on a binary as it is, and compare how two of its runs end. */
#ifndef RUN_ENDS_H
#define RUN_ENDS_H

#include "run/director.h"
#include "run/script.h"

#include <stdbool.h>

struct err;
struct places;
struct stack_options;
struct target;
struct turns_made;

/* Does the dump at `core` show this end? The program's frames are compared by address: of the failing thread, or,
 * where nobody can go on, of each thread that takes part, whichever number it has. */
struct err *dump_ends_so(const char *core, const struct stack_options *o,
			 const struct script_end *end, bool *ret);

struct played {
	struct director_result result;
	bool same; /* it ended as the script says */
};
/* Once, with the target's arguments, environment and input; its dump is left at `core`. */
struct err *script_play(const struct target *t, const struct script *s, const char *core,
			struct played *ret);
/* The script in gdb, as often as the user runs it; extra: more arguments of gdb, NULL-terminated. *status: gdb's. */
struct err *script_debug(const struct target *t, const struct script *s, char *const *extra,
			 int *status);
/* The same without its turns, at random (run/perform.h). */
struct err *script_improvise(const struct target *t, const struct script *s, uint64_t seed,
			     const char *core, struct turns_made *made, struct played *ret);
/* The stack of the thread that failed, or of the first that waits, from the dump of that run. */
struct err *places_of_dump(const struct script *s, const char *core, struct places *ret);

#endif
