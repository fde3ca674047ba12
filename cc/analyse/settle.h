/* cc/analyse/settle.h - private to the points-to analysis: its fixed point. */
#ifndef CC_ANALYSE_SETTLE_H
#define CC_ANALYSE_SETTLE_H

#include "cc/analyse/pointsto.h"

/* Until nothing changes; sets pt->unsettled when that takes too long. */
void settle_all(struct pointsto *pt);

#endif
