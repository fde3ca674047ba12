/* rewind/start.h - where the walk back begins. */
#ifndef REWIND_START_H
#define REWIND_START_H

#include "rewind/past.h"

struct dump_names;

/* A thread's place in the program itself: a call of a library that it is in, or of a library's stub. */
struct own_call {
	uint64_t pc;	/* the call instruction */
	uint64_t back;	/* behind it */
	uint64_t inner; /* somewhere in the library's function that was called; 0 = not there yet */
	uint64_t regs[16]; /* as before the call; only those that callees keep are right */
};
/* False: it is in the program's own code, or its stack cannot be read. */
bool own_call_find(struct history *h, struct dump_names *names, size_t thread,
		   struct own_call *ret);

/* The stack pointer with which a thread entered the outermost call of the function `entry`. */
bool entry_stack(struct history *h, struct dump_names *names, size_t thread, uint64_t entry,
		 uint64_t *ret);

/* The dump's own state; or, when the program ended inside libc (abort, assert, a failed check of the
 * heap, strlen of a bad pointer), the moment before it called libc. *at_call then is true: pc is the
 * call. always: a thread that did not fail, which for some reason is in libc. */
struct past *start_of(struct history *h, struct dump_names *names, size_t thread, bool always,
		      bool *at_call);

#endif
