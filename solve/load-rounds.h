/* solve/load-rounds.h - private to solve/: rounds of a busy wait, left out.
 *
 * A thread that waits in a loop reads the same places and decides the same, a million times perhaps.
 * Such a round changes nothing. The first few are kept, the others are dropped: a run in which the
 * thread goes round less often is a run as well. */
#ifndef SOLVE_LOAD_ROUNDS_H
#define SOLVE_LOAD_ROUNDS_H

#include "base/vec.h"
#include "sym/sym.h"

enum { ROUNDS_KEPT = 16, ROUND_PARTS = 4 };

/* Per thread. A part is a few reads and the decision behind them; a round has up to ROUND_PARTS. */
struct load_rounds {
	VEC(struct sym_step) held;  /* not handed on yet */
	size_t part;		    /* the part under way begins here, in held */
	uint64_t past[ROUND_PARTS]; /* the last parts, the newest first */
	uint32_t period;	    /* parts per round; 0: no round is being repeated */
	uint32_t matched;	    /* parts of the round under way that are as before */
	uint64_t repeated;	    /* rounds, one after the other */
	uint64_t dropped;	    /* rounds */
};

typedef void rounds_fn(void *arg, const struct sym_step *s);

/* The next step of the thread. Steps are handed on in order, now or later; their texts are gone
 * then. */
void rounds_step(struct load_rounds *r, const struct sym_step *s, rounds_fn *fn, void *arg);
/* Nothing follows: hand on what is held. */
void rounds_flush(struct load_rounds *r, rounds_fn *fn, void *arg);
void rounds_deinit(struct load_rounds *r);

#endif
