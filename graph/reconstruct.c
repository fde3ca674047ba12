/* graph/reconstruct.c - from the graphs of failing and passing runs to ranked reconstructions.
 *
 * For each edge of the failing runs: B, how much more often it occurs in failing runs; C, how much
 * the number of contexts in which its two code points communicate differs; then, for the best edges
 * by B, the nodes that ran shortly before the source (prefix), between source and sink (body) and
 * shortly after the sink (suffix) in each failing run, aggregated with confidences; R is the mean
 * confidence. Members below half of their region's best confidence are dropped before R is
 * taken (004 section 5.3).
 *
 * Deviation: a body longer than MAX_BODY nodes keeps the MAX_BODY / 2 nodes nearest to either end.
 * The confidence threshold removes nearly all of a long body anyway, and this keeps the cost
 * linear. */
#include "graph/regions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BODY = 1024, ORIGINAL_SHOWN = 10 };

int timeline_order(const void *a, const void *b)
{
	const struct timed_node *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Each node once, at its latest time, in time order. `latest` is scratch of one entry per node. */
static void make_timeline(const struct graph_set *s, const struct graph *g, uint64_t *latest,
			  struct timeline *ret)
{
	for (size_t i = 0; i < g->links.len; i++) {
		const struct graph_link *l = &g->links.data[i];
		const struct graph_edge *e = &s->edges.data[l->edge];

		latest[e->src] = MAX(latest[e->src], l->src_time + 1);
		latest[e->sink] = MAX(latest[e->sink], l->sink_time + 1);
	}
	for (size_t i = 0; i < g->links.len; i++) {
		const struct graph_edge *e = &s->edges.data[g->links.data[i].edge];
		const uint32_t ends[] = { e->src, e->sink };

		for (int k = 0; k < 2; k++) {
			if (!latest[ends[k]])
				continue;
			vec_push(ret, (struct timed_node){ latest[ends[k]] - 1, ends[k] });
			latest[ends[k]] = 0;
		}
	}
	vec_sort(ret, timeline_order);
}

/* First position whose time is not below t. */
static size_t lower_bound(const struct timeline *t, uint64_t time)
{
	size_t low = 0, high = t->len;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (t->data[mid].time < time)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void count_range(const struct timeline *t, size_t from, size_t to,
			const struct graph_edge *e, struct counts *c)
{
	for (size_t i = from; i < to && i < t->len; i++) {
		uint32_t node = t->data[i].node;

		if (node != e->src && node != e->sink)
			counts_add(c, node);
	}
}

static void count_regions(const struct timeline *t, const struct graph_edge *e,
			  const struct graph_link *l, uint32_t window, struct regions *r)
{
	size_t src = lower_bound(t, l->src_time), sink = lower_bound(t, l->sink_time);
	size_t after = lower_bound(t, l->sink_time + 1);

	count_range(t, src > window ? src - window : 0, src, e, &r->prefix);
	if (sink > src && sink - src > MAX_BODY) {
		count_range(t, src, src + MAX_BODY / 2, e, &r->body);
		count_range(t, sink - MAX_BODY / 2, sink, e, &r->body);
	} else {
		count_range(t, src, sink, e, &r->body);
	}
	count_range(t, after, after + window, e, &r->suffix);
}

static int by_confidence(const void *a, const void *b)
{
	const struct graph_member *x = a, *y = b;

	if (x->confidence != y->confidence)
		return x->confidence > y->confidence ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* The members worth keeping: those with at least half of the best, or all. Leaves the counts zero
 * for the next edge. */
static void keep_confident(struct counts *c, double runs, bool all, struct graph_region *ret)
{
	uint32_t most = 0;

	for (size_t i = 0; i < c->met.len; i++)
		most = MAX(most, c->runs[c->met.data[i]]);
	for (size_t i = 0; i < c->met.len; i++) {
		uint32_t node = c->met.data[i];

		if (all || c->runs[node] * 2 >= most)
			vec_push(ret, (struct graph_member){ node, c->runs[node] / runs });
		c->runs[node] = 0;
	}
	vec_clear(&c->met);
	vec_sort(ret, by_confidence);
}

static void add_confidence(const struct graph_region *region, double *sum, size_t *n)
{
	for (size_t i = 0; i < region->len; i++)
		*sum += region->data[i].confidence;
	*n += region->len;
}

struct work {
	const struct graph_set *set;
	const struct reconstruct_opts *opts;
	uint32_t *failing, *passing; /* [edge]: runs with it */
	struct timeline *timelines;  /* [graph], failing ones only */
	struct map contexts_failing,
		contexts_passing; /* code point pair -> number of context pairs */
	struct regions counts;	  /* scratch */
};

static uint64_t pair_key(const struct graph_set *s, const struct graph_edge *e)
{
	return hash_u64(s->nodes.data[e->src].point * 3 + 1) ^ s->nodes.data[e->sink].point;
}

static void count_runs(struct work *w)
{
	const struct graph_set *s = w->set;

	for (size_t g = 0; g < s->graphs.len; g++) {
		const struct graph *graph = &s->graphs.data[g];
		uint32_t *counts = graph->failing ? w->failing : w->passing;

		for (size_t i = 0; i < graph->links.len; i++)
			counts[graph->links.data[i].edge]++;
	}
	for (size_t e = 0; e < s->edges.len; e++) {
		uint64_t key = pair_key(s, &s->edges.data[e]);

		if (w->failing[e])
			++*map_put(&w->contexts_failing, key, 0);
		if (w->passing[e])
			++*map_put(&w->contexts_passing, key, 0);
	}
}

static void score_edge(const struct work *w, uint32_t edge, struct reconstruction *r)
{
	uint64_t key = pair_key(w->set, &w->set->edges.data[edge]);
	double cf = (double)map_get_or(&w->contexts_failing, key, 0);
	double cp = (double)map_get_or(&w->contexts_passing, key, 0);
	double npassing = (double)w->set->npassing;
	double fraction_n;

	r->edge = edge;
	r->runs_failing = w->failing[edge];
	r->runs_passing = w->passing[edge];
	fraction_n = r->runs_passing ? r->runs_passing / npassing : 1 / (npassing + 1);
	r->b = (double)r->runs_failing / (double)w->set->nfailing / fraction_n;
	r->c = fabs(cf - cp) / (cf + cp);
}

static double nonzero(double x)
{
	return x > 0 ? x : 1;
}

/* The links of a graph are sorted by edge. */
static const struct graph_link *find_link(const struct graph *g, uint32_t edge)
{
	size_t low = 0, high = g->links.len;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (g->links.data[mid].edge == edge)
			return &g->links.data[mid];
		if (g->links.data[mid].edge < edge)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

static void build(struct work *w, struct reconstruction *r, uint32_t window)
{
	const struct graph_edge *e = &w->set->edges.data[r->edge];
	bool original = w->opts->score == GRAPH_SCORE_NORM;
	double sum = 0, runs = original ? (double)w->set->nfailing : r->runs_failing;
	size_t n = 0;

	for (size_t g = 0; g < w->set->graphs.len; g++) {
		const struct graph *graph = &w->set->graphs.data[g];
		const struct graph_link *l;

		if (!graph->failing)
			continue;
		l = find_link(graph, r->edge);
		if (l && original)
			original_count(&w->timelines[g], w->set, l, &w->counts);
		else if (l)
			count_regions(&w->timelines[g], e, l, window, &w->counts);
	}
	keep_confident(&w->counts.prefix, runs, original, &r->prefix);
	keep_confident(&w->counts.body, runs, original, &r->body);
	keep_confident(&w->counts.suffix, runs, original, &r->suffix);
	add_confidence(&r->prefix, &sum, &n);
	add_confidence(&r->body, &sum, &n);
	add_confidence(&r->suffix, &sum, &n);
	r->r = n ? sum / (double)n : 0;
	if (original) {
		r->prefix.len = MIN(r->prefix.len, ORIGINAL_SHOWN);
		r->body.len = MIN(r->body.len, ORIGINAL_SHOWN);
		r->suffix.len = MIN(r->suffix.len, ORIGINAL_SHOWN);
	}
}

/* The norm takes counts of runs where the product takes fractions. */
static void score(const struct work *w, struct reconstruction *r)
{
	bool by_norm = w->opts->score == GRAPH_SCORE_NORM;
	double b = r->runs_failing /
		   (r->runs_passing ? r->runs_passing : 1 / ((double)w->set->npassing + 1));
	double runs = r->r * (by_norm ? (double)w->set->nfailing : r->runs_failing);
	double norm = sqrt(b * b + r->c * r->c + runs * runs);
	double product = nonzero(r->b) * nonzero(r->c) * nonzero(r->r);

	r->score = by_norm ? norm : product;
	r->other_score = by_norm ? product : norm;
}

static int by_b(const void *a, const void *b)
{
	const struct reconstruction *x = a, *y = b;

	if (x->b != y->b)
		return x->b > y->b ? -1 : 1;
	return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static int by_score(const void *a, const void *b)
{
	const struct reconstruction *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return by_b(a, b);
}

static void work_init(struct work *w, const struct graph_set *s,
		      const struct reconstruct_opts *opts)
{
	uint64_t *latest = xcalloc(s->nodes.len, sizeof(*latest));

	*w = (struct work){ .set = s, .opts = opts };
	w->failing = xcalloc(s->edges.len, sizeof(*w->failing));
	w->passing = xcalloc(s->edges.len, sizeof(*w->passing));
	w->timelines = xcalloc(s->graphs.len, sizeof(*w->timelines));
	for (size_t g = 0; g < s->graphs.len; g++)
		if (s->graphs.data[g].failing && opts->score == GRAPH_SCORE_NORM)
			original_timeline(s, &s->graphs.data[g], &w->timelines[g]);
		else if (s->graphs.data[g].failing)
			make_timeline(s, &s->graphs.data[g], latest, &w->timelines[g]);
	free(latest);
	w->counts.prefix.runs = xcalloc(s->nodes.len, sizeof(uint32_t));
	w->counts.body.runs = xcalloc(s->nodes.len, sizeof(uint32_t));
	w->counts.suffix.runs = xcalloc(s->nodes.len, sizeof(uint32_t));
	count_runs(w);
}

static void counts_deinit(struct counts *c)
{
	free(c->runs);
	vec_deinit(&c->met);
}

static void work_deinit(struct work *w)
{
	counts_deinit(&w->counts.prefix);
	counts_deinit(&w->counts.body);
	counts_deinit(&w->counts.suffix);
	for (size_t g = 0; g < w->set->graphs.len; g++)
		vec_deinit(&w->timelines[g]);
	free(w->timelines);
	free(w->failing);
	free(w->passing);
	map_deinit(&w->contexts_failing);
	map_deinit(&w->contexts_passing);
}

void graph_reconstruct(const struct graph_set *s, const struct reconstruct_opts *opts,
		       struct reconstructions *ret)
{
	uint32_t max = opts->max_edges ? opts->max_edges : 2000;
	struct work w;

	memset(ret, 0, sizeof(*ret));
	if (!s->nfailing)
		return;
	work_init(&w, s, opts);
	for (uint32_t e = 0; e < s->edges.len; e++)
		if (w.failing[e])
			score_edge(&w, e, vec_add(ret));
	vec_sort(ret, by_b);
	ret->len = MIN(ret->len, max);
	for (size_t i = 0; i < ret->len; i++) {
		build(&w, &ret->data[i], opts->window ? opts->window : 5);
		score(&w, &ret->data[i]);
	}
	vec_sort(ret, by_score);
	work_deinit(&w);
}

void reconstructions_deinit(struct reconstructions *r)
{
	for (size_t i = 0; i < r->len; i++) {
		vec_deinit(&r->data[i].prefix);
		vec_deinit(&r->data[i].body);
		vec_deinit(&r->data[i].suffix);
	}
	vec_deinit(r);
}
