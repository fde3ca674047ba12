/* cc/analyse/fresh.h - functions that return fresh memory. */
#ifndef CC_ANALYSE_FRESH_H
#define CC_ANALYSE_FRESH_H

#include "cc/analyse/pointsto.h"

/* Fill pt->wrappers. */
void fresh_find(struct pointsto *pt);

#endif
