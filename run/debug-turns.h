/* run/debug-turns.h - turns of a binary as it is, under gdb.
 *
 * The program is traced by a process of ours, which gdb talks to by its remote protocol: for gdb it is an ordinary
 * target, with breakpoints, steps and `run`. Who runs next is the script's business, also while the user steps. */
#ifndef RUN_DEBUG_TURNS_H
#define RUN_DEBUG_TURNS_H

struct director_options;
struct err;

/* folder: for the socket. extra: more arguments of gdb, NULL-terminated; NULL = none. *status: gdb's. */
struct err *debug_turns(const struct director_options *o, const char *folder, char *const *extra,
			int *status);

#endif
