/* graph/levels.c - which communication goes with the failure: candidates, evidence, chance.
 *
 * A bug may show in one long context, or in a pair of code points whatever the context, or in
 * between; contexts of one length spread some bugs over many rare edges and drown others in common
 * ones. So all lengths are tried. The runs with a candidate are the union of the runs with its
 * edges: sets of bits, which is what makes this quick.
 *
 * Evidence is the log-likelihood ratio between "this candidate's share differs between failing and
 * passing runs" and "it does not", minus the logarithm of the number of candidates of its level: in
 * long contexts there are many, and one of many is easily uneven.
 *
 * Chance is Fisher's exact probability of so uneven a split, times the number of candidates tested.
 * A candidate that occurs in too few (or in nearly all) runs could not stand out however its runs
 * are labelled, and is not counted (Tarone 1990); nor is one that stands for the same edges as its
 * candidate of the level before. If labels are shuffled, something stands out with a
 * probability of at most what is asked for: test-graph.c does that. */
#include "graph/levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t cut(uint32_t context, uint32_t events)
{
	return events >= 16 ? context : context & ((1u << 2 * events) - 1);
}

static void number_points(struct graph_levels *l)
{
	const struct graph_set *s = l->set;
	struct map ids = { 0 };

	l->point_of_node = xcalloc(s->nodes.len + 1, sizeof(*l->point_of_node));
	for (size_t n = 0; n < s->nodes.len; n++)
		l->point_of_node[n] = (uint32_t)*map_put(&ids, s->nodes.data[n].point, ids.len);
	l->npoints = (uint32_t)ids.len;
	map_deinit(&ids);
}

static void collect_runs(struct graph_levels *l)
{
	const struct graph_set *s = l->set;

	l->words = (s->graphs.len + 63) / 64;
	l->runs = xcalloc(s->edges.len * l->words + 1, sizeof(*l->runs));
	l->failing = xcalloc(l->words + 1, sizeof(*l->failing));
	for (size_t g = 0; g < s->graphs.len; g++) {
		const struct graph *graph = &s->graphs.data[g];
		uint64_t bit = 1ull << g % 64, *runs = l->runs + g / 64;

		for (size_t i = 0; i < graph->links.len; i++)
			runs[graph->links.data[i].edge * l->words] |= bit;
		if (graph->failing)
			l->failing[g / 64] |= bit;
	}
}

bool graph_levels_has(const struct graph_levels *l, uint32_t edge, size_t run)
{
	return l->runs[edge * l->words + run / 64] >> run % 64 & 1;
}

/* Which edges are one, by code points and the last events of contexts. */
static void group(const struct graph_levels *l, struct level *level)
{
	const struct graph_set *s = l->set;
	uint32_t *node = xcalloc(s->nodes.len + 1, sizeof(*node));
	struct pairs nodes = { 0 }, edges = { 0 };

	for (size_t n = 0; n < s->nodes.len; n++)
		node[n] = pairs_id(&nodes, l->point_of_node[n],
				   cut(s->nodes.data[n].context, level->events));
	level->of_edge = xcalloc(s->edges.len + 1, sizeof(*level->of_edge));
	for (uint32_t e = 0; e < s->edges.len; e++) {
		uint32_t id =
			pairs_id(&edges, node[s->edges.data[e].src], node[s->edges.data[e].sink]);

		if (id == level->candidates.len)
			vec_push(&level->candidates,
				 (struct candidate){ .edge = e, .pair = l->level[0].of_edge[e] });
		level->candidates.data[id].nedges++;
		level->of_edge[e] = id;
	}
	free(node);
	pairs_deinit(&nodes);
	pairs_deinit(&edges);
}

static void count_runs(const struct graph_levels *l, struct level *level)
{
	size_t w = l->words;
	uint64_t *runs = xcalloc(level->candidates.len * w + 1, sizeof(*runs));

	for (size_t e = 0; e < l->set->edges.len; e++)
		for (size_t i = 0; i < w; i++)
			runs[level->of_edge[e] * w + i] |= l->runs[e * w + i];
	for (size_t c = 0; c < level->candidates.len; c++)
		for (size_t i = 0; i < w; i++) {
			uint64_t bits = runs[c * w + i];
			struct candidate *k = &level->candidates.data[c];

			k->failing += (uint32_t)__builtin_popcountll(bits & l->failing[i]);
			k->passing += (uint32_t)__builtin_popcountll(bits & ~l->failing[i]);
		}
	free(runs);
}

/* Events that the longest context has: leading zeros may be local reads, or none at all. */
static uint32_t longest_context(const struct graph_set *s)
{
	uint32_t all = 0, n = 0;

	for (size_t i = 0; i < s->nodes.len; i++)
		all |= s->nodes.data[i].context;
	for (; all; all >>= 2)
		n++;
	return n;
}

/* ---- chance ---- */

static double log_choose(const struct graph_levels *l, size_t n, size_t k)
{
	return l->log_factorial[n] - l->log_factorial[k] - l->log_factorial[n - k];
}

