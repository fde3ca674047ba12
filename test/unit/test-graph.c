#include "base/err.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "graph/graph.h"

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>

static struct graph_node node(uint64_t point, uint32_t context)
{
	return (struct graph_node){ point, context };
}

Test(graph, an_edge_of_failing_runs_only_ranks_first)
{
	struct reconstruct_opts opts = { .score = GRAPH_SCORE_PRODUCT };
	struct graph_set s = { 0 };
	struct reconstructions r;

	for (int run = 0; run < 6; run++) {
		graph_set_begin(&s, run < 3);
		graph_set_add(&s, node(1, 0), 10, node(2, 0), 20, 1);
		if (run < 3)
			graph_set_add(&s, node(7, 1), 12, node(8, 2), 30, 1);
		else
			graph_set_add(&s, node(7, 0), 12, node(8, 0), 30, 1);
		graph_set_end(&s);
	}
	graph_reconstruct(&s, &opts, &r);
	cr_assert_eq(r.len, 2);
	cr_assert_eq(s.nodes.data[s.edges.data[r.data[0].edge].src].point, 7);
	cr_assert_float_eq(r.data[0].b, 1.0 / (1.0 / 4), 1e-9,
			   "never in a passing run: 1 / (runs + 1)");
	cr_assert_float_eq(r.data[0].c, 0, 1e-9);
	cr_assert_float_eq(r.data[0].r, 1, 1e-9);
	cr_assert_eq(r.data[0].prefix.len, 1, "1 ran before 7");
	cr_assert_eq(r.data[0].body.len, 1, "2 ran between 7 and 8");
	reconstructions_deinit(&r);
	graph_set_deinit(&s);
}

/* A cause that shows in another context each time is one finding; a pair of code points that fails
 * and passes alike is none. */
Test(graph, a_bug_in_many_contexts_is_one_finding)
{
	struct reconstruct_opts opts = { 0 };
	struct graph_set s = { 0 };
	struct reconstructions r;
	const struct graph_edge *e;

	for (uint32_t run = 0; run < 20; run++) {
		graph_set_begin(&s, run < 10);
		graph_set_add(&s, node(1, run % 3), 10, node(2, run % 5), 20, 1);
		if (run < 10)
			graph_set_add(&s, node(7, run), 12, node(8, run * 31 % 1024), 30, 1);
		else
			graph_set_add(&s, node(9, run), 12, node(8, run * 31 % 1024), 30, 1);
		graph_set_end(&s);
	}
	graph_reconstruct(&s, &opts, &r);
	cr_assert_geq(r.len, 1);
	e = &s.edges.data[r.data[0].edge];
	cr_assert_eq(s.nodes.data[e->src].point, 7);
	cr_assert_eq(s.nodes.data[e->sink].point, 8);
	cr_assert_eq(r.data[0].events, 0, "whatever the context");
	cr_assert_eq(r.data[0].runs_failing, 10);
	cr_assert_lt(r.data[0].chance, GRAPH_SIGNIFICANT);
	cr_assert(r.data[0].instead.known, "passing runs have another source");
	cr_assert_eq(s.nodes.data[r.data[0].instead.node].point, 9);
	cr_assert_eq(r.data[0].prefix.len, 1, "1 ran before 7");
	reconstructions_deinit(&r);
	graph_set_deinit(&s);
}

Test(graph, the_earlier_of_two_equals_comes_first)
{
	struct reconstruct_opts opts = { 0 };
	struct graph_set s = { 0 };
	struct reconstructions r;

	for (int run = 0; run < 12; run++) {
		graph_set_begin(&s, run < 6);
		if (run < 6) {
			graph_set_add(&s, node(30, 0), 80, node(31, 0), 90, 1); /* effect */
			graph_set_add(&s, node(20, 0), 10, node(21, 0), 20, 1); /* cause */
		}
		graph_set_add(&s, node(1, 0), 10, node(2, 0), 20, 1);
		graph_set_end(&s);
	}
	graph_reconstruct(&s, &opts, &r);
	cr_assert_eq(s.nodes.data[s.edges.data[r.data[0].edge].src].point, 20);
	cr_assert_eq(s.nodes.data[s.edges.data[r.data[1].edge].src].point, 30);
	cr_assert_float_eq(r.data[0].score, r.data[1].score, 1e-9);
	reconstructions_deinit(&r);
	graph_set_deinit(&s);
}

