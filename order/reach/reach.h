/* order/reach/reach.h - questions about prefixes: can these threads come here?
 *
 * order_solve asks for a run of all events. A failure needs less: one thread comes to a decision and
 * the values it has read let it decide otherwise; two threads each hold what the other wants. What
 * the other threads do behind that moment does not matter, and often they could not do it any more.
 *
 *	struct order_reach *r = order_reach_open(m);
 *	struct order_goal goal = { .thread = t, .index = 7, .nth = 3 };
 *	struct order_question q = { &goal, 1, condition };
 *	err = order_reach_ask(r, &q, &budget, &answer);     any number of times, in any order
 *
 * An answer SAT is a prefix: events of m in an order that order_validate_prefix accepts, with the
 * goals reached and the condition true at its end. UNSAT: there is no such prefix. */
#ifndef ORDER_REACH_REACH_H
#define ORDER_REACH_REACH_H

#include "order/order.h"

struct err;
struct order_reach;

/* A thread has done its first `index` events and no more, and its decisions before the nth there
 * went as recorded. nth UINT32_MAX: all of them. passes: it may have gone on, and nth means
 * nothing. */
struct order_goal {
	uint32_t thread, index, nth;
	bool passes;
};

struct order_question {
	const struct order_goal *goals; /* of different threads */
	size_t n;
	term_id condition; /* over what these threads have read; TERM_NONE: nothing more */
};

struct order_reached {
	enum order_status status;
	uint32_t *order; /* SAT: the prefix */
	size_t len;
	struct order_stats stats;
};
void order_reached_deinit(struct order_reached *a);

/* m is borrowed until close; its terms may grow meanwhile. Conditions without a place (order.h) must
 * hold in every prefix. */
struct order_reach *order_reach_open(const struct order_model *m);
void order_reach_close(struct order_reach *r); /* NULL is fine */
struct err *order_reach_ask(struct order_reach *r, const struct order_question *q,
			    const struct order_budget *budget, struct order_reached *ret);

/* Which cells do the reads below a term read, directly or by way of what was written there? Sorted;
 * the caller frees the vector. Who could write something else there can change the term. */
struct order_cells VEC_FIELDS(uint32_t);
void order_reach_blame(const struct order_model *m, term_id term, struct order_cells *ret);

#endif
