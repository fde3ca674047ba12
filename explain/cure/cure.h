/* explain/cure/cure.h - what kind of bug it is, judged by what cures it. */
#ifndef EXPLAIN_CURE_CURE_H
#define EXPLAIN_CURE_CURE_H

#include "explain/cure/faces.h"
#include "explain/explanation.h"
#include "explain/find/projection.h"
#include "explain/find/search.h"

enum { CURE_CONSTRAINTS = 24 };

/* A cure: constraints by site (any thread, every occurrence), and the steps of the failing run it
 * is about. */
struct cure {
	enum bug_kind kind;
	uint32_t cost; /* how far-fetched it is: try the cheapest first */
	struct plait_constraint constraints[CURE_CONSTRAINTS];
	uint8_t block[CURE_CONSTRAINTS]; /* which constraints are copies of one (cure_widen) */
	size_t nconstraints;
	uint32_t from; /* atomic: the block; order: what must come first; may be of the passing run
			*/
	uint32_t to;
	bool loop;  /* ends at its first line or before it: a round of a loop (cure_widen) */
	bool waits; /* its thread waits for a signal inside the block */
	/* from where a lock made of an atomic is given back to where it is taken again, or beyond:
	 * what it guards tells more */
	bool around_lock;
	bool came_back; /* it ends with an update that finds what it began with, though that was
			 * something else in between: a compare-and-swap that succeeds (ABA) */
	/* it begins with a check before a lock is taken; another thread changes that under the lock,
	 * and what follows under it does not look again: the step that takes it, + 1; 0: no */
	uint32_t stale;
	/* it begins with a write by which another thread goes on, and ends with an access that should
	 * have come before that: filled in after it was announced, read after it was given away */
	bool early;
	bool to_in_passing; /* `to` is a step of the passing run: the failing one ended before it */
	uint32_t intruder; /* atomic: the step of another thread inside the block; else STEP_NONE */
	/* atomic: what that thread does around the intruder must be one block too; from STEP_NONE:
	 * no */
	uint32_t other_from, other_to;
	bool other_to_in_passing;
	bool barrier;  /* order: for every object, whichever threads (a barrier is missing) */
	bool missed;   /* order: the failing run ended before what should have come first */
	bool teardown; /* order: what must wait gives something back, or is part of that */
	bool closing;  /* order: what must wait is the first of several changes (closing.h) */
	bool updates;  /* block: each change of its object, wherever it is (updates.c) */
	bool last;     /* a stretch that ends in a loop: behind its last round */
	bool stretch;  /* all that a thread does between two synchronisations (stretch.c) */
	bool crossing; /* broken only when the two blocks meet as they do here (crossings.c) */
};

struct trace;

struct cures VEC_FIELDS(struct cure);

/* Cures, in no particular order; the cost says which to try first. */
void cures_find(const struct steps *failing, const struct alternate *alternate,
		const struct projection *projection, bool deadlocked, struct cures *ret);

/* More of them, from the failing run alone: wherever another thread broke into what may have been a
 * block. */
void cures_anywhere(const struct steps *failing, const struct alternate *alternate,
		    const struct projection *projection, struct cures *ret);

/* ... those of them alone that the failing run did not live to end, as this passing run shows them. */
void cures_beyond(const struct steps *failing, const struct alternate *alternate,
		  const struct projection *projection, struct cures *ret);

/* ... and wherever two threads used two objects, each the first at one of them. */
void cures_crossing(const struct steps *failing, const struct alternate *alternate,
		    const struct projection *projection, struct cures *ret);

/* ... and every change of an object that is changed in several places. */
void cures_updates(const struct steps *failing, const struct alternate *alternate,
		   const struct projection *projection, struct cures *ret);

/* ... and all that the two threads of the pair do before they synchronise again. */
void cures_stretch(const struct steps *failing, const struct alternate *alternate,
		   const struct projection *projection, struct cures *ret);

/* Inlining makes copies of a source line with sites of their own: let the cure speak of all of
 * them. Says, too, whether it begins and ends at copies of one line. A barrier within one line is none:
 * nconstraints is 0 then. */
struct err *cure_widen(struct trace *trace, struct cure *cure);

/* What `gone` gives back waits until nobody else can run; so many steps before it. False: the engine
 * cannot stop there. use: a step that needs it. */
bool cure_late(const struct steps *failing, uint32_t use, uint32_t gone, unsigned back,
	       struct cure *ret);

/* The step that took the innermost lock a waiting thread holds; STEP_NONE. */
uint32_t cure_held(const struct steps *s, uint32_t waiting);

/* What came of many schedules. */
struct cure_trial {
	uint64_t runs;
	uint64_t failed; /* the failure being explained, in any of its faces */
	uint64_t other;	 /* failed in another way: another bug, or a face that nobody knows of */
	uint64_t faces[FACES]; /* both, by the way they failed; few others are not among them */
	bool dropped;	       /* in some run the constraint had to give way */
};

/* The same runs, where just these ways of failing are the failure being explained. */
struct cure_trial cure_trial_as(const struct cure_trial *t, uint32_t faces);

struct trial_limits {
	uint64_t runs, failures; /* stop after so many of either */
	double seconds;
	uint64_t seed;	     /* equal seeds: the same schedules with and without a cure */
	struct faces *faces; /* ways of failing that are told apart ... */
	uint32_t counted;    /* ... and which of them count as the failure being explained */
};

/* Somebody who looks at the first runs of a trial, recorded: so many, or so many steps in all, and
 * not longer than that. */
struct trial_watch {
	void (*see)(void *context, const struct explain_result *run);
	void *context;
	uint64_t runs, steps;
	double seconds;
};

/* cure NULL: without any. watch NULL: nobody looks. */
struct err *cure_try(const struct explain_runner *runner, const struct cure *cure,
		     const struct trial_limits *limits, const struct trial_watch *watch,
		     struct cure_trial *ret);

#endif