static uint64_t draw(uint64_t *seed)
{
	*seed += 0x9e3779b97f4a7c15ull;
	return hash_u64(*seed);
}

/* Runs that all pass: edges from common to rare, in few contexts or many. */
static void add_passing_runs(struct graph_set *s, uint32_t runs, uint64_t *seed)
{
	for (uint32_t run = 0; run < runs; run++) {
		graph_set_begin(s, run % 2);
		for (uint32_t p = 0; p < 60; p++)
			for (uint32_t k = 0; k < 4; k++) {
				uint32_t contexts = p % 3 == 0 ? 1024 : 1u << p % 8;

				if (draw(seed) % 64 < p)
					graph_set_add(s, node(p, (uint32_t)(draw(seed) % contexts)),
						      k * 100 + p,
						      node(p * 7 % 60 + 100,
							   (uint32_t)(draw(seed) % contexts)),
						      k * 100 + p + 3, 1);
			}
		graph_set_end(s);
	}
}

static void shuffle_labels(struct graph_set *s, uint64_t *seed)
{
	for (size_t i = s->graphs.len - 1; i > 0; i--) {
		size_t k = draw(seed) % (i + 1);
		bool keep = s->graphs.data[i].failing;

		s->graphs.data[i].failing = s->graphs.data[k].failing;
		s->graphs.data[k].failing = keep;
	}
}

/* Labels that mean nothing: no finding may come out as confident, beyond the one in a hundred that
 * is asked for. */
Test(graph, shuffled_labels_give_no_confident_finding, .timeout = 60)
{
	struct reconstruct_opts opts = { .max_edges = 5 };
	uint64_t seed = 1;
	int confident = 0, shuffles = 0;

	for (uint32_t runs = 20; runs <= 60; runs += 20) {
		struct graph_set s = { 0 };

		add_passing_runs(&s, runs, &seed);
		for (int i = 0; i < 60; i++, shuffles++) {
			struct reconstructions r;

			shuffle_labels(&s, &seed);
			graph_reconstruct(&s, &opts, &r);
			for (size_t k = 0; k < r.len; k++)
				cr_assert_geq(r.data[k].chance, r.chance - 1e-12);
			confident += r.chance < GRAPH_SIGNIFICANT;
			reconstructions_deinit(&r);
		}
		graph_set_deinit(&s);
	}
	cr_assert_leq(confident, shuffles / 100, "%d of %d shuffles", confident, shuffles);
}

/* ... and a real difference among the same noise does stand out. */
Test(graph, a_planted_difference_stands_above_the_noise)
{
	struct reconstruct_opts opts = { .max_edges = 5 };
	struct graph_set s = { 0 };
	struct reconstructions r;
	uint64_t seed = 7;

	add_passing_runs(&s, 40, &seed);
	for (size_t g = 0; g < s.graphs.len; g++)
		if (s.graphs.data[g].failing && g % 5) {
			uint32_t src = graph_set_node(&s, node(500, (uint32_t)g)),
				 sink = graph_set_node(&s, node(501, 3));
			uint32_t edge = pairs_id(&s.edge_ids, src, sink);

			vec_push(&s.edges, (struct graph_edge){ src, sink });
			vec_push(&s.graphs.data[g].links, (struct graph_link){ edge, 5, 9, 1 });
		}
	graph_reconstruct(&s, &opts, &r);
	cr_assert_lt(r.chance, GRAPH_SIGNIFICANT);
	cr_assert_eq(s.nodes.data[s.edges.data[r.data[0].edge].src].point, 500);
	cr_assert_eq(r.data[0].runs_failing, 16);
	reconstructions_deinit(&r);
	graph_set_deinit(&s);
}

static uint64_t number(const cJSON *o, const char *name)
{
	const cJSON *v = cJSON_GetObjectItem(o, name);

	return v && cJSON_IsString(v) ? strtoull(v->valuestring, NULL, 10)
	       : v		      ? (uint64_t)v->valuedouble
				      : 0;
}

