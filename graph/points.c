/* graph/points.c - suspicious code points (003 section 5).
 *
 * A code point is suspicious when the contexts it ran in are rare among all its executions. The
 * score of a point is the mean, over the contexts seen at it, of that context's relative frequency
 * (runs in which the point executed in the context / sum of that over all its contexts): small is
 * suspicious. With labels only what failing runs alone did is looked at: nodes on edges of failing
 * graphs that no passing graph has. Ochiai's coefficient over (point on a bug-only edge, failing)
 * is given as the published alternative. */
#include "graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tally {
	const struct graph_set *set;
	uint32_t *runs;	       /* [node]: runs in which it occurred on a considered edge */
	uint32_t *last;	       /* [node]: last graph that counted it, + 1 */
	uint8_t *edge_passing; /* [edge]: some passing run has it */
};

static void note(struct tally *t, uint32_t node, size_t graph)
{
	if (t->last[node] == graph + 1)
		return;
	t->last[node] = (uint32_t)graph + 1;
	t->runs[node]++;
}

static void count(struct tally *t, enum graph_labels labels)
{
	const struct graph_set *s = t->set;

	for (size_t g = 0; g < s->graphs.len; g++) {
		const struct graph *graph = &s->graphs.data[g];

		if (labels == GRAPH_LABELLED && !graph->failing)
			continue;
		for (size_t i = 0; i < graph->links.len; i++) {
			uint32_t edge = graph->links.data[i].edge;

			if (labels == GRAPH_LABELLED && t->edge_passing[edge])
				continue;
			note(t, s->edges.data[edge].src, g);
			note(t, s->edges.data[edge].sink, g);
		}
	}
}

static void mark_passing(struct tally *t)
{
	for (size_t g = 0; g < t->set->graphs.len; g++) {
		const struct graph *graph = &t->set->graphs.data[g];

		for (size_t i = 0; i < graph->links.len && !graph->failing; i++)
			t->edge_passing[graph->links.data[i].edge] = 1;
	}
}

/* Per point: number of contexts, total of runs over contexts, most runs in one context. */
struct sums {
	uint64_t contexts, total, most;
};

static int by_suspicion(const void *a, const void *b)
{
	const struct ranked_point *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? -1 : 1;
	if (x->ochiai != y->ochiai)
		return x->ochiai > y->ochiai ? -1 : 1;
	return x->point < y->point ? -1 : x->point > y->point;
}

/* The mean over n contexts of f_x / total is 1 / n: rare contexts are many contexts. What tells
 * points with equally many contexts apart is how often they take part at all. */
static void score_points(const struct tally *t, struct ranked_points *ret)
{
	struct map index = { 0 };
	VEC(struct sums) sums = { 0 };

	for (uint32_t n = 0; n < t->set->nodes.len; n++) {
		const struct graph_node *node = &t->set->nodes.data[n];
		uint64_t *at;
		struct sums *p;

		if (!t->runs[n] || node->point == GRAPH_INITIAL)
			continue;
		at = map_put(&index, node->point, sums.len);
		if (*at == sums.len)
			vec_push(&sums, (struct sums){ 0 });
		p = &sums.data[*at];
		p->contexts++;
		p->total += t->runs[n];
		p->most = MAX(p->most, t->runs[n]);
	}
	for (size_t i = 0; i < index.len; i++) {
		const struct sums *p = &sums.data[index.entries[i].value];
		double nf = (double)(t->set->nfailing ? t->set->nfailing : t->set->graphs.len);
		double hits = (double)MIN(p->most, (uint64_t)nf);

		vec_push(ret,
			 (struct ranked_point){
				 .point = index.entries[i].key,
				 .score = 1.0 / (double)p->contexts,
				 .ochiai = t->set->nfailing ? hits / sqrt(nf * (double)p->total)
							    : 0 });
	}
	vec_sort(ret, by_suspicion);
	map_deinit(&index);
	vec_deinit(&sums);
}

void graph_rank_points(const struct graph_set *s, enum graph_labels labels,
		       struct ranked_points *ret)
{
	struct tally t = { .set = s };

	memset(ret, 0, sizeof(*ret));
	t.runs = xcalloc(s->nodes.len, sizeof(*t.runs));
	t.last = xcalloc(s->nodes.len, sizeof(*t.last));
	t.edge_passing = xcalloc(s->edges.len, 1);
	mark_passing(&t);
	count(&t, labels);
	score_points(&t, ret);
	free(t.runs);
	free(t.last);
	free(t.edge_passing);
}
