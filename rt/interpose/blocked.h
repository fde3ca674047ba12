/* rt/interpose/blocked.h - the flight recorder says what a thread is about to wait for, so that a crash or a
 * hang shows what everybody waited for. Taking a lock is tried first: one that is free costs nothing. */
#ifndef RT_INTERPOSE_BLOCKED_H
#define RT_INTERPOSE_BLOCKED_H

#include "rt/core/rt.h"

/* kind: of the event that ends the wait. */
static inline void note_blocked(uint32_t kind, uint32_t site, const void *object)
{
	if (unlikely(rt_keeps_last))
		rt_record_sa_n(PLAIT_EV_BLOCKED, site, object, kind);
}

/* The result of a try, or what a try of something that is taken returns: the caller then waits. */
#define TRIED(try, taken) (unlikely(rt_keeps_last) ? (try) : (taken))

#endif