static void load_graph(struct graph_set *s, const char *path, bool failing)
{
	struct strbuf text = { 0 };

	cr_assert_null(file_read(path, &text));
	graph_set_begin(s, failing);
	/* the original takes a first line for the run's duration, whatever it says */
	for (char *save = NULL, *line = strtok_r(text.data, "\n", &save);
	     line && (line = strtok_r(NULL, "\n", &save));) {
		cJSON *o = cJSON_Parse(line);
		const cJSON *e = o ? o->child : NULL;
		const cJSON *src = cJSON_GetObjectItem(e, "src"),
			    *sink = cJSON_GetObjectItem(e, "sink");

		if (src && sink)
			graph_set_add(s, node(number(src, "I"), (uint32_t)number(src, "C")),
				      number(src, "T"),
				      node(number(sink, "I"), (uint32_t)number(sink, "C")),
				      number(sink, "T"), 1);
		cJSON_Delete(o);
	}
	graph_set_end(s);
	strbuf_deinit(&text);
}

static bool load_fixture(struct graph_set *s, const char *folder, bool failing)
{
	const char *base = getenv("UNPLAIT_FIXTURES");
	char path[4096];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/recon/crasher/%s", base ? base : "../shared/fixtures",
		 folder);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((d = readdir(dir))) {
		char file[8192];

		snprintf(file, sizeof(file), "%s/%s", path, d->d_name);
		if (d->d_name[0] != '.')
			load_graph(s, file, failing);
	}
	closedir(dir);
	return true;
}

/* ---- the original tool's published output: ranks, contexts, confidences, for every edge ---- */

enum { REGIONS = 3, MEMBERS = 10 };

/* What one reconstruction looks like without the names of its code points. */
struct shape {
	double rank;
	uint64_t src, sink; /* contexts */
	size_t len[REGIONS];
	struct {
		double confidence;
		uint64_t context;
	} members[REGIONS][MEMBERS];
};

struct shapes VEC_FIELDS(struct shape);

/* By what does not depend on the order of equals; ranks to nine digits. */
static int shape_order(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;

	if (fabs(x->rank - y->rank) > 1e-9 * x->rank)
		return x->rank > y->rank ? -1 : 1;
	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	return x->sink < y->sink ? -1 : x->sink > y->sink;
}

static struct shape shape_of(const struct graph_set *s, const struct reconstruction *r)
{
	const struct graph_region *regions[] = { &r->prefix, &r->body, &r->suffix };
	const struct graph_edge *e = &s->edges.data[r->edge];
	struct shape ret = { .rank = r->score,
			     .src = s->nodes.data[e->src].context,
			     .sink = s->nodes.data[e->sink].context };

	for (int k = 0; k < REGIONS; k++) {
		ret.len[k] = regions[k]->len;
		cr_assert_leq(ret.len[k], MEMBERS);
		for (size_t i = 0; i < ret.len[k]; i++) {
			ret.members[k][i].confidence = 100 * regions[k]->data[i].confidence;
			ret.members[k][i].context = s->nodes.data[regions[k]->data[i].node].context;
		}
	}
	return ret;
}

static uint64_t context_of(const cJSON *o)
{
	const char *text = cJSON_GetObjectItem(o, "Context")->valuestring;

	return strtoull(text + (*text == '['), NULL, 10);
}

static struct shape shape_of_json(const cJSON *o)
{
	static const char *const names[] = { "Prefix", "Body", "Suffix" };
	struct shape ret = { .rank = cJSON_GetObjectItem(o, "Rank")->valuedouble,
			     .src = context_of(cJSON_GetObjectItem(o, "Source")),
			     .sink = context_of(cJSON_GetObjectItem(o, "Sink")) };

	for (int k = 0; k < REGIONS; k++) {
		const cJSON *m;

		cJSON_ArrayForEach(m, cJSON_GetObjectItem(o, names[k]))
		{
			cr_assert_lt(ret.len[k], MEMBERS);
			ret.members[k][ret.len[k]].confidence =
				cJSON_GetObjectItem(m, "Confidence")->valuedouble;
			ret.members[k][ret.len[k]++].context = context_of(m);
		}
	}
	return ret;
}

