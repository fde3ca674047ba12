/* coop/rank.c - which log to start from, and what to complete it with.
 *
 * For each element that a log lacks, its neighbour is the most similar log that has it. PSIM and
 * DSIM are above zero only for logs that have a vector in common, so an index from (element,
 * vector) to logs finds every candidate; the rarest vectors are looked up first. A log that
 * shares none of the vectors looked up so far can at best agree on all the others, which bounds its
 * similarity: when every neighbour found is better than that, the search ends. Widespread vectors
 * have long lists and small weights, so they are mostly never walked. Where nothing prunes (every
 * rare vector is unique) and there are more than `scan` logs, it stops after an eighth of `scan`:
 * the answer is then good, not necessarily the best, and the work stays linear in the number of
 * logs.
 *
 * Ties, which the thesis breaks at random: the vector that more logs have, then the earlier log.
 * The same rule chooses where nothing is similar at all.
 *
 * DHS is above zero for any common element: with up to `scan` logs all are compared, beyond that
 * those that share a vector. */
#include "coop/hamming.h"
#include "coop/similar.h"

enum { SCAN = 2048 };

struct list {
	size_t first;
	uint32_t n;
};

struct best {
	uint32_t log, vector, count;
	double similarity;
};

struct coop_search {
	const struct coop *c;
	enum coop_metric metric;
	uint32_t scan, budget;
	uint64_t total;
	struct list *lists; /* per (element, vector) pair, in the order of c->counts */
	uint32_t *pairs;    /* list of each entry of each chosen log; by entry number */
	uint32_t *logs;	    /* the lists' logs, ascending */
	struct best *usual; /* per element: what most logs have */
	struct hamming hamming;
	bool all; /* compare with every log */
	/* of the search under way */
	uint32_t epoch;
	uint32_t *seen;	   /* per log */
	uint32_t *present; /* per element: the base log has it */
	struct best *best; /* per element */
};

static uint32_t pair_index(const struct coop *c, const struct coop_entry *e)
{
	uint64_t *slot = map_find(&c->counts, (uint64_t)e->element << 32 | e->vector);

	/* entries stand in insertion order, and the slot is one of them */
	return (uint32_t)((struct map_entry *)((char *)slot - offsetof(struct map_entry, value)) -
			  c->counts.entries);
}

static void build_index(struct coop_search *s)
{
	const struct coop *c = s->c;
	size_t at = 0;

	s->lists = xcalloc(c->counts.len + 1, sizeof(*s->lists));
	s->pairs = xcalloc(c->entries.len + 1, sizeof(*s->pairs));
	s->usual = xcalloc(c->elements.len + 1, sizeof(*s->usual));
	for (size_t i = 0; i < c->counts.len; i++) {
		s->lists[i].first = at;
		at += c->counts.entries[i].value;
	}
	s->logs = xcalloc(at + 1, sizeof(*s->logs));
	for (size_t i = 0; i < c->chosen.len; i++) {
		const struct coop_log *log = &c->logs.data[c->chosen.data[i]];

		for (size_t k = log->first; k < log->first + log->n; k++) {
			const struct coop_entry *e = &c->entries.data[k];
			struct list *l = &s->lists[s->pairs[k] = pair_index(c, e)];

			s->logs[l->first + l->n++] = c->chosen.data[i];
		}
	}
	for (size_t i = 0; i < c->counts.len; i++) {
		struct best *u = &s->usual[c->counts.entries[i].key >> 32];
		uint32_t count = (uint32_t)c->counts.entries[i].value;
		uint32_t first = s->logs[s->lists[i].first];

		if (count > u->count || (count == u->count && first < u->log))
			*u = (struct best){ first, (uint32_t)c->counts.entries[i].key, count, 0 };
	}
}

struct coop_search *coop_search_new(const struct coop *c, enum coop_metric metric, uint32_t scan)
{
	struct coop_search *s = xcalloc(1, sizeof(*s));

	s->c = c;
	s->metric = metric;
	s->scan = scan ? scan : SCAN;
	s->budget = c->chosen.len <= s->scan ? UINT32_MAX : 1 + s->scan / 8;
	s->total = similar_total(c, metric);
	build_index(s);
	s->all = metric == COOP_DHS && c->chosen.len <= s->scan;
	if (s->all)
		hamming_init(&s->hamming, c);
	s->seen = xcalloc(c->logs.len + 1, sizeof(*s->seen));
	s->present = xcalloc(c->elements.len + 1, sizeof(*s->present));
	s->best = xcalloc(c->elements.len + 1, sizeof(*s->best));
	return s;
}

void coop_search_free(struct coop_search *s)
{
	if (!s)
		return;
	if (s->all)
		hamming_deinit(&s->hamming);
	free(s->lists);
	free(s->pairs);
	free(s->logs);
	free(s->usual);
	free(s->seen);
	free(s->present);
	free(s->best);
	free(s);
}

/* similar_logs for DHS, from the matrices. */
static double by_hamming(const struct coop_search *s, uint32_t a, uint32_t b)
{
	const struct coop *c = s->c;
	const struct coop_entry *x = coop_entries(c, a), *x_end = x + c->logs.data[a].n;
	const struct coop_entry *y = coop_entries(c, b), *y_end = y + c->logs.data[b].n;
	double sum = 0;

	while (x < x_end && y < y_end) {
		if (x->element != y->element) {
			x->element < y->element ? x++ : y++;
			continue;
		}
		sum += (double)similar_weight(c, COOP_DHS, x->element) *
		       (x->vector == y->vector
				? 1
				: hamming_get(&s->hamming, x->element, x->vector, y->vector));
		x++;
		y++;
	}
	return s->total ? sum / (double)s->total : 0;
}

