/* order/model/edges.h - a total order as literals: the cross-thread edges that pin it down. Private. */
#ifndef ORDER_MODEL_EDGES_H
#define ORDER_MODEL_EDGES_H

#include "order/search/engine.h"

/* A total order of all events in our numbers, and where each event stands in it. */
struct placed_order {
	uint32_t *order, *position;
};

/* Opens the engine for a question about `order` (the model's numbers), which has to be a total order. */
struct err *placed_order_init(struct placed_order *o, struct engine *e, const struct order_model *m,
			      enum order_want want, const uint32_t *order, size_t len,
			      uint64_t seed);
void placed_order_deinit(struct placed_order *o);

struct pinned_edge {
	lit literal;
	uint32_t before, after; /* our event numbers */
};
struct pinned_edges VEC_FIELDS(struct pinned_edge);

/* The conflict edges of `order` (our numbers) that are not certain anyway: what reads observe, who
 * overwrites whom, critical sections that follow one another, signals and wakes. Every run with
 * these edges has the same values. A literal of LIT_FALSE: this edge alone excludes the outcome the
 * engine wants. */
void edges_of_order(struct engine *e, const uint32_t *order, struct pinned_edges *ret);

/* How far the edge is from the place where the failure shows: smaller is nearer. */
uint64_t edge_distance(const struct pinned_edge *x, const uint32_t *position, uint32_t failure);

#endif
