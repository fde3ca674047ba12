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
	struct reconstruct_opts opts = { 0 };
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
	for (char *save = NULL, *line = strtok_r(text.data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
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

Test(graph, scores_like_the_original_on_its_own_graphs)
{
	struct reconstruct_opts opts = { .score = GRAPH_SCORE_NORM };
	struct graph_set s = { 0 };
	struct reconstructions r;
	double golden[] = { 836.290021463846, 532.185118168481, 190.068408737486 };

	if (!load_fixture(&s, "buggy", true) || !load_fixture(&s, "nonbuggy", false))
		cr_skip_test("the fixtures are not here");
	graph_reconstruct(&s, &opts, &r);
	cr_assert_eq(s.nfailing, 42);
	cr_assert_eq(s.npassing, 37);
	for (int k = 0; k < 3; k++) {
		double nearest = INFINITY;

		for (size_t i = 0; i < r.len; i++)
			if (s.nodes.data[s.edges.data[r.data[i].edge].src].point == 3735928559u)
				nearest = fmin(nearest, fabs(r.data[i].score - golden[k]));
		cr_assert_lt(nearest, 1.0, "no reconstruction near %g (off by %g)", golden[k],
			     nearest);
	}
	reconstructions_deinit(&r);
	graph_set_deinit(&s);
}
