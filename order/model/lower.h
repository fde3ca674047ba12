/* order/model/lower.h - the events and conditions of a model in the solvers' few notions. Private to
 * order/.
 */
#ifndef ORDER_MODEL_LOWER_H
#define ORDER_MODEL_LOWER_H

#include "order/model/problem.h"

/* Fill in events, cells, sections, edges and conditions; the arrays are there. */
void lower_model(struct problem *p, enum order_want want);

#endif
