/* sched/pairs.h - write-to-read pairs, in memory that the tool and the runs share.
 *
 * The pairs stand one after the other, in order of appearance; an index beside them, open
 * addressing, grows with their number. A run touches the pages that hold something, not a hash
 * table's whole width: each page it touches costs it a page fault. */
#ifndef SCHED_PAIRS_H
#define SCHED_PAIRS_H

#include "unplait/control.h"

/* Find or make the entry of a pair; NULL when there is no more room. area: the control area. */
struct plait_pair *pairs_get(void *area, uint32_t write_site, uint32_t read_site);

static inline struct plait_pairs *pairs_of(const void *area)
{
	return (struct plait_pairs *)((char *)area + PLAIT_CONTROL_PAIRS_AT);
}

#endif
