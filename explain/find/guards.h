/* explain/find/guards.h - private to explain/: which lock is there for an object, and who forgot it.
 *
 * A lock that is held at every access to an object but those of one place is the object's lock, and
 * that place forgot it (the lockset of Eraser, Savage et al. 1997, with the majority as the rule). */
#ifndef EXPLAIN_FIND_GUARDS_H
#define EXPLAIN_FIND_GUARDS_H

#include "explain/find/steps.h"

struct guard {
	uint32_t lock;	  /* the step that took it for `with` */
	uint32_t with;	  /* an access that holds it ... */
	uint32_t without; /* ... and one of another thread that does not */
	uint32_t places;  /* how many other places hold it */
	uint32_t also
		[2]; /* the first and last other place of that thread that does not; STEP_NONE */
};

/* The step of the same thread that took this lock and holds it at step `at`; STEP_NONE. */
uint32_t guards_held(const struct steps *s, uint32_t at, uint64_t lock);

/* Are both steps done with one lock in hand? Then their order is that of two critical sections. */
bool guards_shared(const struct steps *s, uint32_t a, uint32_t b);

/* Are both done with locks in hand, and with none in common? */
bool guards_apart(const struct steps *s, uint32_t a, uint32_t b);

/* Where a thread takes `inner` while it holds `outer`; STEP_NONE: nobody does. */
uint32_t guards_nested(const struct steps *s, uint64_t outer, uint64_t inner);

/* Of two accesses of different threads to one object: does one of them lack a lock that every other
 * place holds? A lock that only one thread ever takes does not count, nor an atomic access without it, nor
 * a read that synchronisation orders after all that others write; and two that have a lock in common are safe
 * from each other. */
bool guards_find(const struct steps *s, uint32_t a, uint32_t b, struct guard *ret);

/* Of two accesses of different threads to one object: is the one done just after its thread gave back a lock
 * that the other one holds (or has just given back, too), and so is every access without it? Given back too
 * early. ret->without: that access; *release: where its thread gave the lock back. */
bool guards_early(const struct steps *s, uint32_t a, uint32_t b, struct guard *ret,
		  uint32_t *release);

/* guards_early for one access: the other one is the nearest that it can meet. */
bool guards_early_at(const struct steps *s, uint32_t at, struct guard *ret, uint32_t *release);

/* Both hold a lock that was taken at one place, but not the same one, and have none in common: the step
 * that took that of a; else STEP_NONE. */
uint32_t guards_differ(const struct steps *s, uint32_t a, uint32_t b);

/* guards_find for the last accesses of the thread that failed, the very last first. */
bool guards_at_failure(const struct steps *s, uint32_t failed, struct guard *ret);

#endif
