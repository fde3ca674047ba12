/* sched/happens.h - which accesses happen before which: vector clocks over the steps of a run.
 *
 * Events come in their total order. The time of an event is its place in that order (under control:
 * its step), so a thread's own time needs no counter, and an access is named by (thread, time). It
 * happens before whatever thread u does next iff happens_knows(u) says that u knows of it.
 *
 * There is no memory allocation here: `get` is the caller's, and what it gave is never given back.
 * When it has no more, `full` is set and everybody knows everything from then on: nothing false is
 * said, but races may be missed, and the caller says so. */
#ifndef SCHED_HAPPENS_H
#define SCHED_HAPPENS_H

#include "unplait/abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes, all zero, aligned to 16; NULL: there are no more. */
typedef void *happens_get_fn(void *context, size_t bytes);

/* What one thread knows of each other thread: all that it did up to this time. */
struct happens_clock {
	uint32_t *at;
	uint32_t len;
};

struct happens_thread {
	struct happens_clock now;      /* its own entry: when it last released something */
	struct happens_clock released; /* at its last release fence */
	struct happens_clock pending;  /* from relaxed reads: known after an acquire fence */
	bool begun, ended;
	bool fenced; /* `released` means something */
};

struct happens_object {
	uint64_t key;		       /* 0: a free place */
	struct happens_clock released; /* by writers; an atomic: of the value that it holds */
	struct happens_clock readers;  /* a rwlock; a barrier: of this round */
	uint32_t holder;   /* thread + 1 that has it alone; an atomic: that released last */
	uint32_t arrived;  /* a barrier, in this round */
	uint32_t *waiting; /* the threads that have */
	uint32_t nwaiting; /* room */
};

struct happens {
	happens_get_fn *get;
	void *context;
	struct happens_thread *threads;
	uint32_t nthreads, threads_room;
	struct happens_object *objects; /* a hash table */
	uint32_t nobjects, objects_room;
	uint32_t *floor; /* by thread: everybody alive knows it up to here */
	bool full;
};

/* One event. Which fields count depends on the kind, as in struct event. */
struct happens_event {
	uint32_t kind; /* enum plait_event_kind */
	uint32_t thread;
	uint32_t time;	/* never less than that of the event before */
	uint32_t other; /* FORK, JOIN */
	uint64_t object, object2;
	uint64_t n;	/* BARRIER_WAIT: participants */
	int64_t result; /* 0 or an errno */
	uint32_t order; /* atomics and fences: C11's number, 0 relaxed ... 5 seq_cst */
	bool wrote;	/* ATOMIC_RMW: a failed compare-exchange did not */
};

void happens_init(struct happens *h, happens_get_fn *get, void *context);

/* The event happens. Does nothing for kinds without a rule. For an atomic access that is checked
 * for races: check it between happens_acquire and happens_release, which together are the same. */
void happens_event(struct happens *h, const struct happens_event *e);
void happens_acquire(struct happens *h, const struct happens_event *e);
void happens_release(struct happens *h, const struct happens_event *e);

/* A thread's own clock; an entry beyond `len` is 0. Valid until the next event. */
const struct happens_clock *happens_knows(struct happens *h, uint32_t thread);
/* Every thread that is alive, or will be, knows what `thread` did up to this time. */
uint32_t happens_floor(const struct happens *h, uint32_t thread);

static inline uint32_t happens_clock_of(const struct happens_clock *c, uint32_t thread)
{
	return thread < c->len ? c->at[thread] : 0;
}

#endif
