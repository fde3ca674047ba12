/* order/search/topology.h - a total order of events kept consistent with edges that come and go.
 *
 * Private to order/. Program order is implicit: event e precedes e + 1 of the same thread. Adding
 * an edge that contradicts the current total order repairs the order (Pearce and Kelly: only events
 * between the two ends move) or finds the cycle. Taking edges away never invalidates the order. */
#ifndef ORDER_SEARCH_TOPOLOGY_H
#define ORDER_SEARCH_TOPOLOGY_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define LABEL_NONE (-1) /* an edge that always holds */

struct topology_edge {
	uint32_t to;
	int label;
};
struct topology_edges VEC_FIELDS(struct topology_edge);

struct topology {
	uint32_t n;
	const uint32_t *thread; /* by event, borrowed */
	struct topology_edges *out, *in;
	uint32_t *pos, *at;  /* event -> position, position -> event */
	VEC(uint32_t) added; /* pairs, for topology_undo */
	uint32_t *seen, *from, stamp;
	int *from_label;
	VEC(uint32_t) forward, backward, slots, queue, queue2;
	VEC(int) cycle; /* after a refused edge: labels on the path it would close */
	uint64_t moves;
};

void topology_init(struct topology *g, uint32_t n, const uint32_t *thread);
void topology_deinit(struct topology *g);

/* The topological order nearest to the given keys (smaller first where edges allow). */
void topology_sort(struct topology *g, const uint32_t *key);

/* Add a -> b. False: it closes a cycle (g->cycle); nothing was added. */
bool topology_add(struct topology *g, uint32_t a, uint32_t b, int label);
static inline size_t topology_mark(const struct topology *g)
{
	return g->added.len;
}
void topology_undo(struct topology *g, size_t mark);

#endif
