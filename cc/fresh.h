/* cc/fresh.h - functions that return fresh memory. */
#ifndef CC_FRESH_H
#define CC_FRESH_H

#include "cc/pointsto.h"

/* Fill pt->wrappers. */
void fresh_find(struct pointsto *pt);

#endif
