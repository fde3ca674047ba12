/* solve/load-kinds.h - private to solve/: events of a native run as steps of an order model. */
#ifndef SOLVE_LOAD_KINDS_H
#define SOLVE_LOAD_KINDS_H

#include "order/model/build.h"

/* The order engine's word for an event. A range is announced as a step of its own, which nobody
 * notices; its words follow. */
enum order_step_kind load_step_kind(uint32_t event);
/* Could the call have had another result in another order, without a decision of its thread? */
bool load_has_open_result(uint32_t event);

#endif
