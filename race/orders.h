/* race/orders.h - the last word on predicted races: the order engine (doc/design/order.md). */
#ifndef RACE_ORDERS_H
#define RACE_ORDERS_H

#include "race/detect.h"

struct trace;

/* Of each pair: has an order of this run's events, in which every read before them sees the recorded
 * value, both accesses next at once? The answers go to ret[0 .. n-1]. False is also "no time" and "this
 * recording cannot be expressed". */
struct err *orders_meet(struct trace *t, const struct race_instance *pairs, size_t n, bool *ret);

#endif
