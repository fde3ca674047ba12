/* graph/reconstruct.c - from the graphs of failing and passing runs to ranked reconstructions.
 *
 * 004 takes each edge of the failing runs: B, how much more often it occurs in failing runs; C, how
 * much the number of contexts in which its two code points communicate differs; then, for the best
 * edges by B, the nodes that ran shortly before the source (prefix), between source and sink (body)
 * and shortly after the sink (suffix) in each failing run, aggregated with confidences; R is the
 * mean confidence. Members below half of their region's best confidence are dropped before R is
 * taken (004 section 5.3). That is --score product.
 *
 * The default differs where the paper's way loses bugs that spread over many contexts:
 *
 * - One finding per pair of code points, in contexts as long as gives most evidence (levels.c);
 *   among equals the one that comes earlier in the failing runs, a cause before its effects.
 * - Regions count code points, not nodes: a line that ran in another context each time was surely
 *   there. The window is eight distinct ones; a body keeps the eight nearest to either end.
 * - A sink that reads what nobody wrote has no source to look around: its body is what ran before.
 * - Where passing runs read the same place from elsewhere, that source is named.
 *
 * Deviation for both: a body longer than MAX_BODY nodes keeps the MAX_BODY / 2 nodes nearest to
 * either end. The confidence threshold removes nearly all of a long body anyway, and this keeps the
 * cost linear. */
#include "graph/levels.h"
#include "graph/regions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BODY = 1024, ORIGINAL_SHOWN = 10, DIGIT = 11 };

