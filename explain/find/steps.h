/* explain/find/steps.h - a run as explain looks at it: its events in one total order.
 * Only what takes part in communication is kept: accesses and synchronisation. */
#ifndef EXPLAIN_FIND_STEPS_H
#define EXPLAIN_FIND_STEPS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STEP_NONE UINT32_MAX

struct step {
	uint32_t thread;
	uint32_t index; /* number of the step in its thread, from 0 */
	uint32_t kind;	/* enum plait_event_kind */
	uint32_t site;
	uint64_t clock; /* events of the whole run before it, shown or not: what decisions count by
			 */
	uint64_t address; /* object accessed, lock, condition variable ... */
	uint64_t value;	  /* value read or written; result of a synchronisation call */
	uint32_t size;	  /* bytes; 0 for synchronisation */
	bool as_lock;	  /* of a semaphore that is used as a lock (steps_mark_semaphores) */
	bool as_units;	  /* ... of one with several units: each is given back by who took it */
	bool sole;	  /* takes a lock that no other thread ever takes (steps_mark_sole) */
	bool pending;	  /* at the end of the run the thread still waits to do this */
	bool missed;	  /* pending, known from a passing run only: ends no block */
	bool alone;	  /* no other thread can disturb this access (alone.h) */
	uint32_t source; /* step whose effect it observes (steps_link), STEP_NONE = initial state */
};

/* Who created a thread, and when; who knows that it has ended, and since when. */
struct birth {
	uint32_t parent;
	uint64_t clock;	 /* of the fork, + 1; 0: the first thread */
	uint32_t site;	 /* of the fork */
	uint64_t joined; /* clock of the join, + 1; 0: nobody has joined it */
	uint32_t joiner; /* who did */
};

/* A signal's handler that ran in a thread. */
struct handler_run {
	uint32_t thread, number;
	uint64_t from, to; /* clocks; to 0: the run ended before it did */
};

struct handler_runs VEC_FIELDS(struct handler_run);

struct steps {
	struct step *data;
	size_t len, cap;
	uint32_t nthreads;
	struct birth *births; /* one per thread; NULL: not known */
	struct handler_runs handlers;
};

void steps_deinit(struct steps *s);
/* There is a thread with this number, whatever else is known about it. */
void steps_add_thread(struct steps *s, uint32_t thread);

/* What a kind does to the object at its address. */
bool step_writes(const struct step *s); /* changes it: write, unlock, signal, post ... */
bool step_reads(const struct step *s);	/* depends on it: read, lock, woken, sem-wait ... */
bool step_is_memory(const struct step *s);
bool step_is_acquire(const struct step *s); /* lock, rdlock, wrlock and successful tries */
bool step_is_release(const struct step *s);
/* Two steps of different threads whose order can matter. */
bool step_conflicts(const struct step *a, const struct step *b);

/* Fill in `source` of every step: the last writing step before it that overlaps it (for wide
 * accesses the latest of them). */
void steps_link(struct steps *s);
/* A semaphore is used as a lock when nobody posts it who has not waited for it, and never two units of it
 * are taken at once: then it is a stock of units, which no single thread holds. Which semaphores are is seen
 * in both runs; mark their steps in s. The runs are of one program, recorded alike. */
void steps_mark_semaphores(struct steps *s, const struct steps *a, const struct steps *b);
/* Mark in s who takes a lock that only one thread takes, in both runs of one program: it keeps nobody
 * out, and is there for something else. */
void steps_mark_sole(struct steps *s, const struct steps *a, const struct steps *b);
/* The handler that its thread came into after step `from` and that it has not left at step `at`: it interrupted what
 * the thread did there. NULL: none. */
const struct handler_run *steps_handler(const struct steps *s, uint32_t from, uint32_t at);
/* The last step at this place that was done; STEP_NONE. */
uint32_t steps_last_at(const struct steps *s, uint32_t site);
/* How often the running thread changes. */
size_t steps_switches(const struct steps *s);

#endif
