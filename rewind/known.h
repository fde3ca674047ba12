/* rewind/known.h - private to rewind/: an address that the compiler knew to be bad. */
#ifndef REWIND_KNOWN_H
#define REWIND_KNOWN_H

#include "rewind/trail.h"

/* The failing instruction has its address, near null, as a number: go on from the one check or store that can have told
 * the compiler so. True when the chain is complete, as trail_walk(). */
bool known_trace(struct trail *t);

#endif
