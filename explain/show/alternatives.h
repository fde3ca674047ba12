/* explain/show/alternatives.h - private to explain/: what would do as well as one lock around a block. */
#ifndef EXPLAIN_SHOW_ALTERNATIVES_H
#define EXPLAIN_SHOW_ALTERNATIVES_H

#include "explain/cure/cure.h"
#include "explain/show/labels.h"

/* "; or ...", to be added to the advice; "" when the runs do not show one. object: what the block begins with. */
const char *alternatives_tell(struct labels *p, const struct steps *failing,
			      const struct steps *passing, const struct cure *c,
			      const char *object);

/* A wait for a signal or a post by any thread between the places where a block begins and ends, in one of the runs (*in);
 * STEP_NONE. */
uint32_t alternatives_wait(const struct steps *failing, const struct steps *passing,
			   const struct cure *c, const struct steps **in);

#endif
