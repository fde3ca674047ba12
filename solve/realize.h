/* solve/realize.h - carry out an order of the order engine in a native run.
 *
 * The engine speaks of the events of its model; realize says the same in operations of native
 * threads, and carry.c does them. */
#ifndef SOLVE_REALIZE_H
#define SOLVE_REALIZE_H

#include "order/model/build.h"
#include "solve/carry.h"

struct err;

struct realized {
	struct run_result run; /* the last one; its schedule replays it */
	bool followed;	       /* every event happened, in the order asked for */
	size_t events;	       /* of the order, in the native run's count */
	size_t matched;	       /* of them seen, in order, before the first that was not */
	uint64_t *clock; /* per event of the model: its clock in the run, 0 = did not happen */
	unsigned runs;
};
void realized_deinit(struct realized *r);

/* What happens behind the order: who goes on, and how. */
struct realize_end {
	uint32_t
		last; /* thread of the model that goes on; ORDER_NONE: the one that ran last. The order
			* is followed up to its last event */
	uint32_t strategy; /* enum plait_strategy, for the rest of the run; FOLLOW: no preemption */
	uint64_t seed;
};

/* order: events of built->m, all or those of a prefix; synthetic ones and what was blocked are left
 * out. */
struct err *realize(struct session *session, const struct order_built *built, const uint32_t *order,
		    size_t len, const struct realize_end *end, struct realized *ret);

#endif