int timeline_order(const void *a, const void *b)
{
	const struct timed_node *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* By time, equals as they were: digit by digit, timelines are long. */
static void sort_by_time(struct timeline *t)
{
	struct timed_node *from = t->data, *to = xcalloc(t->len + 1, sizeof(*to)), *swap;
	uint64_t all = 0;

	for (size_t i = 0; i < t->len; i++)
		all |= t->data[i].time;
	for (unsigned shift = 0; shift < 64 && all >> shift; shift += DIGIT) {
		size_t place[1 << DIGIT] = { 0 }, sum = 0;

		for (size_t i = 0; i < t->len; i++)
			place[from[i].time >> shift & ((1 << DIGIT) - 1)]++;
		for (size_t d = 0; d < 1 << DIGIT; d++) {
			size_t n = place[d];

			place[d] = sum;
			sum += n;
		}
		for (size_t i = 0; i < t->len; i++)
			to[place[from[i].time >> shift & ((1 << DIGIT) - 1)]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	t->data = from;
	t->cap = t->len;
	free(to);
}

/* Each node once, at its latest time, in time order. `latest` is scratch of one entry per node. */
static void make_timeline(const struct graph_set *s, const struct graph *g, uint64_t *latest,
			  struct timeline *ret)
{
	for (size_t i = 0; i < g->bystanders.len; i++) {
		const struct graph_bystander *b = &g->bystanders.data[i];

		latest[b->node] = MAX(latest[b->node], b->time + 1);
	}
	for (size_t i = 0; i < g->links.len; i++) {
		const struct graph_link *l = &g->links.data[i];
		const struct graph_edge *e = &s->edges.data[l->edge];

		latest[e->src] = MAX(latest[e->src], l->src_time + 1);
		latest[e->sink] = MAX(latest[e->sink], l->sink_time + 1);
	}
	for (size_t n = 0; n < s->nodes.len; n++)
		if (latest[n]) {
			vec_push(ret, (struct timed_node){ latest[n] - 1, (uint32_t)n });
			latest[n] = 0;
		}
	sort_by_time(ret);
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

/* ---- regions, as the paper counts them ---- */

static void count_range(const struct timeline *t, size_t from, size_t to,
			const struct graph_edge *e, struct counts *c)
{
	for (size_t i = from; i < to && i < t->len; i++) {
		uint32_t node = t->data[i].node;

		if (node != e->src && node != e->sink)
			counts_add(c, node);
	}
}

static void count_nodes(const struct timeline *t, const struct graph_edge *e,
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

/* ---- the work ---- */

struct work {
	const struct graph_set *set;
	const struct reconstruct_opts *opts;
	uint32_t window;
	struct graph_levels levels;
	struct timeline *timelines; /* [graph], failing ones only */
	struct map contexts_failing,
		contexts_passing; /* code point pair -> number of context pairs */
	struct regions counts;	  /* scratch */
	/* for evidence */
	uint32_t *stands_for;	 /* [node]: the first node of its code point */
	uint32_t *stamp, serial; /* [node]: met in this region of this run */
};

static const struct level *full_level(const struct work *w)
{
	return &w->levels.level[w->levels.nlevels - 1];
}

static uint32_t pair_of(const struct work *w, uint32_t edge)
{
	return w->levels.level[0].of_edge[edge];
}

static void count_contexts(struct work *w)
{
	const struct level *full = full_level(w);

	for (size_t i = 0; i < full->candidates.len; i++) {
		const struct candidate *c = &full->candidates.data[i];

		if (c->failing)
			++*map_put(&w->contexts_failing, c->pair, 0);
		if (c->passing)
			++*map_put(&w->contexts_passing, c->pair, 0);
	}
}

static void set_features(const struct work *w, struct reconstruction *r)
{
	double cf = (double)map_get_or(&w->contexts_failing, pair_of(w, r->edge), 0);
	double cp = (double)map_get_or(&w->contexts_passing, pair_of(w, r->edge), 0);
	double npassing = (double)w->set->npassing;
	double fraction_n = r->runs_passing ? r->runs_passing / npassing : 1 / (npassing + 1);

	r->b = (double)r->runs_failing / (double)w->set->nfailing / fraction_n;
	r->c = fabs(cf - cp) / (cf + cp);
	r->chance = graph_levels_chance(&w->levels, r->runs_failing, r->runs_passing);
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

/* Of several edges that a candidate stands for, the last one in the run. */
static const struct graph_link *latest_link(const struct work *w, size_t run, const uint32_t *edges,
					    size_t n)
{
	const struct graph_link *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct graph_link *l;

		if (!graph_levels_has(&w->levels, edges[i], run))
			continue;
		l = find_link(&w->set->graphs.data[run], edges[i]);
		if (l && (!best || l->sink_time > best->sink_time))
			best = l;
	}
	return best;
}

/* Counts distinct code points from `from` on, `step` by step, until there are `window` of them.
 * Those stamped with `before` are in the region already. */
static void count_points(struct work *w, const struct timeline *t, long from, long end, long step,
			 const struct graph_edge *e, uint32_t before, struct counts *c)
{
	uint32_t n = 0;

	w->serial++;
	for (long i = from; i != end && n < w->window; i += step) {
		uint32_t node = t->data[i].node, point = w->stands_for[node];

		if (node == e->src || node == e->sink || w->stamp[point] == w->serial ||
		    w->set->nodes.data[node].point == GRAPH_INITIAL)
			continue;
		if (!before || w->stamp[point] != before)
			counts_add(c, point);
		w->stamp[point] = w->serial;
		n++;
	}
}

static void count_around(struct work *w, size_t run, const struct graph_link *l)
{
	const struct timeline *t = &w->timelines[run];
	const struct graph_edge *e = &w->set->edges.data[l->edge];
	bool initial = w->set->nodes.data[e->src].point == GRAPH_INITIAL;
	long src = (long)lower_bound(t, l->src_time), sink = (long)lower_bound(t, l->sink_time);

	if (!initial)
		count_points(w, t, src - 1, -1, -1, e, 0, &w->counts.prefix);
	if (sink > src)
		count_points(w, t, sink - 1, src - 1, -1, e, 0, &w->counts.body);
	if (sink > src && !initial)
		count_points(w, t, src, sink, 1, e, w->serial, &w->counts.body);
	count_points(w, t, (long)lower_bound(t, l->sink_time + 1), (long)t->len, 1, e, 0,
		     &w->counts.suffix);
}

static void build(struct work *w, struct reconstruction *r, const uint32_t *edges, size_t nedges)
{
	bool original = w->opts->score == GRAPH_SCORE_NORM;
	double sum = 0, position = 0, runs = original ? (double)w->set->nfailing : r->runs_failing;
	size_t n = 0;

	for (size_t g = 0; g < w->set->graphs.len; g++) {
		const struct graph_link *l;

		if (!w->set->graphs.data[g].failing || !(l = latest_link(w, g, edges, nedges)))
			continue;
		if (original)
			original_count(&w->timelines[g], w->set, l, &w->counts);
		else if (w->opts->score == GRAPH_SCORE_PRODUCT)
			count_nodes(&w->timelines[g], &w->set->edges.data[l->edge], l, w->window,
				    &w->counts);
		else
			count_around(w, g, l);
		position += (double)lower_bound(&w->timelines[g], l->sink_time) /
			    (double)w->timelines[g].len;
	}
	r->position = position / r->runs_failing;
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

/* Another source of the same sink that is usual in passing runs and rarer by half in failing. */
static void find_instead(const struct work *w, struct reconstruction *r)
{
	const struct candidates *pairs = &w->levels.level[0].candidates;
	const struct candidate *mine = &pairs->data[pair_of(w, r->edge)];
	uint32_t sink = w->levels.point_of_node[w->set->edges.data[r->edge].sink];
	double best = 0.5;

	for (size_t i = 0; i < pairs->len; i++) {
		const struct candidate *c = &pairs->data[i];
		const struct graph_edge *e = &w->set->edges.data[c->edge];
		double more = (double)c->passing / (double)w->set->npassing -
			      (double)c->failing / (double)w->set->nfailing;

		if (c == mine || more < best || w->levels.point_of_node[e->sink] != sink)
			continue;
		best = more;
		r->instead = (struct graph_instead){ .known = true,
						     .node = e->src,
						     .runs_failing = c->failing,
						     .runs_passing = c->passing };
	}
}

static double nonzero(double x)
{
	return x > 0 ? x : 1;
}

/* The norm takes counts of runs where the product takes fractions. */
static void score(const struct work *w, struct reconstruction *r)
{
	bool by_norm = w->opts->score == GRAPH_SCORE_NORM;
	double b = r->runs_failing /
		   (r->runs_passing ? r->runs_passing : 1 / ((double)w->set->npassing + 1));
	double runs = r->r * (by_norm ? (double)w->set->nfailing : r->runs_failing);

	r->norm = sqrt(b * b + r->c * r->c + runs * runs);
	r->product = nonzero(r->b) * nonzero(r->c) * nonzero(r->r);
	r->score = by_norm				   ? r->norm
		   : w->opts->score == GRAPH_SCORE_PRODUCT ? r->product
							   : r->evidence;
}

static int by_b(const void *a, const void *b)
{
	const struct reconstruction *x = a, *y = b;

	if (x->b != y->b)
		return x->b > y->b ? -1 : 1;
	return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static int by_evidence(const void *a, const void *b)
{
	const struct reconstruction *x = a, *y = b;

	if (x->evidence != y->evidence)
		return x->evidence > y->evidence ? -1 : 1;
	return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static int by_score(const void *a, const void *b)
{
	const struct reconstruction *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->position != y->position)
		return x->position < y->position ? -1 : 1;
	return by_b(a, b);
}

/* ---- who is looked at ---- */

/* Every edge of the failing runs. */
static void choose_edges(struct work *w, struct reconstructions *ret)
{
	const struct level *full = full_level(w);

	for (size_t i = 0; i < full->candidates.len; i++) {
		const struct candidate *c = &full->candidates.data[i];
		struct reconstruction *r;

		if (!c->failing)
			continue;
		r = vec_add(ret);
		r->edge = c->edge;
		r->events = UINT32_MAX;
		r->runs_failing = c->failing;
		r->runs_passing = c->passing;
		r->evidence = graph_levels_evidence(&w->levels, full, c->failing, c->passing);
		set_features(w, r);
	}
	vec_sort(ret, by_b);
	ret->len = MIN(ret->len, w->opts->max_edges ? w->opts->max_edges : 2000);
}

/* Per pair of code points its best candidate; shorter contexts first among equals. */
static void choose_pairs(struct work *w, struct reconstructions *ret)
{
	size_t npairs = w->levels.level[0].candidates.len;
	struct reconstruction *best = xcalloc(npairs + 1, sizeof(*best));

	for (unsigned i = 0; i < w->levels.nlevels; i++) {
		const struct level *level = &w->levels.level[i];

		for (size_t k = 0; k < level->candidates.len; k++) {
			const struct candidate *c = &level->candidates.data[k];
			double e = graph_levels_evidence(&w->levels, level, c->failing, c->passing);
			struct reconstruction *r = &best[c->pair];

			if (!c->failing || (r->runs_failing && e <= r->evidence))
				continue;
			*r = (struct reconstruction){ .edge = c->edge,
						      .events = level->events,
						      .runs_failing = c->failing,
						      .runs_passing = c->passing,
						      .evidence = e };
		}
	}
	for (size_t p = 0; p < npairs; p++)
		if (best[p].runs_failing)
			vec_push(ret, best[p]);
	free(best);
	vec_sort(ret, by_evidence);
	ret->len = MIN(ret->len, w->opts->max_edges ? w->opts->max_edges : 200);
	for (size_t i = 0; i < ret->len; i++)
		set_features(w, &ret->data[i]);
}

/* The edges that a reconstruction stands for, to build(). */
static void build_all(struct work *w, struct reconstructions *ret)
{
	struct graph_levels *l = &w->levels;
	VEC(uint32_t) edges = { 0 };

	for (size_t i = 0; i < ret->len; i++) {
		struct reconstruction *r = &ret->data[i];
		const struct level *level = full_level(w);

		for (unsigned k = 0; k < l->nlevels; k++)
			if (l->level[k].events == r->events)
				level = &l->level[k];
		vec_clear(&edges);
		for (uint32_t e = r->edge; e < w->set->edges.len; e++) {
			if (level->of_edge[e] == level->of_edge[r->edge])
				vec_push(&edges, e);
			if (edges.len == level->candidates.data[level->of_edge[r->edge]].nedges)
				break;
		}
		build(w, r, edges.data, edges.len);
		score(w, r);
		find_instead(w, r);
	}
	vec_deinit(&edges);
}

static void make_timelines(struct work *w)
{
	const struct graph_set *s = w->set;
	uint64_t *latest = xcalloc(s->nodes.len + 1, sizeof(*latest));

	w->timelines = xcalloc(s->graphs.len, sizeof(*w->timelines));
	for (size_t g = 0; g < s->graphs.len; g++)
		if (s->graphs.data[g].failing && w->opts->score == GRAPH_SCORE_NORM)
			original_timeline(s, &s->graphs.data[g], &w->timelines[g]);
		else if (s->graphs.data[g].failing)
			make_timeline(s, &s->graphs.data[g], latest, &w->timelines[g]);
	free(latest);
}

static void work_init(struct work *w, const struct graph_set *s,
		      const struct reconstruct_opts *opts)
{
	uint32_t *first;

	*w = (struct work){ .set = s, .opts = opts, .window = opts->window };
	if (!w->window)
		w->window = opts->score == GRAPH_SCORE_EVIDENCE ? 8 : 5;
	graph_levels_init(&w->levels, s);
	make_timelines(w);
	w->counts.prefix.runs = xcalloc(s->nodes.len + 1, sizeof(uint32_t));
	w->counts.body.runs = xcalloc(s->nodes.len + 1, sizeof(uint32_t));
	w->counts.suffix.runs = xcalloc(s->nodes.len + 1, sizeof(uint32_t));
	w->stamp = xcalloc(s->nodes.len + 1, sizeof(*w->stamp));
	w->stands_for = xcalloc(s->nodes.len + 1, sizeof(*w->stands_for));
	first = xcalloc(w->levels.npoints + 1, sizeof(*first)); /* [point]: node + 1 */
	for (uint32_t n = 0; n < s->nodes.len; n++) {
		uint32_t *f = &first[w->levels.point_of_node[n]];

		if (!*f)
			*f = n + 1;
		w->stands_for[n] = *f - 1;
	}
	free(first);
	count_contexts(w);
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
	free(w->stamp);
	free(w->stands_for);
	graph_levels_deinit(&w->levels);
	map_deinit(&w->contexts_failing);
	map_deinit(&w->contexts_passing);
}

void graph_reconstruct(const struct graph_set *s, const struct reconstruct_opts *opts,
		       struct reconstructions *ret)
{
	struct work w;

	memset(ret, 0, sizeof(*ret));
	ret->chance = 1;
	if (!s->nfailing || !s->npassing)
		return;
	work_init(&w, s, opts);
	ret->chance = graph_levels_best_chance(&w.levels);
	if (opts->score == GRAPH_SCORE_EVIDENCE)
		choose_pairs(&w, ret);
	else
		choose_edges(&w, ret);
	build_all(&w, ret);
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
