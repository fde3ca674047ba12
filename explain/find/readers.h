/* explain/find/readers.h - private to explain/: a change under a lock that is held for reading only. */
#ifndef EXPLAIN_FIND_READERS_H
#define EXPLAIN_FIND_READERS_H

#include "explain/find/steps.h"

struct readers {
	uint32_t change; /* the step that writes or frees ... */
	uint32_t lock;	 /* ... where its thread took the lock, for reading ... */
	uint32_t other;	 /* ... and the other thread, too */
};

/* Of two steps of different threads, one of which changes what the other uses: do both hold one read-write
 * lock, each for reading only, and nothing else in common? Readers do not keep each other out. */
bool readers_find(const struct steps *s, uint32_t a, uint32_t b, struct readers *ret);

#endif
