/* rewind/start.h - where the walk back begins. */
#ifndef REWIND_START_H
#define REWIND_START_H

#include "rewind/past.h"

struct dump_names;

/* The dump's own state; or, when the program ended inside libc (abort, assert, a failed check of the
 * heap, strlen of a bad pointer), the moment before it called libc. *at_call then is true: pc is the
 * call. */
struct past *start_of(struct history *h, struct dump_names *names, size_t thread, bool *at_call);

#endif