static void load_golden(struct shapes *ret)
{
	const char *base = getenv("UNPLAIT_FIXTURES");
	struct strbuf text = { 0 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/recon/crasher/golden-ranks.json",
		 base ? base : "../shared/fixtures");
	cr_assert_null(file_read(path, &text));
	for (char *save = NULL, *line = strtok_r(text.data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		cJSON *o = cJSON_Parse(line);

		cr_assert_not_null(o);
		vec_push(ret, shape_of_json(o));
		cJSON_Delete(o);
	}
	strbuf_deinit(&text);
}

/* Contexts of members with one confidence may come in any order; at the cut the original kept
 * whichever its hash gave first, so a set that was cut is compared by confidences alone. */
static void same_members(const struct shape *want, const struct shape *got, int k)
{
	for (size_t i = 0; i < want->len[k]; i++) {
		double c = want->members[k][i].confidence;
		uint64_t sum_want = 0, sum_got = 0;

		cr_assert_float_eq(got->members[k][i].confidence, c, 1e-9);
		if (want->len[k] == MEMBERS && c == want->members[k][MEMBERS - 1].confidence)
			continue;
		for (size_t n = 0; n < want->len[k]; n++) {
			if (want->members[k][n].confidence == c)
				sum_want += hash_u64(want->members[k][n].context);
			if (fabs(got->members[k][n].confidence - c) < 1e-9)
				sum_got += hash_u64(got->members[k][n].context);
		}
		cr_assert_eq(sum_want, sum_got, "rank %g, region %d, contexts at %g %%", want->rank,
			     k, c);
	}
}

Test(graph, ranks_the_original_graphs_as_the_original_did)
{
	struct reconstruct_opts opts = { .score = GRAPH_SCORE_NORM };
	struct shapes want = { 0 }, got = { 0 };
	struct graph_set s = { 0 };
	struct reconstructions r;

	if (!load_fixture(&s, "buggy", true) || !load_fixture(&s, "nonbuggy", false))
		cr_skip_test("no fixtures: set UNPLAIT_FIXTURES");
	load_golden(&want);
	graph_reconstruct(&s, &opts, &r);
	cr_assert_eq(s.nfailing, 42);
	cr_assert_eq(s.npassing, 37);
	for (size_t i = 0; i < r.len; i++)
		vec_push(&got, shape_of(&s, &r.data[i]));
	cr_assert_eq(want.len, 82);
	cr_assert_eq(got.len, want.len);
	vec_sort(&want, shape_order);
	vec_sort(&got, shape_order);
	for (size_t i = 0; i < want.len; i++) {
		cr_assert_eq(shape_order(&want.data[i], &got.data[i]), 0,
			     "%zu: %.12g [%lu]->[%lu], not %.12g [%lu]->[%lu]", i,
			     want.data[i].rank, want.data[i].src, want.data[i].sink,
			     got.data[i].rank, got.data[i].src, got.data[i].sink);
		for (int k = 0; k < REGIONS; k++) {
			cr_assert_eq(want.data[i].len[k], got.data[i].len[k]);
			same_members(&want.data[i], &got.data[i], k);
		}
	}
	vec_deinit(&want);
	vec_deinit(&got);
	reconstructions_deinit(&r);
	graph_set_deinit(&s);
}

/* What a run says twice is one link: the later time, and both counts. */
Test(graph, links_of_one_edge_are_one)
{
	struct graph_set s = { 0 };
	const struct graph *g;

	graph_set_begin(&s, true);
	graph_set_add(&s, node(1, 0), 10, node(2, 0), 20, 3);
	graph_set_add(&s, node(3, 0), 1, node(2, 0), 2, 1);
	graph_set_add(&s, node(1, 0), 30, node(2, 0), 40, 4);
	graph_set_add(&s, node(1, 0), 5, node(2, 0), 6, 1);
	graph_set_end(&s);
	g = &s.graphs.data[0];
	cr_assert_eq(g->links.len, 2);
	cr_assert_eq(g->links.data[0].count, 8);
	cr_assert_eq(g->links.data[0].sink_time, 40);
	cr_assert_eq(s.nfailing, 1);
	graph_set_begin(&s, false); /* a run without communication */
	graph_set_end(&s);
	cr_assert_eq(s.graphs.data[1].links.len, 0);
	graph_set_deinit(&s);
}
