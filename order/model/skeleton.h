/* order/model/skeleton.h - what one thread owes another in an order: the happens-before edges. */
#ifndef ORDER_MODEL_SKELETON_H
#define ORDER_MODEL_SKELETON_H

#include "order/order.h"

struct strbuf;

struct order_edges VEC_FIELDS(struct order_edge);

/* Edges between threads: births and ends, a release and the next acquisition, a signal and the wake
 * it caused, a write and the reads that see it. In the order of their second event. */
void order_skeleton(const struct order_model *m, const uint32_t *order, size_t len,
		    struct order_edges *ret);

/* The same as a Graphviz drawing: a column per thread, events without an edge left out. place: what
 * to write under an event ("main.c:12"); NULL = nothing. */
void order_skeleton_dot(const struct order_model *m, const uint32_t *order, size_t len,
			void (*place)(void *arg, uint64_t site, struct strbuf *out), void *arg,
			struct strbuf *out);

#endif
