/* order/search/reference.h - Z3 behind the solver, for what stays symbolic. Private to order/. */
#ifndef ORDER_SEARCH_REFERENCE_H
#define ORDER_SEARCH_REFERENCE_H

#include "order/order.h"

/* Values for the free inputs that satisfy the conditions on inputs alone. values: by symbol, holds
 * the hints, changed on SAT. */
enum order_status reference_inputs(const struct order_model *m, enum order_want want,
				   uint64_t *values, double seconds);

#endif
