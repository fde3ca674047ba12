/* explain/realize.h - carry out an order of the order engine in a native run.
 *
 * The engine speaks of the events of its model; the control engine counts steps of native runs. A
 * step the model knows nothing of (a lock inside stdio) would shift everything behind it. So: run,
 * record, see which native step each event was, correct the counts, run again, until the run does
 * what was asked or does not come closer any more. */
#ifndef EXPLAIN_REALIZE_H
#define EXPLAIN_REALIZE_H

#include "order/build.h"
#include "run/run.h"

struct err;

struct realized {
	struct run_result run; /* the last one; its schedule replays it */
	bool followed;	       /* every event happened, in the order asked for */
	size_t events;	       /* of the order, in the native run's count */
	size_t matched;	       /* of them seen, in order, before the first that was not */
	unsigned runs;
};
void realized_deinit(struct realized *r);

/* order: events of built->m; synthetic ones and what was blocked are left out. `last` is the thread
 * (of the model) that goes on when all is done, ORDER_NONE: whoever ran last. */
struct err *realize(struct session *session, const struct order_built *built, const uint32_t *order,
		    size_t len, uint32_t last, struct realized *ret);

#endif
