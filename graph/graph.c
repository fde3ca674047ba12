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
	pairs_deinit(&s->node_ids);
	pairs_deinit(&s->edge_ids);
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

uint32_t graph_set_node(struct graph_set *s, struct graph_node n)
{
	uint32_t id = pairs_id(&s->node_ids, n.point, n.context);

	if (id == s->nodes.len)
		vec_push(&s->nodes, n);
	return id;
}

enum { AHEAD = 16 }; /* look-ups on their way at a time */

void graph_set_nodes(struct graph_set *s, const struct graph_node *nodes, size_t n, uint32_t *ids)
{
	for (size_t i = 0; i < n; i++) {
		if (i + AHEAD < n)
			pairs_prefetch(&s->node_ids, nodes[i + AHEAD].point,
				       nodes[i + AHEAD].context);
		ids[i] = graph_set_node(s, nodes[i]);
	}
}

void graph_set_links(struct graph_set *s, const struct graph_raw_link *links, size_t n)
{
	struct graph *g = vec_last(&s->graphs);

	vec_reserve(&g->links, g->links.len + n);
	for (size_t i = 0; i < n; i++) {
		const struct graph_raw_link *l = &links[i];
		uint32_t id;

		assert(l->src < s->nodes.len && l->sink < s->nodes.len);
		if (i + AHEAD < n)
			pairs_prefetch(&s->edge_ids, links[i + AHEAD].src, links[i + AHEAD].sink);
		id = pairs_id(&s->edge_ids, l->src, l->sink);
		if (id == s->edges.len)
			vec_push(&s->edges, (struct graph_edge){ l->src, l->sink });
		g->links.data[g->links.len++] =
			(struct graph_link){ id, l->src_time, l->sink_time, l->count };
	}
}

void graph_set_add(struct graph_set *s, struct graph_node src, uint64_t src_time,
		   struct graph_node sink, uint64_t sink_time, uint64_t count)
{
	struct graph_raw_link l = { graph_set_node(s, src), graph_set_node(s, sink), src_time,
				    sink_time, count };

	graph_set_links(s, &l, 1);
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
	assert(n == kept);
	free(place);
	free(g->links.data);
	g->links.data = sorted;
	g->links.len = g->links.cap = kept;
}
