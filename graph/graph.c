#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

void graph_set_deinit(struct graph_set *s)
{
	for (size_t i = 0; i < s->graphs.len; i++) {
		vec_deinit(&s->graphs.data[i].links);
		vec_deinit(&s->graphs.data[i].bystanders);
	}
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
uint32_t graph_set_node(struct graph_set *s, struct graph_node n)
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

void graph_set_link(struct graph_set *s, uint32_t src, uint64_t src_time, uint32_t sink,
		    uint64_t sink_time, uint64_t count)
{
	uint64_t *id = map_put(&s->edge_ids, (uint64_t)src << 32 | sink, s->edges.len);

	if (*id == s->edges.len)
		vec_push(&s->edges, (struct graph_edge){ src, sink });
	vec_push(&vec_last(&s->graphs)->links,
		 (struct graph_link){ (uint32_t)*id, src_time, sink_time, count });
}

void graph_set_add(struct graph_set *s, struct graph_node src, uint64_t src_time,
		   struct graph_node sink, uint64_t sink_time, uint64_t count)
{
	uint32_t a = graph_set_node(s, src), b = graph_set_node(s, sink);

	graph_set_link(s, a, src_time, b, sink_time, count);
}

void graph_set_bystander(struct graph_set *s, struct graph_node n, uint64_t time)
{
	struct graph_bystander b = { graph_set_node(s, n), time };

	vec_push(&vec_last(&s->graphs)->bystanders, b);
}

/* The later occurrence wins; counts add up. */
static void merge_link(struct graph_link *to, const struct graph_link *from)
{
	uint64_t count = to->count + from->count;

	if (from->sink_time >= to->sink_time)
		*to = *from;
	to->count = count;
}

/* Sorted by edge with a table of places, not by comparison: there are many links, and edge ids are
 * dense. */
void graph_set_end(struct graph_set *s)
{
	struct graph *g = vec_last(&s->graphs);
	struct graph_link *sorted;
	uint32_t *place; /* [edge]: link + 1 */
	size_t kept = 0, n = 0;

	if (!g->links.len)
		return;
	place = xcalloc(s->edges.len, sizeof(*place));
	for (size_t i = 0; i < g->links.len; i++) {
		uint32_t *at = &place[g->links.data[i].edge];

		if (*at) {
			merge_link(&g->links.data[*at - 1], &g->links.data[i]);
			continue;
		}
		g->links.data[kept] = g->links.data[i];
		*at = (uint32_t)++kept;
	}
	sorted = xreallocarray(NULL, kept, sizeof(*sorted));
	for (size_t e = 0; e < s->edges.len; e++)
		if (place[e])
			sorted[n++] = g->links.data[place[e] - 1];
	free(place);
	free(g->links.data);
	g->links.data = sorted;
	g->links.len = g->links.cap = kept;
}
