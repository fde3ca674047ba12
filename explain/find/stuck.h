/* explain/find/stuck.h - why does a thread wait for a signal, or for a semaphore, for ever? */
#ifndef EXPLAIN_FIND_STUCK_H
#define EXPLAIN_FIND_STUCK_H

#include "explain/find/steps.h"

#include <stdbool.h>

/* The best explanation first: what the run shows from its first step to the wait, then what a correct
 * program can look like, too (stuck_is_shown). */
enum stuck_kind {
	STUCK_NOT,	   /* nobody waits for a signal, or nothing is known about it */
	STUCK_HOLDS,	   /* it holds a lock that another thread needs before it can signal */
	STUCK_LOST,	   /* the signal came between its check and its wait */
	STUCK_OVERWRITTEN, /* what was announced was there, and the waiting thread undid it itself */
	STUCK_REUSED,	   /* ... the same thread that announced it changed it again */
	STUCK_MISSED, /* the signal came between its look, before it took the lock, and its wait */
	STUCK_STOLEN, /* the signal woke another thread that waits for something else */
	STUCK_SILENT, /* what it checked was changed after the check; no signal came after that */
	STUCK_TAKEN,  /* what was announced was there, and a third thread took it away */
	STUCK_UNGUARDED, /* as MISSED, but no signal came after the change */
	STUCK_BLIND,	 /* it looked at nothing, and the signal had come before */
	STUCK_MUTUAL, /* nothing changed any more: each of two waits for what the other one set last */
	STUCK_AWAITS, /* ... or for what, when all goes well, only the other one does */
};

/* Steps of the failing run; STEP_NONE where they do not apply. */
struct stuck {
	enum stuck_kind kind;
	uint32_t wait;	 /* pending: what it waits for */
	uint32_t check;	 /* its last look at what decides whether it waits */
	uint32_t change; /* another's write to that; OVERWRITTEN, REUSED, TAKEN: what undid it */
	uint32_t set;	 /* OVERWRITTEN, REUSED, TAKEN: the write that was announced */
	uint32_t signal; /* LOST, MISSED, STOLEN, BLIND: the signal in question */
	uint32_t woken;	 /* STOLEN: who was woken by it */
	uint32_t held;	 /* HOLDS: where it took the lock; else: the lock of the wait */
	uint32_t other;	 /* HOLDS: pending: who needs it; MUTUAL: the other's wait ... */
	uint32_t other_check, other_change; /* MUTUAL: ... and the same of it */
	struct step awaited;		    /* AWAITS: of the passing run: what it waits for */
};

/* The thread about which most is known. */
struct stuck stuck_find(const struct steps *failing);

/* Where that finds nothing: STUCK_AWAITS, as this passing run shows it. */
struct stuck stuck_find_awaited(const struct steps *failing, const struct steps *passing);

/* Does the run show it from its first step to the wait? A write without a signal, and a signal that
 * somebody else got, are in correct programs, too; so is a look at something before the lock is taken. */
bool stuck_is_shown(enum stuck_kind kind);

/* SILENT: does the program signal after the same write at other times? Then it decides whether to, and
 * that no signal came is no sign of a mistake there. run: any run of the program. */
bool stuck_is_deliberate(const struct stuck *k, const struct steps *failing,
			 const struct steps *run);

#endif
