/* graph/regions.h - inside reconstruct.c and original.c: which nodes stood around an edge. */
#ifndef GRAPH_REGIONS_H
#define GRAPH_REGIONS_H

#include "graph/graph.h"

/* A node of one run at a time it was seen. */
struct timed_node {
	uint64_t time;
	uint32_t node;
};

struct timeline VEC_FIELDS(struct timed_node);

/* In how many runs each node was met in a region: dense counts, and which of them are not zero. */
struct counts {
	uint32_t *runs; /* [node] */
	VEC(uint32_t) met;
};

struct regions {
	struct counts prefix, body, suffix;
};

static inline void counts_add(struct counts *c, uint32_t node)
{
	if (!c->runs[node]++)
		vec_push(&c->met, node);
}

int timeline_order(const void *a, const void *b); /* for vec_sort */

/* original.c: both ends of every link in time order, and the regions counted as the original tool
 * of 004 did. */
void original_timeline(const struct graph_set *s, const struct graph *g, struct timeline *ret);
void original_count(const struct timeline *t, const struct graph_set *s, const struct graph_link *l,
		    struct regions *r);

#endif