/* Fisher's exact test, one-sided: at least f of f + p runs are among the failing ones. */
static double fisher(const struct graph_levels *l, uint32_t f, uint32_t p)
{
	size_t failing = l->set->nfailing, passing = l->set->npassing, with = (size_t)f + p;
	double sum = 0;

	for (size_t k = f; k <= with && k <= failing; k++)
		if (with - k <= passing)
			sum += exp(log_choose(l, failing, k) + log_choose(l, passing, with - k) -
				   log_choose(l, failing + passing, with));
	return fmin(sum, 1);
}

/* How many candidates could reach GRAPH_SIGNIFICANT / k, were all their runs failing ones? */
static double able(const double *least, const uint64_t *many, size_t nruns, double k)
{
	double n = 0;

	for (size_t t = 1; t <= nruns; t++)
		if (least[t] <= GRAPH_SIGNIFICANT / k)
			n += (double)many[t];
	return n;
}

/* Tarone: the least k such that at most k candidates could reach GRAPH_SIGNIFICANT / k. */
static void count_tests(struct graph_levels *l)
{
	size_t failing = l->set->nfailing, nruns = failing + l->set->npassing;
	double *least = xcalloc(nruns + 1, sizeof(*least)); /* [runs with it] */
	uint64_t *many = xcalloc(nruns + 1, sizeof(*many));
	double low = 0, high = 1;

	for (size_t t = 1; t <= nruns; t++) {
		size_t f = MIN(t, failing);

		least[t] = fisher(l, (uint32_t)f, (uint32_t)(t - f));
	}
	for (unsigned i = 0; i < l->nlevels; i++)
		for (size_t c = 0; c < l->level[i].candidates.len; c++) {
			const struct candidate *k = &l->level[i].candidates.data[c];
			const struct level *before = i ? &l->level[i - 1] : NULL;

			if (!before ||
			    before->candidates.data[before->of_edge[k->edge]].nedges != k->nedges)
				many[k->failing + k->passing]++;
		}
	while (able(least, many, nruns, high) > high)
		high *= 2;
	while (high - low > 1) {
		double mid = floor((low + high) / 2);

		if (able(least, many, nruns, mid) > mid)
			low = mid;
		else
			high = mid;
	}
	l->tests = high;
	free(least);
	free(many);
}

double graph_levels_chance(const struct graph_levels *l, uint32_t failing, uint32_t passing)
{
	return fmin(1, l->tests * fisher(l, failing, passing));
}

/* The most uneven candidate has the most failing runs for its number of passing ones. */
double graph_levels_best_chance(const struct graph_levels *l)
{
	uint32_t *most = xcalloc(l->set->npassing + 1, sizeof(*most)); /* [passing]: failing */
	double best = 1;

	for (unsigned i = 0; i < l->nlevels; i++)
		for (size_t c = 0; c < l->level[i].candidates.len; c++) {
			const struct candidate *k = &l->level[i].candidates.data[c];

			most[k->passing] = MAX(most[k->passing], k->failing);
		}
	for (uint32_t p = 0; p <= l->set->npassing; p++)
		if (most[p])
			best = fmin(best, graph_levels_chance(l, most[p], p));
	free(most);
	return best;
}

/* ---- evidence ---- */

/* Log-likelihood of k of n at its best rate. */
static double likelihood(double k, double n)
{
	return k <= 0 || k >= n ? 0 : k * log(k / n) + (n - k) * log((n - k) / n);
}

double graph_levels_evidence(const struct graph_levels *l, const struct level *level,
			     uint32_t failing, uint32_t passing)
{
	double f = failing, p = passing, nf = (double)l->set->nfailing,
	       np = (double)l->set->npassing;
	double odds = log((double)MAX(level->candidates.len, 1));

	if (f * np <= p * nf)
		return -odds; /* not more often in failing runs */
	return likelihood(f, nf) + likelihood(p, np) - likelihood(f + p, nf + np) - odds;
}

void graph_levels_init(struct graph_levels *l, const struct graph_set *s)
{
	uint32_t longest = longest_context(s);
	size_t nruns = s->graphs.len;

	*l = (struct graph_levels){ .set = s };
	number_points(l);
	collect_runs(l);
	l->nlevels = MIN(longest + 1, LEVELS);
	for (unsigned i = 0; i < l->nlevels; i++) {
		l->level[i].events = i + 1 < LEVELS ? i : UINT32_MAX;
		group(l, &l->level[i]);
		count_runs(l, &l->level[i]);
	}
	for (size_t c = 0; c < l->level[0].candidates.len; c++)
		l->level[0].candidates.data[c].pair = (uint32_t)c;
	l->log_factorial = xcalloc(nruns + 1, sizeof(*l->log_factorial));
	for (size_t n = 1; n <= nruns; n++)
		l->log_factorial[n] = l->log_factorial[n - 1] + log((double)n);
	count_tests(l);
}

void graph_levels_deinit(struct graph_levels *l)
{
	for (unsigned i = 0; i < l->nlevels; i++) {
		free(l->level[i].of_edge);
		vec_deinit(&l->level[i].candidates);
	}
	free(l->point_of_node);
	free(l->runs);
	free(l->failing);
	free(l->log_factorial);
}
