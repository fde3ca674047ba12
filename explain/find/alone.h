/* explain/find/alone.h - private to explain/: accesses that no other thread can disturb. */
#ifndef EXPLAIN_FIND_ALONE_H
#define EXPLAIN_FIND_ALONE_H

#include "explain/find/steps.h"

/* Fill in `alone` of every access; births has one entry per thread. */
void steps_mark_alone(struct steps *s, const struct birth *births);

#endif
