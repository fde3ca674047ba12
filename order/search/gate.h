/* order/search/gate.h - the gated search: build an order front to back. Private to order/. */
#ifndef ORDER_SEARCH_GATE_H
#define ORDER_SEARCH_GATE_H

#include "order/model/run.h"
#include "order/search/saturate.h"

struct gate;

struct gate *gate_new(const struct problem *p, const struct facts *f, uint64_t seed);
void gate_free(struct gate *g);

/* Stay near an order: position by event; NULL for none. Borrowed while set. */
void gate_set_guide(struct gate *g, const uint32_t *position);

/* Search until found or until the deadline (monotonic seconds). */
bool gate_search(struct gate *g, double deadline);
/* The order found; or, after a search without success, the best start completed by force: a total
 * order in which some conditions may break. */
const uint32_t *gate_order(struct gate *g);

uint64_t gate_nodes(const struct gate *g);
uint64_t gate_dead_ends(const struct gate *g);

/* Monotonic clock in seconds. */
double order_now(void);

#endif
