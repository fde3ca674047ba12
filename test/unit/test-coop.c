/* The worked example of 000 section 3.3.3, and the fast ways against the plain ones. */
#include "base/err.h"
#include "base/log.h"
#include "coop/coop.h"

#include <criterion/criterion.h>
#include <math.h>

static uint64_t state = 1;

static uint32_t below(uint32_t n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) % n;
}

/* Vector number k: any runs that differ from number to number. */
static void add_vector(struct coop *c, const char *element, uint32_t k)
{
	struct coop_run runs[] = { { 0, k }, { 1, 1 } };
	uint32_t id = (uint32_t)hash_bytes(element, strlen(element), 0);

	coop_add(c, coop_element(c, id, element), runs, 2);
}

static void add_log(struct coop *c, const char *name, const char *x, uint32_t i, const char *y,
		    uint32_t k)
{
	coop_begin_log(c, name, "assert pos == countW");
	add_vector(c, x, i);
	add_vector(c, y, k);
	cr_assert(coop_end_log(c));
}

/* Six logs of two elements each. The text fixes A to E; of F it says only that it changes nothing.
 */
static void example(struct coop *c)
{
	add_log(c, "A", "threads", 1, "countW", 1);
	add_log(c, "B", "pos", 2, "countW", 2);
	add_log(c, "C", "pos", 3, "countR", 2);
	add_log(c, "D", "pos", 1, "countW", 1);
	add_log(c, "E", "threads", 1, "countR", 1);
	add_log(c, "F", "threads", 1, "countW", 1);
	coop_choose(c, coop_main_signature(c));
}

static uint32_t element(struct coop *c, const char *name)
{
	return coop_element(c, (uint32_t)hash_bytes(name, strlen(name), 0), name);
}

Test(coop, the_worked_example_dispersion_and_similarity)
{
	struct coop c = { 0 };

	example(&c);
	cr_assert_eq(c.distinct, 8);
	cr_assert_eq(coop_overall_dispersion(&c, element(&c, "threads")), 1.0 / 8);
	cr_assert_eq(coop_overall_dispersion(&c, element(&c, "pos")), 3.0 / 8);
	cr_assert_eq(coop_overall_dispersion(&c, element(&c, "countW")), 2.0 / 8);
	cr_assert_eq(coop_overall_dispersion(&c, element(&c, "countR")), 2.0 / 8);
	cr_assert_eq(coop_similarity(&c, COOP_DSIM, 0, 3), 2.0 / 8, "A and D");
	cr_assert_eq(coop_similarity(&c, COOP_DSIM, 3, 0), 2.0 / 8, "D and A");
	cr_assert_eq(coop_similarity(&c, COOP_DSIM, 0, 4), 1.0 / 8, "A and E");
	for (uint32_t i = 0; i < 6; i++)
		cr_assert(i == 1 || coop_similarity(&c, COOP_DSIM, 1, i) == 0, "B is like nobody");
	coop_deinit(&c);
}

Test(coop, the_worked_example_sgm)
{
	struct coop_rank_options o = { COOP_SGM, COOP_DSIM, 0 };
	struct coop_ranking r;
	struct coop c = { 0 };

	example(&c);
	coop_rank(&c, &o, &r);
	cr_assert_eq(r.logs.data[0].log, 0, "A is the base log");
	cr_assert_eq(r.logs.data[0].relevance, 3.0 / 16);
	cr_assert_eq(r.logs.data[0].n, 2);
	for (uint32_t i = 0; i < 2; i++) {
		struct coop_fill *f = &r.fills.data[r.logs.data[0].first + i];
		bool pos = f->element == element(&c, "pos");

		cr_assert(pos || f->element == element(&c, "countR"));
		cr_assert_eq(f->from, pos ? 3 : 4, "pos from D, countR from E");
		cr_assert_eq(c.vectors.data[f->vector].runs[0].count, 1, "pos1, countR1");
	}
	coop_ranking_deinit(&r);
	coop_deinit(&c);
}

