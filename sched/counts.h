/* sched/counts.h - how many scheduling points each thread has at each site, in memory that the
 * tool and the runs share. The numbers of the last run are an estimate for the next one. */
#ifndef SCHED_COUNTS_H
#define SCHED_COUNTS_H

#include "unplait/control.h"

static inline struct plait_count *counts_of(const void *area)
{
	return (struct plait_count *)((char *)area + PLAIT_CONTROL_COUNTS);
}

/* Find or make an entry; NULL when there is no more room. */
struct plait_count *counts_get(void *area, uint32_t thread, uint32_t site);
/* One more point in this run. */
void counts_add(void *area, uint32_t thread, uint32_t site, uint32_t run);

#endif
