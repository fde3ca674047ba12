/* graph/points.c - suspicious code points (003 section 5).
 *
 * A code point is suspicious when the contexts it ran in are rare among all its executions. The
 * score of a point is the mean, over the contexts X seen at it, of
 *
 *	runs in which the point executed in context x / executions of the point in all runs
 *
 * ascending: small is suspicious. (003 prints the formula damaged; this is what its words say.)
 * With labels we look only at edges of failing graphs that no passing graph has. Ochiai's
 * coefficient of (point on a bug-only edge, failing) is the published alternative, and breaks ties.
 *
 * No single list is right for every bug. With few executions every context is rare, so rarity says
 * little; and an edge that tells failing runs from passing ones may be an effect. With labels the
 * list is therefore ordered by the sum of 1 / rank over three lists (reciprocal rank fusion,
 * Cormack 2009): by the score, by Ochiai, and by the evidence of the edges that end at the point.
 *
 * Only executions that took part in communication count: others are not collected. */
#include "graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tally {
	const struct graph_set *set;
	uint32_t *runs;	       /* [node]: runs in which it occurred on a considered edge */
	uint32_t *last;	       /* [node]: last graph that counted it, + 1 */
	uint64_t *executions;  /* [node]: on considered edges */
	uint8_t *edge_passing; /* [edge]: some passing run has it */
};

static void note(struct tally *t, uint32_t node, size_t graph, uint64_t count)
{
	t->executions[node] += count;
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
			uint64_t n = graph->links.data[i].count;

			if (labels == GRAPH_LABELLED && t->edge_passing[edge])
				continue;
			note(t, s->edges.data[edge].src, g, n);
			note(t, s->edges.data[edge].sink, g, n);
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

/* Per point, over its contexts. */
struct sums {
	uint64_t contexts, executions, runs; /* runs: the sum over contexts */
};

/* Runs in which each point occurs on a considered edge, failing and all: for Ochiai. */
struct presence {
	struct map failing, all, last;
};

static void note_presence(struct presence *p, uint64_t point, size_t graph, bool failing)
{
	uint64_t *last = map_put(&p->last, point, 0);

	if (*last == graph + 1)
		return;
	*last = graph + 1;
	++*map_put(&p->all, point, 0);
	if (failing)
		++*map_put(&p->failing, point, 0);
}

static void find_presence(const struct tally *t, enum graph_labels labels, struct presence *p)
{
	const struct graph_set *s = t->set;

	for (size_t g = 0; g < s->graphs.len; g++) {
		const struct graph *graph = &s->graphs.data[g];

		for (size_t i = 0; i < graph->links.len; i++) {
			uint32_t edge = graph->links.data[i].edge;

			if (labels == GRAPH_LABELLED && t->edge_passing[edge])
				continue;
			note_presence(p, s->nodes.data[s->edges.data[edge].src].point, g,
				      graph->failing);
			note_presence(p, s->nodes.data[s->edges.data[edge].sink].point, g,
				      graph->failing);
		}
	}
}

static int by_suspicion(const void *a, const void *b)
{
	const struct ranked_point *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? -1 : 1;
	if (x->ochiai != y->ochiai)
		return x->ochiai > y->ochiai ? -1 : 1;
	return x->point < y->point ? -1 : x->point > y->point;
}

/* The one place where a code point gets its score. */
static double score(const struct sums *p)
{
	return (double)p->runs / (double)p->executions / (double)p->contexts;
}

static void score_points(const struct tally *t, const struct presence *presence,
			 enum graph_labels labels, struct ranked_points *ret)
{
	double nfailing = labels == GRAPH_LABELLED ? (double)t->set->nfailing : 0;
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
		p->runs += t->runs[n];
		p->executions += t->executions[n];
	}
	for (size_t i = 0; i < index.len; i++) {
		uint64_t point = index.entries[i].key;
		double hits = (double)map_get_or(&presence->failing, point, 0);
		uint64_t all = map_get_or(&presence->all, point, 1);

		vec_push(ret, (struct ranked_point){
				      .point = point,
				      .score = score(&sums.data[index.entries[i].value]),
				      .runs = all,
				      .ochiai = nfailing > 0 ? hits / sqrt(nfailing * (double)all)
							     : 0 });
	}
	vec_sort(ret, by_suspicion);
	map_deinit(&index);
	vec_deinit(&sums);
}

void graph_rank_points(const struct graph_set *s, enum graph_labels labels,
		       struct ranked_points *ret)
{
	struct presence presence = { 0 };
	struct tally t = { .set = s };

	memset(ret, 0, sizeof(*ret));
	t.runs = xcalloc(s->nodes.len, sizeof(*t.runs));
	t.last = xcalloc(s->nodes.len, sizeof(*t.last));
	t.executions = xcalloc(s->nodes.len, sizeof(*t.executions));
	t.edge_passing = xcalloc(s->edges.len, 1);
	mark_passing(&t);
	count(&t, labels);
	find_presence(&t, labels, &presence);
	score_points(&t, &presence, labels, ret);
	free(t.runs);
	free(t.last);
	free(t.executions);
	free(t.edge_passing);
	map_deinit(&presence.failing);
	map_deinit(&presence.all);
	map_deinit(&presence.last);
}

static int by_ochiai(const void *a, const void *b)
{
	const struct ranked_point *x = a, *y = b;

	if (x->ochiai != y->ochiai)
		return x->ochiai > y->ochiai ? -1 : 1;
	return by_suspicion(a, b);
}

static int by_fused(const void *a, const void *b)
{
	const struct ranked_point *x = a, *y = b;

	if (x->fused != y->fused)
		return x->fused > y->fused ? -1 : 1;
	return by_suspicion(a, b);
}

static void add_ranks(struct ranked_points *points)
{
	for (size_t i = 0; i < points->len; i++)
		points->data[i].fused += 1 / (double)(i + 1);
}

void graph_fuse_points(struct ranked_points *points, const uint64_t *ends, size_t nends)
{
	struct map rank = { 0 };

	vec_sort(points, by_ochiai);
	add_ranks(points);
	vec_sort(points, by_suspicion);
	add_ranks(points);
	for (size_t i = 0; i < nends; i++)
		map_put(&rank, ends[i], rank.len + 1);
	for (size_t i = 0; i < points->len; i++)
		points->data[i].fused +=
			1 / (double)*map_put(&rank, points->data[i].point, rank.len + 1);
	vec_sort(points, by_fused);
	map_deinit(&rank);
}
