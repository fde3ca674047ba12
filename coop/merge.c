/* coop/merge.c - candidates, one after the other, until one fails as the logs did.
 *
 * First come the heuristics of 000 sections 3.3.1 and 3.3.2: each log in order of relevance,
 * completed from its neighbours. Logs of one element have no neighbours; they are combined by how
 * well each vector tells failing from passing runs (section 3.4). Then comes brute force: for each
 * base log, other vectors for the missing elements. Combinations that stray least from the usual
 * vectors come first.
 *
 * Beyond the thesis:
 *
 * - Vectors may give way. When no thread could go on, the least similar vector from another log is
 *   dropped first; those of the base log, which were seen together in one run, come last. A
 *   consistent candidate runs as it would have; another still tests the base log's order.
 * - When the first candidate fails, every second attempt uses less: a base log alone, or (logs of
 *   one element) the next most telling vector alone, and searches the rest. Where vectors of other
 *   runs mislead, the ones that belong together still help.
 * - At the end the base logs are tried again and again, with other schedules. */
#include "coop/coop.h"

#include "base/err.h"
#include "base/log.h"

#include <string.h>

enum { LIMIT = 500 };

struct option;
struct merge {
	const struct coop *c;
	const struct coop_merge_options *o;
	coop_oracle *oracle;
	void *context;
	struct coop_merge_result *ret;
	struct map tried; /* in this merge */
	VEC(struct coop_choice) choices;
	const struct option *telling; /* the last that was tried alone */
	double started;
	bool over; /* reproduced, or out of attempts */
	struct err *err;
};

static uint64_t candidate_hash(uint32_t round, const struct coop_choice *choices, size_t n)
{
	uint64_t h = hash_u64(round);

	for (size_t i = 0; i < n; i++) {
		h = hash_u64(h ^ ((uint64_t)choices[i].element << 32 | choices[i].vector));
		h = hash_u64(h ^ (choices[i].strength == COOP_HARD));
	}
	return h;
}

/* What names the vectors themselves, so that it means the same in the next merge of a store. */
static uint64_t stable_hash(const struct merge *m)
{
	uint64_t h = 0;

	for (size_t i = 0; i < m->choices.len; i++) {
		const struct coop_choice *x = &m->choices.data[i];

		h = hash_u64(h ^ m->c->elements.data[x->element].id);
		h = hash_u64(h ^ m->c->vectors.data[x->vector].hash ^ (x->strength == COOP_HARD));
	}
	return h;
}

static void succeed(struct merge *m, const struct coop_candidate *c)
{
	m->ret->reproduced = m->over = true;
	m->ret->base = c->base;
	m->ret->brute = c->brute;
	for (size_t i = 0; i < c->n; i++)
		vec_push(&m->ret->choices, c->choices[i]);
}

/* Put the choices to the oracle, unless that was done before. */
static void attempt(struct merge *m, uint32_t base, bool brute, uint32_t round)
{
	uint32_t limit = m->o->limit ? m->o->limit : LIMIT;
	struct coop_candidate c = { base, m->choices.data, m->choices.len, brute, round > 0, 0 };
	uint64_t *known = map_put(&m->tried, candidate_hash(round, c.choices, c.n), 0);
	enum coop_verdict verdict;

	c.hash = hash_u64(stable_hash(m) ^ round);
	if ((*known)++ || (m->o->tried && map_find(m->o->tried, c.hash))) {
		m->ret->skipped++;
		return;
	}
	if (m->ret->attempts >= limit ||
	    (m->o->seconds > 0 && clock_seconds() - m->started > m->o->seconds)) {
		m->over = true;
		return;
	}
	m->ret->attempts++;
	progress("attempt %u of %u, %u infeasible", m->ret->attempts, limit, m->ret->infeasible);
	m->err = m->oracle(m->context, &c, m->o->seed + m->ret->attempts, &verdict);
	if (m->err) {
		m->over = true;
		return;
	}
	if (verdict == COOP_REPRODUCED)
		succeed(m, &c);
	else if (m->o->tried)
		map_put(m->o->tried, c.hash, 1);
	m->ret->infeasible += verdict == COOP_INFEASIBLE;
	m->ret->other += verdict == COOP_OTHER_END;
}

static uint32_t strength_of(double similarity)
{
	return 1 + (uint32_t)(similarity * 1e6);
}

