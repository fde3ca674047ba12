/* sched/conflict.h - could two accesses to the same memory happen in the other order?
 *
 * They could not if one thread makes both, if the threads' births and joins put one before the
 * other, or if both hold a common lock: then they can change places only together with the lock,
 * and taking the lock is a scheduling point already. Everything else that may order them (a
 * condition, a semaphore, a flag) depends on the schedule, so it does not count here.
 *
 * The caller keeps a struct life per thread and a struct conflict per piece of memory. Nothing
 * is allocated; all zero is a valid empty object. Marks are few, so a conflict may be noticed
 * late. It may be noticed where there is none, if the births and joins that order two accesses
 * go through a third thread. */
#ifndef SCHED_CONFLICT_H
#define SCHED_CONFLICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LIFE_HELD = 8, CONFLICT_LOCKS = 3, CONFLICT_READS = 2 };

/* A thread: who made it and when, who has joined it and when, which locks it holds. */
struct life {
	uint32_t parent, born; /* parent: thread number + 1; 0: the first thread */
	uint32_t joiner, joined;
	uint32_t nheld;
	uint64_t held[LIFE_HELD]; /* in the order in which they were taken */
};

/* False: there is no place for it, or it was not held. */
bool life_takes(struct life *l, uint64_t lock);
bool life_gives_back(struct life *l, uint64_t lock);

/* Who accessed it last, and when; thread: number + 1, 0 nobody. */
struct conflict_mark {
	uint32_t thread, step;
};

struct conflict {
	struct conflict_mark write, reads[CONFLICT_READS]; /* of different threads */
	uint64_t locks[CONFLICT_LOCKS];			   /* held at every access that counts */
	uint32_t nlocks;
};

/* An access as conflict_note() needs it. */
struct conflict_access {
	const struct life *lives; /* by thread number */
	size_t nlives;
	uint32_t
		thread; /* a number that is no thread's is ordered with nobody's, and holds nothing */
	uint32_t step;	/* counts up */
	uint32_t alone; /* what was done before this step came before everything since */
	bool writes;
};

enum conflict_found {
	CONFLICT_NONE,
	CONFLICT_ANEW, /* all earlier accesses came before this one: they matter no more */
	CONFLICT_YES,
};

enum conflict_found conflict_note(struct conflict *c, const struct conflict_access *a);

static inline bool conflict_is_free_for(const struct conflict_mark *m, uint32_t mark,
					uint32_t alone)
{
	return !m->thread || (m->thread == mark && m->step >= alone);
}

/* The most frequent case, and the same answer as conflict_note's: only this thread (its number + 1 is
 * `mark`) has touched the memory, and there is no lock that it could lose. Then nothing changes but
 * the time of its last access. False: ask conflict_note. */
static inline bool conflict_own(struct conflict *c, uint32_t mark, uint32_t step, uint32_t alone,
				bool writes)
{
	if (c->nlocks || c->reads[1].thread || (!c->write.thread && !c->reads[0].thread) ||
	    !conflict_is_free_for(&c->write, mark, alone) ||
	    !conflict_is_free_for(&c->reads[0], mark, alone))
		return false;
	*(writes ? &c->write : &c->reads[0]) = (struct conflict_mark){ mark, step };
	return true;
}

#endif
