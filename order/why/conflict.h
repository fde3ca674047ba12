/* order/why/conflict.h - which families of constraints contradict one another.
 *
 * No order satisfies the question, though the run has happened: then something is modelled wrongly.
 * Leaving out one family at a time shows where to look. */
#ifndef ORDER_WHY_CONFLICT_H
#define ORDER_WHY_CONFLICT_H

#include "order/order.h"

enum order_family {
	ORDER_FAMILY_FAILURE,	 /* the outcome asked for */
	ORDER_FAMILY_CONDITIONS, /* decisions taken and addresses used */
	ORDER_FAMILY_LOCKS,	 /* mutexes and read-write locks */
	ORDER_FAMILY_SIGNALS,	 /* a wake needs a signal */
	ORDER_FAMILY_COUNTS,	 /* semaphores and barriers */
	ORDER_FAMILIES
};
const char *order_family_name(enum order_family family);

/* ret[f]: without family f there is an order (so f is part of every contradiction). All false: the
 * contradiction is inside one family, or there are several. */
struct err *order_conflicts(const struct order_model *m, enum order_want want,
			    const struct order_budget *budget, bool ret[ORDER_FAMILIES]);

#endif
