/* explain/find/closing.h - where a tear-down begins.
 *
 * A thread that shuts something down changes one thing after the other, while others still use them: each of
 * the changes is met by another failure. What has to wait is the first of them. */
#ifndef EXPLAIN_FIND_CLOSING_H
#define EXPLAIN_FIND_CLOSING_H

#include "explain/find/steps.h"

/* A step at which a thread synchronises with others, or makes or awaits them. */
bool step_is_bound(const struct step *e);

/* The first of the changes that x is one of: the first write to what others use, by x's thread, since it
 * last synchronised. STEP_NONE: there is none before x. */
uint32_t closing_begin(const struct steps *s, uint32_t x);

#endif
