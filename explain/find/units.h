/* explain/find/units.h - semaphores with several units: who holds how many, and waits for more? */
#ifndef EXPLAIN_FIND_UNITS_H
#define EXPLAIN_FIND_UNITS_H

#include "explain/find/steps.h"

/* Units of one semaphore that a thread has taken and not given back. */
struct units {
	uint32_t first; /* the step that took the first of them; STEP_NONE: it holds none */
	uint32_t n;
};

/* Does this thread wait at step i for one more unit? Then what it holds of them; else none. */
struct units units_held(const struct steps *s, uint32_t i);

/* Do all who hold units of one semaphore wait for more of it, so that nobody gives any back? The first
 * step that waits; STEP_NONE. */
uint32_t units_find(const struct steps *s);

#endif
