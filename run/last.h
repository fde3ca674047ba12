/* run/last.h - what the threads of a run did last: the locks that each holds, what it waits for, its last
 * events. For plaits of `record --last`, which have every wait. */
#ifndef RUN_LAST_H
#define RUN_LAST_H

#include "base/vec.h"
#include "trace/trace.h"

struct last_lock {
	uint64_t object;
	struct event taken; /* without bytes */
	uint32_t depth;	    /* how often it was taken and not given back */
};

struct last_thread {
	VEC(struct last_lock) locks; /* in the order in which they were taken */
	struct event *events;	     /* the last ones, oldest first, without bytes */
	size_t nevents;
	bool waits;   /* the last event is the beginning of a wait that has not ended */
	bool cut;     /* it began before its first event */
	bool in_ring; /* one of those that wait for each other */
	uint64_t first;
};

struct last {
	struct last_thread *threads;
	size_t nthreads;
	size_t keep;   /* events per thread */
	uint64_t end;  /* the clock of the last event of all */
	uint64_t from; /* from this clock on no event of these threads is missing */
	size_t gone;   /* threads that ended before, and are no longer known */
};

/* keep: last events of each thread that are wanted. */
struct err *last_read(struct trace *t, size_t keep, struct last *ret);
void last_deinit(struct last *l);

/* What a thread waits for, of a thread that waits. */
const struct event *last_wait(const struct last_thread *t);
/* The kind of event that would end the wait: PLAIT_EV_LOCK, PLAIT_EV_WOKEN ... */
uint32_t last_wait_kind(const struct event *wait);
/* The thread that it waits for: who holds the lock, or who is to be joined. UINT32_MAX: nobody that is
 * known. */
uint32_t last_waits_for(const struct last *l, const struct event *wait);

#endif