Test(coop, the_worked_example_dgm)
{
	struct coop_rank_options o = { COOP_DGM, COOP_DSIM, 0 };
	struct coop_search *s;
	struct coop_ranking r;
	struct coop c = { 0 };

	example(&c);
	coop_rank(&c, &o, &r);
	for (uint32_t i = 0; i < 3; i++) {
		cr_assert_eq(r.logs.data[i].log, i + 1, "B, C, D");
		cr_assert_eq(r.logs.data[i].relevance, 5.0 / 8);
	}
	s = coop_search_new(&c, COOP_DSIM, 0);
	coop_search_fills(s, 1, &r);
	cr_assert_eq(r.fills.len, 2);
	for (uint32_t i = 0; i < 2; i++) {
		struct coop_fill *f = &r.fills.data[i];
		bool threads = f->element == element(&c, "threads");

		cr_assert_eq(f->from, threads ? 0 : 2, "threads from A, countR from C");
	}
	coop_search_free(s);
	coop_ranking_deinit(&r);
	coop_deinit(&c);
}

Test(coop, hamming_similarity_as_in_the_text)
{
	struct coop c = { 0 };
	uint32_t a = coop_vector(&c, &(struct coop_run){ 1, 4 }, 1);
	uint32_t b = coop_vector(&c, (struct coop_run[]){ { 1, 3 }, { 0, 1 } }, 2);
	uint32_t z = coop_vector(&c, &(struct coop_run){ 0, 4 }, 1);
	uint32_t shorter = coop_vector(&c, (struct coop_run[]){ { 1, 1 }, { 1, 1 } }, 2);

	cr_assert_eq(coop_hamming(&c, a, b), 3.0 / 4);
	cr_assert_eq(coop_hamming(&c, a, z), 0);
	cr_assert_eq(coop_hamming(&c, a, shorter), 2.0 / 4);
	cr_assert_eq(coop_hamming(&c, coop_vector(&c, NULL, 0), coop_vector(&c, NULL, 0)), 1);
	cr_assert_eq(c.vectors.data[shorter].nruns, 1, "runs of one thread are joined");
	coop_deinit(&c);
}

/* ---- properties ---- */

/* Random logs: some elements nearly always alike, some nearly never. */
static void random_logs(struct coop *c, uint32_t nlogs, uint32_t nelements, uint32_t share,
			uint32_t length)
{
	char name[32];

	for (uint32_t e = 0; e < nelements; e++)
		coop_element(c, e, "");
	for (uint32_t i = 0; i < nlogs; i++) {
		snprintf(name, sizeof(name), "log %u", i);
		coop_begin_log(c, name, below(5) ? "failed" : NULL);
		for (uint32_t e = 0; e < nelements; e++) {
			struct coop_run runs[64];
			uint32_t kinds = 1 + e * e, kind = below(kinds), n = 1 + kind % 60;

			if (below(100) >= share)
				continue;
			for (uint32_t k = 0; k < n; k++)
				runs[k] = (struct coop_run){ (k + kind) % 3,
							     1 + (kind * 7 + k * k) % length };
			coop_add(c, e, runs, n);
		}
		cr_assert(coop_end_log(c));
	}
	coop_choose(c, coop_main_signature(c));
}

/* Equations 3.1, 3.3 and 3.4 word for word, over expanded vectors. */
static double naive_hamming(const struct coop *c, uint32_t a, uint32_t b)
{
	const struct coop_vector *v[2] = { &c->vectors.data[a], &c->vectors.data[b] };
	uint64_t len = MAX(v[0]->accesses, v[1]->accesses), equal = 0;
	uint32_t *flat[2];

	for (int i = 0; i < 2; i++) {
		uint64_t at = 0;

		flat[i] = xmalloc(len * sizeof(uint32_t) + 1);
		for (uint32_t k = 0; k < v[i]->nruns; k++)
			for (uint32_t n = 0; n < v[i]->runs[k].count; n++)
				flat[i][at++] = v[i]->runs[k].thread;
		while (at < len)
			flat[i][at++] = 1000 + (uint32_t)i;
	}
	for (uint64_t i = 0; i < len; i++)
		equal += flat[0][i] == flat[1][i];
	free(flat[0]);
	free(flat[1]);
	return len ? (double)equal / (double)len : 1;
}

static double naive_similarity(const struct coop *c, enum coop_metric m, uint32_t a, uint32_t b)
{
	double equal = 0, differ = 0, hamming = 0, nelements = 0;

	for (uint32_t e = 0; e < c->elements.len; e++) {
		uint32_t x = coop_find(c, a, e), y = coop_find(c, b, e);
		double w = m == COOP_PSIM ? 1 : coop_overall_dispersion(c, e);

		nelements += c->elements.data[e].recorded > 0;
		if (x == COOP_NONE || y == COOP_NONE)
			continue;
		*(x == y ? &equal : &differ) += w;
		if (m == COOP_DHS)
			hamming += naive_hamming(c, x, y) * w;
	}
	if (m == COOP_PSIM)
		return equal / nelements * (1 - differ / nelements);
	return m == COOP_DHS ? hamming : equal * (1 - differ);
}

