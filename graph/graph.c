#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

void graph_set_deinit(struct graph_set *s)
{
	for (size_t i = 0; i < s->graphs.len; i++)
		vec_deinit(&s->graphs.data[i].links);
	vec_deinit(&s->graphs);
	vec_deinit(&s->nodes);
	vec_deinit(&s->edges);
	map_deinit(&s->node_ids);
	map_deinit(&s->edge_ids);
	memset(s, 0, sizeof(*s));
}

void graph_set_begin(struct graph_set *s, bool failing)
{
	struct graph *g = vec_add(&s->graphs);

	g->failing = failing;
	if (failing)
		s->nfailing++;
	else
		s->npassing++;
}

/* Linear probing over hash values: distinct nodes never share an id. */
static uint32_t node_id(struct graph_set *s, struct graph_node n)
{
	uint64_t key = hash_u64(n.point * 0x9e3779b97f4a7c15ull ^ n.context);

	for (;; key++) {
		uint64_t *slot = map_put(&s->node_ids, key, s->nodes.len);
		const struct graph_node *known;

		if (*slot == s->nodes.len) {
			vec_push(&s->nodes, n);
			return (uint32_t)*slot;
		}
		known = &s->nodes.data[*slot];
		if (known->point == n.point && known->context == n.context)
			return (uint32_t)*slot;
	}
}

void graph_set_add(struct graph_set *s, struct graph_node src, uint64_t src_time,
		   struct graph_node sink, uint64_t sink_time, uint64_t count)
{
	uint32_t a = node_id(s, src), b = node_id(s, sink);
	uint64_t *id = map_put(&s->edge_ids, (uint64_t)a << 32 | b, s->edges.len);

	if (*id == s->edges.len)
		vec_push(&s->edges, (struct graph_edge){ a, b });
	vec_push(&vec_last(&s->graphs)->links,
		 (struct graph_link){ (uint32_t)*id, src_time, sink_time, count });
}

static int by_edge(const void *a, const void *b)
{
	const struct graph_link *x = a, *y = b;

	if (x->edge != y->edge)
		return x->edge < y->edge ? -1 : 1;
	return x->sink_time < y->sink_time ? -1 : x->sink_time > y->sink_time;
}

void graph_set_end(struct graph_set *s)
{
	struct graph *g = vec_last(&s->graphs);
	size_t kept = 0;

	vec_sort(&g->links, by_edge);
	for (size_t i = 0; i < g->links.len; i++) {
		if (kept && g->links.data[kept - 1].edge == g->links.data[i].edge) {
			g->links.data[i].count += g->links.data[kept - 1].count;
			kept--; /* the later occurrence wins */
		}
		g->links.data[kept++] = g->links.data[i];
	}
	g->links.len = kept;
}