static bool better(const struct best *a, const struct best *b)
{
	if (b->log == COOP_NONE || a->similarity != b->similarity)
		return b->log == COOP_NONE || a->similarity > b->similarity;
	if (a->count != b->count)
		return a->count > b->count;
	return a->log < b->log;
}

/* One more log whose elements might complete the base log. */
static void consider(struct coop_search *s, uint32_t base, uint32_t other)
{
	const struct coop *c = s->c;
	const struct coop_log *log = &c->logs.data[other];
	double similarity = s->all ? by_hamming(s, base, other)
				   : similar_logs(c, s->metric, s->total, base, other);

	for (size_t k = log->first; k < log->first + log->n; k++) {
		const struct coop_entry *e = &c->entries.data[k];
		struct best b = { other, e->vector, s->lists[s->pairs[k]].n, similarity };

		if (s->present[e->element] != s->epoch && better(&b, &s->best[e->element]))
			s->best[e->element] = b;
	}
}

/* Is every neighbour better than a log could be that shares weight `rest` at most? */
static bool settled(const struct coop_search *s, uint64_t rest)
{
	double bound = (double)rest / (double)s->total;

	for (size_t i = 0; i < s->c->elements.len; i++)
		if (s->present[i] != s->epoch && s->c->elements.data[i].recorded &&
		    (s->best[i].log == COOP_NONE || s->best[i].similarity <= bound))
			return false;
	return true;
}

static void walk_lists(struct coop_search *s, uint32_t base)
{
	const struct coop *c = s->c;
	const struct coop_log *log = &c->logs.data[base];
	uint32_t order[log->n + 1], scanned = 0;
	uint64_t rest = 0;

	for (uint32_t i = 0; i < log->n; i++) {
		uint32_t k = i, pair = s->pairs[log->first + i];

		for (; k > 0 && s->lists[order[k - 1]].n > s->lists[pair].n; k--)
			order[k] = order[k - 1];
		order[k] = pair;
		rest += similar_weight(c, s->metric, c->entries.data[log->first + i].element);
	}
	for (uint32_t i = 0; i < log->n && scanned < s->budget; i++) {
		const struct list *l = &s->lists[order[i]];

		if (s->metric != COOP_DHS && settled(s, rest))
			return;
		rest -= similar_weight(c, s->metric,
				       (uint32_t)(c->counts.entries[order[i]].key >> 32));
		for (uint32_t k = 0; k < l->n && scanned < s->budget; k++) {
			uint32_t other = s->logs[l->first + k];

			if (s->seen[other] == s->epoch)
				continue;
			s->seen[other] = s->epoch;
			scanned++;
			consider(s, base, other);
		}
	}
}

void coop_search_fills(struct coop_search *s, uint32_t base, struct coop_ranking *ret)
{
	const struct coop *c = s->c;
	const struct coop_log *log = &c->logs.data[base];

	s->epoch++;
	s->seen[base] = s->epoch;
	for (size_t i = 0; i < c->elements.len; i++)
		s->best[i].log = COOP_NONE;
	for (size_t k = log->first; k < log->first + log->n; k++)
		s->present[c->entries.data[k].element] = s->epoch;
	if (s->all) {
		for (size_t i = 0; i < c->chosen.len; i++)
			if (c->chosen.data[i] != base)
				consider(s, base, c->chosen.data[i]);
	} else {
		walk_lists(s, base);
	}
	for (uint32_t i = 0; i < c->elements.len; i++) {
		const struct best *b = s->best[i].log != COOP_NONE ? &s->best[i] : &s->usual[i];

		if (s->present[i] != s->epoch && c->elements.data[i].recorded)
			vec_push(&ret->fills,
				 (struct coop_fill){ i, b->vector, b->log, b->similarity });
	}
}

/* Equation 3.5: the mean over the different neighbours. A complete log needs none. */
static double mean_similarity(const struct coop_fill *fills, uint32_t n)
{
	double sum = 0;
	uint32_t different = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;

		while (fills[k].from != fills[i].from)
			k++;
		if (k < i)
			continue;
		sum += fills[i].similarity;
		different++;
	}
	return different ? sum / different : 1;
}

static int by_relevance(const void *a, const void *b)
{
	const struct coop_ranked *x = a, *y = b;

	if (x->relevance != y->relevance)
		return x->relevance < y->relevance ? 1 : -1;
	return (x->log > y->log) - (x->log < y->log);
}

/* Equation 3.6, as a sum of integers. */
static double dispersion_sum(const struct coop *c, uint32_t log)
{
	const struct coop_entry *e = coop_entries(c, log);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->logs.data[log].n; i++)
		sum += c->elements.data[e[i].element].distinct;
	return c->distinct ? (double)sum / (double)c->distinct : 0;
}

void coop_rank(const struct coop *c, const struct coop_rank_options *o, struct coop_ranking *ret)
{
	struct coop_search *s = NULL;

	*ret = (struct coop_ranking){ 0 };
	if (o->heuristic == COOP_SGM)
		s = coop_search_new(c, o->metric, o->scan);
	for (size_t i = 0; i < c->chosen.len; i++) {
		struct coop_ranked r = { .log = c->chosen.data[i], .first = ret->fills.len };

		if (s) {
			coop_search_fills(s, r.log, ret);
			r.n = (uint32_t)(ret->fills.len - r.first);
			r.relevance = mean_similarity(ret->fills.data + r.first, r.n);
		} else {
			r.relevance = dispersion_sum(c, r.log);
		}
		vec_push(&ret->logs, r);
	}
	vec_sort(&ret->logs, by_relevance);
	coop_search_free(s);
}

void coop_ranking_deinit(struct coop_ranking *r)
{
	vec_deinit(&r->logs);
	vec_deinit(&r->fills);
}