Test(coop, similarities_agree_with_their_definitions)
{
	struct coop c = { 0 };

	random_logs(&c, 40, 8, 60, 40);
	for (uint32_t a = 0; a < c.logs.len; a++)
		for (uint32_t b = 0; b < c.logs.len; b++)
			for (enum coop_metric m = COOP_PSIM; m <= COOP_DHS; m++)
				cr_assert_float_eq(coop_similarity(&c, m, a, b),
						   naive_similarity(&c, m, a, b), 1e-12,
						   "%s of %u and %u", coop_metric_name(m), a, b);
	coop_deinit(&c);
}

/* The most similar log that has the element; then the usual vector, then the earlier log. */
static struct coop_fill naive_fill(const struct coop *c, enum coop_metric m, uint32_t base,
				   uint32_t e)
{
	struct coop_fill best = { e, COOP_NONE, COOP_NONE, -1 };

	for (size_t i = 0; i < c->chosen.len; i++) {
		uint32_t log = c->chosen.data[i], v = coop_find(c, log, e);
		double s = coop_similarity(c, m, base, log);

		if (v == COOP_NONE || log == base || s < best.similarity)
			continue;
		if (s > best.similarity || coop_count(c, e, v) > coop_count(c, e, best.vector))
			best = (struct coop_fill){ e, v, log, s };
	}
	return best;
}

static void check_neighbours(enum coop_metric m, uint32_t share)
{
	struct coop c = { 0 };
	struct coop_search *s;

	random_logs(&c, 150, 9, share, 9);
	s = coop_search_new(&c, m, 0);
	for (size_t i = 0; i < c.chosen.len; i++) {
		struct coop_ranking r = { 0 };

		coop_search_fills(s, c.chosen.data[i], &r);
		for (size_t k = 0; k < r.fills.len; k++) {
			struct coop_fill *f = &r.fills.data[k];
			struct coop_fill want = naive_fill(&c, m, c.chosen.data[i], f->element);

			cr_assert_float_eq(f->similarity, want.similarity, 1e-6);
			if (m != COOP_DHS) /* ties of sums of fractions depend on rounding */
				cr_assert(f->from == want.from && f->vector == want.vector,
					  "%s: log %u, element %u", coop_metric_name(m),
					  c.chosen.data[i], f->element);
		}
		coop_ranking_deinit(&r);
	}
	coop_search_free(s);
	coop_deinit(&c);
}

Test(coop, neighbours_agree_with_a_full_search)
{
	for (uint32_t share = 20; share <= 80; share += 30)
		for (enum coop_metric m = COOP_PSIM; m <= COOP_DHS; m++)
			check_neighbours(m, share);
}

Test(coop, correlation_as_defined)
{
	struct coop c = { 0 };

	coop_element(&c, 7, "x");
	for (uint32_t i = 0; i < 8; i++) {
		/* vector 1: 3 of 4 failing logs, 1 of 4 passing ones */
		struct coop_run r = { 0, i < 4 ? (i < 3 ? 1 : 2) : (i < 5 ? 1 : 2) };

		coop_begin_log(&c, "l", i < 4 ? "f" : NULL);
		coop_add(&c, 0, &r, 1);
		coop_end_log(&c);
	}
	coop_choose(&c, 0);
	/* sensitivity 3/4, specificity 3/4; the other one 1/4, 1/4 */
	cr_assert_float_eq(coop_correlation(&c, 0, 0), 0.75, 1e-12);
	cr_assert_float_eq(coop_correlation(&c, 0, 1), 0.25, 1e-12);
	coop_deinit(&c);
}

/* ---- merging ---- */

struct wanted {
	uint32_t vector[8]; /* per element */
	uint32_t calls, open;
};

static struct err *look(void *context, const struct coop_candidate *c, uint64_t seed,
			enum coop_verdict *ret)
{
	struct wanted *w = context;