static void choose_base(struct merge *m, uint32_t log)
{
	const struct coop_entry *e = coop_entries(m->c, log);

	vec_clear(&m->choices);
	for (uint32_t i = 0; i < m->c->logs.data[log].n; i++)
		vec_push(&m->choices,
			 (struct coop_choice){ e[i].element, e[i].vector, log, COOP_HARD });
}

/* A base log alone: what it lacks is left to the strategies that search; other schedules in other
 * rounds. */
static void alone(struct merge *m, uint32_t log, uint32_t round)
{
	if (m->over)
		return;
	choose_base(m, log);
	attempt(m, log, false, round);
}

/* Every log as a base, most relevant first. */
static void by_relevance(struct merge *m, struct coop_ranking *ranking)
{
	struct coop_search *s = NULL;

	if (m->o->heuristic == COOP_DGM)
		s = coop_search_new(m->c, m->o->metric, 0);
	for (size_t i = 0; i < ranking->logs.len && !m->over; i++) {
		struct coop_ranked *r = &ranking->logs.data[i];

		if (s) {
			r->first = ranking->fills.len;
			coop_search_fills(s, r->log, ranking);
			r->n = (uint32_t)(ranking->fills.len - r->first);
		}
		choose_base(m, r->log);
		for (uint32_t k = 0; k < r->n; k++) {
			const struct coop_fill *f = &ranking->fills.data[r->first + k];

			vec_push(&m->choices, (struct coop_choice){ f->element, f->vector, f->from,
								    strength_of(f->similarity) });
		}
		attempt(m, r->log, false, 0);
		if (i > 0)
			alone(m, r->log, 1);
	}
	coop_search_free(s);
}

/* ---- combinations ---- */

/* The vectors of one element, best first; equals share a rank. */
struct option {
	uint32_t element, vector, rank;
	double worth;
};

struct options {
	VEC(struct option) all; /* by element, then worth */
	size_t *first;		/* per element; one more at the end */
	uint32_t last_rank;	/* the sum of the worst of each element */
};

static int by_worth(const void *a, const void *b)
{
	const struct option *x = a, *y = b;

	if (x->element != y->element)
		return (x->element > y->element) - (x->element < y->element);
	if (x->worth != y->worth)
		return x->worth < y->worth ? 1 : -1;
	return (x->vector > y->vector) - (x->vector < y->vector);
}

/* correlated: worth is the correlation with the bug; else how many logs have it. */
static void options_init(struct options *o, const struct coop *c, bool correlated)
{
	*o = (struct options){ 0 };
	for (size_t i = 0; i < c->counts.len; i++) {
		struct option *x = vec_add(&o->all);

		x->element = (uint32_t)(c->counts.entries[i].key >> 32);
		x->vector = (uint32_t)c->counts.entries[i].key;
		x->worth = correlated ? coop_correlation(c, x->element, x->vector)
				      : (double)c->counts.entries[i].value;
	}
	vec_sort(&o->all, by_worth);
	o->first = xcalloc(c->elements.len + 2, sizeof(*o->first));
	for (size_t i = 0, e = 0; e <= c->elements.len; e++) {
		o->first[e] = i;
		for (uint32_t rank = 0; i < o->all.len && o->all.data[i].element == e; i++) {
			struct option *x = &o->all.data[i];

			if (i > o->first[e])
				rank += x->worth != x[-1].worth;
			x->rank = rank;
		}
		if (i > o->first[e])
			o->last_rank += o->all.data[i - 1].rank;
	}
}

static void options_deinit(struct options *o)
{
	vec_deinit(&o->all);
	free(o->first);
}

/* Complete the choices with every combination whose ranks add up to `sum`. */
/* The next most telling vector alone, whatever its element. */
static void most_telling(struct merge *m, const struct options *o)
{
	const struct option *last = m->telling, *best = NULL;
	typeof(m->choices) kept = m->choices;

	for (size_t i = 0; i < o->all.len; i++) {
		const struct option *x = &o->all.data[i];
		bool done =
			last && (x->worth > last->worth || (x->worth == last->worth && x <= last));

		if (!done && (!best || x->worth > best->worth))
			best = x;
	}
	if (!best || m->over)
		return;
	m->telling = best;
	memset(&m->choices, 0, sizeof(m->choices));
	vec_push(&m->choices, (struct coop_choice){ best->element, best->vector, COOP_NONE,
						    strength_of(MIN(best->worth, 1)) });
	attempt(m, COOP_NONE, false, 1);
	vec_deinit(&m->choices);
	m->choices = kept;
}

