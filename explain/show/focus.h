/* explain/show/focus.h - once the cause is known: what belongs to it, out of all that differs. */
#ifndef EXPLAIN_SHOW_FOCUS_H
#define EXPLAIN_SHOW_FOCUS_H

#include "explain/find/projection.h"

/* Keep the steps that are marked as the cause or the failure, the differing data flow through their
 * objects, and where control flow first differs in their threads. Returns how many
 * steps of the failing run are no longer shown. */
size_t focus(const struct steps *failing, const struct steps *passing, struct projection *p);

#endif
