/* explain/find/before.h - is one step ordered before another one by synchronisation? */
#ifndef EXPLAIN_FIND_BEFORE_H
#define EXPLAIN_FIND_BEFORE_H

#include "explain/find/steps.h"

/* a before b in the run: by its thread, by the creation or the end of one, by locks, signals and atomic
 * accesses. */
bool steps_ordered(const struct steps *s, uint32_t a, uint32_t b);

#endif