static void combine(struct merge *m, const struct options *o, uint32_t element, uint32_t sum,
		    uint32_t base)
{
	while (element < m->c->elements.len &&
	       (o->first[element] == o->first[element + 1] ||
		(base != COOP_NONE && coop_find(m->c, base, element) != COOP_NONE)))
		element++;
	if (element == m->c->elements.len) {
		if (sum == 0)
			attempt(m, base, base != COOP_NONE, 0);
		if (sum == 0 && base == COOP_NONE)
			most_telling(m, o);
		return;
	}
	for (size_t i = o->first[element]; i < o->first[element + 1] && !m->over; i++) {
		const struct option *x = &o->all.data[i];

		if (x->rank > sum)
			break;
		vec_push(&m->choices, (struct coop_choice){ element, x->vector, COOP_NONE,
							    strength_of(MIN(x->worth, 1)) });
		combine(m, o, element + 1, sum - x->rank, base);
		m->choices.len--;
	}
}

static void by_correlation(struct merge *m)
{
	struct options o;

	options_init(&o, m->c, true);
	for (uint32_t sum = 0; sum <= o.last_rank && !m->over; sum++) {
		vec_clear(&m->choices);
		combine(m, &o, 0, sum, COOP_NONE);
	}
	/* used up: the best vector of each element, with other schedules where they disagree */
	for (uint32_t round = 1; !m->over && o.all.len; round++) {
		vec_clear(&m->choices);
		for (uint32_t e = 0; e < m->c->elements.len; e++) {
			const struct option *x = &o.all.data[o.first[e]];

			if (o.first[e] < o.first[e + 1])
				vec_push(&m->choices,
					 (struct coop_choice){ e, x->vector, COOP_NONE,
							       strength_of(MIN(x->worth, 1)) });
		}
		attempt(m, COOP_NONE, false, round);
	}
	options_deinit(&o);
}

static void by_force(struct merge *m, const struct coop_ranking *ranking)
{
	struct options o;

	options_init(&o, m->c, false);
	for (uint32_t sum = 0; sum <= o.last_rank && !m->over; sum++) {
		for (size_t i = 0; i < ranking->logs.len && !m->over; i++) {
			choose_base(m, ranking->logs.data[i].log);
			combine(m, &o, 0, sum, ranking->logs.data[i].log);
		}
	}
	options_deinit(&o);
}

/* The combinations are used up: each base log alone, again and again with other schedules for what
 * it leaves open. */
static void by_search(struct merge *m, const struct coop_ranking *ranking)
{
	for (uint32_t round = 1; !m->over && ranking->logs.len; round++)
		for (size_t i = 0; i < ranking->logs.len && !m->over; i++)
			alone(m, ranking->logs.data[i].log, round);
}

static bool one_element_each(const struct coop *c)
{
	for (size_t i = 0; i < c->chosen.len; i++)
		if (c->logs.data[c->chosen.data[i]].n > 1)
			return false;
	return true;
}

struct err *coop_merge(const struct coop *c, const struct coop_merge_options *o,
		       coop_oracle *oracle, void *context, struct coop_merge_result *ret)
{
	struct merge m = { c, o, oracle, context, ret, .started = clock_seconds() };
	struct coop_rank_options rank = { o->heuristic, o->metric, 0 };
	struct coop_ranking ranking;

	*ret = (struct coop_merge_result){ .base = COOP_NONE };
	if (o->heuristic == COOP_1SPE || one_element_each(c)) {
		by_correlation(&m);
	} else {
		coop_rank(c, &rank, &ranking);
		by_relevance(&m, &ranking);
		if (!m.over)
			by_force(&m, &ranking);
		if (!m.over)
			by_search(&m, &ranking);
		coop_ranking_deinit(&ranking);
	}
	progress_done();
	map_deinit(&m.tried);
	vec_deinit(&m.choices);
	return m.err;
}

void coop_merge_result_deinit(struct coop_merge_result *r)
{
	vec_deinit(&r->choices);
}
