/* order/reach/guard.h - private to order/reach/: a question about prefixes as one about whole runs.
 *
 * order_solve wants all events of a model in one order. So a copy is made in which whatever comes
 * behind the moment that the question is about holds for sure. */
#ifndef ORDER_REACH_GUARD_H
#define ORDER_REACH_GUARD_H

#include "order/reach/reach.h"

/* What the copy leaves to the notions of order/, and what it says with guarded cells instead. A real
 * lock or signal is never void: the copy may then have no order although there is a prefix. */
enum guard_form {
	GUARD_REAL,    /* locks and signals are real */
	GUARD_SIGNALS, /* one signal may wake several waiters: more orders than there are */
	GUARD_ALL,     /* locks are cells, too */
};

struct guarded {
	struct order_model *m;
	VEC(uint32_t) old;   /* per event of m: the event of the original; ORDER_NONE */
	bool impossible;     /* a goal of a thread that is never created */
	VEC(uint32_t) marks; /* events of m: a goal is reached. Behind the last the prefix ends */
};

/* sorted: the conditions of m that have a place, by thread, index and nth. */
struct guard_input {
	const struct order_model *m;
	const uint32_t *sorted;
	size_t nsorted;
};
void guard_model(const struct guard_input *in, const struct order_question *q, enum guard_form form,
		 struct guarded *ret);
void guarded_deinit(struct guarded *g);

#endif