	(void)seed;
	w->calls++;
	w->open += c->open;
	*ret = COOP_REPRODUCED;
	for (size_t i = 0; i < c->n; i++)
		if (w->vector[c->choices[i].element] != c->choices[i].vector)
			*ret = COOP_INFEASIBLE;
	if (c->open && *ret == COOP_REPRODUCED) /* what is left open goes wrong */
		*ret = COOP_OTHER_END;
	return NULL;
}

Test(coop, one_element_logs_are_combined_by_correlation)
{
	struct coop_merge_options o = { .heuristic = COOP_SGM, .metric = COOP_DSIM };
	struct coop_merge_result r;
	struct wanted w = { 0 };
	struct coop c = { 0 };

	for (uint32_t i = 0; i < 120; i++) {
		uint32_t e = coop_element(&c, i % 4, ""), k = i / 4;
		struct coop_run run = { 0, 1 + (i % 2 ? k % 5 : (k < 15 ? 1 + k % 2 : 1)) };

		coop_begin_log(&c, "l", i % 2 ? "f" : NULL);
		if (!(i % 2))
			e = coop_element(&c, (i + 1) % 4, "");
		coop_add(&c, e, &run, 1);
		coop_end_log(&c);
	}
	coop_choose(&c, 0);
	for (uint32_t e = 0; e < c.elements.len; e++)
		w.vector[e] = COOP_NONE;
	o.limit = 35;
	cr_assert_null(coop_merge(&c, &o, look, &w, &r));
	cr_assert(!r.reproduced);
	cr_assert_eq(w.calls, 35);
	cr_assert_eq(r.skipped, 0, "five vectors of two elements: 25 different candidates");
	cr_assert_eq(w.open, 10, "... and each vector alone");
	coop_merge_result_deinit(&r);
	coop_deinit(&c);
}

Test(coop, brute_force_finds_what_the_heuristics_miss_and_stops_at_the_limit)
{
	struct coop_merge_options o = { .heuristic = COOP_DGM, .metric = COOP_DSIM };
	struct coop_merge_result r;
	struct wanted w = { 0 };
	struct coop c = { 0 };

	for (uint32_t i = 0; i < 24; i++) {
		coop_begin_log(&c, "l", "f");
		for (uint32_t e = 0; e < 4; e++) {
			struct coop_run run = { 0, 1 + i / 2 % 3 };

			if (e / 2 == i % 2)
				coop_add(&c, coop_element(&c, e, ""), &run, 1);
		}
		coop_end_log(&c);
	}
	coop_choose(&c, 0);
	/* elements 0 and 1 have vector a, 2 and 3 vector b: no log says that they go together */
	for (uint32_t e = 0; e < 4; e++)
		w.vector[coop_element(&c, e, "")] = e < 2 ? 1 : 2;
	cr_assert_null(coop_merge(&c, &o, look, &w, &r));
	cr_assert(r.reproduced && r.brute && r.attempts <= 500 && r.attempts > 1);
	coop_merge_result_deinit(&r);

	w = (struct wanted){ { 9, 9, 9, 9 }, 0, 0 };
	o.limit = 5;
	cr_assert_null(coop_merge(&c, &o, look, &w, &r));
	cr_assert(!r.reproduced);
	cr_assert_eq(w.calls, 5);
	coop_merge_result_deinit(&r);
	coop_deinit(&c);
}

Test(coop, a_log_that_contradicts_itself_is_dropped)
{
	struct coop c = { 0 };

	coop_element(&c, 0, "x");
	coop_begin_log(&c, "l", "f");
	coop_add(&c, 0, &(struct coop_run){ 0, 1 }, 1);
	coop_add(&c, 0, &(struct coop_run){ 1, 1 }, 1);
	cr_assert(!coop_end_log(&c));
	cr_assert_eq(c.logs.len, 0);
	cr_assert_eq(c.entries.len, 0);
	coop_deinit(&c);
}

Test(coop, five_hundred_logs_rank_in_under_a_second)
{
	struct coop_ranking r;
	struct coop c = { 0 };
	double start;

	random_logs(&c, 625, 15, 75, 300);
	for (enum coop_metric m = COOP_PSIM; m <= COOP_DHS; m++) {
		struct coop_rank_options o = { COOP_SGM, m, 0 };

		start = clock_seconds();
		coop_rank(&c, &o, &r);
		cr_assert_lt(clock_seconds() - start, 1.0, "%s", coop_metric_name(m));
		cr_assert_eq(r.logs.len, c.chosen.len);
		coop_ranking_deinit(&r);
	}
	coop_deinit(&c);
}
