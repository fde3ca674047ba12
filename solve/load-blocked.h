/* solve/load-blocked.h - private to solve/load*.c: where the threads of a deadlock wait.
 *
 * A path recording ends, for a thread that waits for ever, with its last decision. Behind that it
 * may have passed some calls and waits in one of them. Of the possible places we take, for each
 * thread, the first such that each thread that waits for a lock waits for one that is held. That need not be
 * where it waited: then no order leads there, and the next choice is made. */
#ifndef SOLVE_LOAD_BLOCKED_H
#define SOLVE_LOAD_BLOCKED_H

#include "order/model/build.h"
#include "solve/load-rounds.h"

struct load_sync {
	size_t position; /* the builder's, before the step */
	uint8_t event;
	bool beyond;
	bool failed; /* a try or timed call that did not get it */
	uint64_t address, mutex;
};

struct load_thread {
	bool seen, ended, crashed;
	bool fatal; /* it took the failing side of an assertion */
	VEC(struct load_sync) syncs;
	struct load_rounds rounds;
	uint64_t node; /* all that it has decided so far */
};

/* A synchronisation step, about to be added at `position`. */
void load_blocked_note(struct load_thread *t, size_t position, const struct sym_step *s);
/* Cut a thread where it perhaps waited for somebody. */
void load_free_cut(struct order_build *b, const struct load_thread *t, uint32_t thread);
/* Cut every thread that did not end where it waits; pass over the first `skip` choices. False:
 * there are no more, and the threads are cut as by load_free_cut. */
bool load_blocked_cut(struct order_build *b, struct load_thread *threads, size_t n, unsigned skip);

#endif
