/* order/search/forward.h - the forward search: build an order front to back. Private to order/. */
#ifndef ORDER_SEARCH_FORWARD_H
#define ORDER_SEARCH_FORWARD_H

#include "order/model/run.h"
#include "order/search/saturate.h"

struct forward;

struct forward *forward_new(const struct problem *p, const struct facts *f, uint64_t seed);
void forward_free(struct forward *g);

/* Stay near an order: position by event; NULL for none. Borrowed while set. */
void forward_set_guide(struct forward *g, const uint32_t *position);

/* Search until found or until the deadline (monotonic seconds). */
bool forward_search(struct forward *g, double deadline);
/* The order found; or, after a search without success, the best start completed by force: a total
 * order in which some conditions may break. */
const uint32_t *forward_order(struct forward *g);

uint64_t forward_nodes(const struct forward *g);
uint64_t forward_dead_ends(const struct forward *g);

#endif
