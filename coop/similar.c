/* coop/similar.c - how alike two logs are, how scattered an element is, how telling a vector is.
 *
 * PSIM and DSIM compare vectors by identity (each is stored once), so they cost one pass over two
 * sorted lists whatever the length of the vectors. Both are a product of two fractions with a
 * common denominator; the numerators are integers and are multiplied before the division, so equal
 * similarities compare equal. DHS compares position by position, run by run. */
#include "coop/similar.h"

static const char *const metrics[] = { "psim", "dsim", "dhs" };
static const char *const heuristics[] = { "sgm", "dgm", "1spe" };

const char *coop_metric_name(enum coop_metric m)
{
	return metrics[m];
}

const char *coop_heuristic_name(enum coop_heuristic h)
{
	return heuristics[h];
}

bool coop_metric_find(const char *name, enum coop_metric *ret)
{
	for (unsigned i = 0; i < ARRAY_SIZE(metrics); i++)
		if (strcmp(name, metrics[i]) == 0)
			return *ret = (enum coop_metric)i, true;
	return false;
}

bool coop_heuristic_find(const char *name, enum coop_heuristic *ret)
{
	for (unsigned i = 0; i < ARRAY_SIZE(heuristics); i++)
		if (strcmp(name, heuristics[i]) == 0)
			return *ret = (enum coop_heuristic)i, true;
	return false;
}

double coop_overall_dispersion(const struct coop *c, uint32_t element)
{
	return c->distinct ? (double)c->elements.data[element].distinct / (double)c->distinct : 0;
}

double coop_individual_dispersion(const struct coop *c, uint32_t element)
{
	const struct coop_element *e = &c->elements.data[element];

	return e->recorded ? (double)e->distinct / e->recorded : 0;
}

uint64_t similar_weight(const struct coop *c, enum coop_metric metric, uint32_t element)
{
	return metric == COOP_PSIM ? 1 : c->elements.data[element].distinct;
}

/* #S counts the elements that anybody recorded. */
uint64_t similar_total(const struct coop *c, enum coop_metric metric)
{
	uint64_t n = 0;

	if (metric != COOP_PSIM)
		return c->distinct;
	for (size_t i = 0; i < c->elements.len; i++)
		n += c->elements.data[i].recorded > 0;
	return n;
}

/* Positions at which both vectors name the same thread. */
uint64_t similar_positions(const struct coop_vector *a, const struct coop_vector *b)
{
	uint64_t equal = 0, left_a = 0, left_b = 0;
	uint32_t i = 0, k = 0;

	while (i < a->nruns && k < b->nruns) {
		if (!left_a)
			left_a = a->runs[i].count;
		if (!left_b)
			left_b = b->runs[k].count;
		uint64_t step = MIN(left_a, left_b);

		if (a->runs[i].thread == b->runs[k].thread)
			equal += step;
		left_a -= step;
		left_b -= step;
		i += !left_a;
		k += !left_b;
	}
	return equal;
}

double coop_hamming(const struct coop *c, uint32_t a, uint32_t b)
{
	const struct coop_vector *x = &c->vectors.data[a], *y = &c->vectors.data[b];
	uint64_t len = MAX(x->accesses, y->accesses);

	assert(a < c->vectors.len && b < c->vectors.len);
	return len ? (double)similar_positions(x, y) / (double)len : 1;
}

double similar_logs(const struct coop *c, enum coop_metric metric, uint64_t total, uint32_t a,
		    uint32_t b)
{
	const struct coop_entry *x = coop_entries(c, a), *x_end = x + c->logs.data[a].n;
	const struct coop_entry *y = coop_entries(c, b), *y_end = y + c->logs.data[b].n;
	uint64_t equal = 0, differ = 0;
	double hamming = 0;

	while (x < x_end && y < y_end) {
		if (x->element != y->element) {
			x->element < y->element ? x++ : y++;
			continue;
		}
		uint64_t w = similar_weight(c, metric, x->element);

		if (metric == COOP_DHS)
			hamming += (double)w * (x->vector == y->vector
							? 1
							: coop_hamming(c, x->vector, y->vector));
		else if (x->vector == y->vector)
			equal += w;
		else
			differ += w;
		x++;
		y++;
	}
	if (!total)
		return 0;
	if (metric == COOP_DHS)
		return hamming / (double)total;
	return (double)(equal * (total - differ)) / ((double)total * (double)total);
}

double coop_similarity(const struct coop *c, enum coop_metric metric, uint32_t a, uint32_t b)
{
	return similar_logs(c, metric, similar_total(c, metric), a, b);
}

double coop_correlation(const struct coop *c, uint32_t element, uint32_t vector)
{
	double failed = coop_count(c, element, vector);
	double passed = (double)map_get_or(&c->passed, (uint64_t)element << 32 | vector, 0);
	double sensitivity, specificity;

	if (failed == 0)
		return 0;
	assert(failed <= c->elements.data[element].recorded);
	sensitivity = failed / c->elements.data[element].recorded;
	specificity = failed / (passed + failed);
	return 2 / (1 / sensitivity + 1 / specificity);
}
