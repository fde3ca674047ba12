/* order/reach/values.h - private to order/reach/: which values can a term have at all?
 *
 * Whatever the order, a read returns what the cell began with or what some event writes there. A few
 * values per cell are kept; a cell with more can have any. So "it cannot be" is certain, and most
 * questions about decisions that nothing can turn are answered without a search. */
#ifndef ORDER_REACH_VALUES_H
#define ORDER_REACH_VALUES_H

#include "order/order.h"

struct reach_values;

/* m is borrowed until free; its terms may grow meanwhile. */
struct reach_values *reach_values_new(const struct order_model *m);
void reach_values_free(struct reach_values *v); /* NULL is fine */
/* False: in no order of these events is this condition true. */
bool reach_values_allow(const struct reach_values *v, term_id condition);

#endif
