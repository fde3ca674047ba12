/* cmd/cmd-rank.c - suspicious communication over many runs. */
#include "cmd/cmd.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "graph/load.h"
#include "graph/ranking.h"
#include "report/report.h"
#include "run/samples.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rank_options {
	struct ranking_options ranking;
	uint64_t context, hunt, seed, top, window;
	double time, timeout;
	const char *baseline, *score, *html, *dot, *output, *fail_on;
	bool unlabeled;
};

static struct err *write_file(const struct ranking *r, const char *path,
			      const struct report_format *format)
{
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };
	struct report_view view = { 0 };

	if (!path)
		return NULL;
	format->ranking(r, &view, &out);
	return file_write(path, strbuf_str(&out), out.len);
}

static struct err *print(const struct ranking *r, const struct cmd_common *common)
{
	const struct report_format *format = common->json ? &report_json : &report_term;
	struct report_view view = { .width = cmd_terminal_width() };
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };

	format->ranking(r, &view, &out);
	return cmd_write_report(common, &out);
}

/* Failing and passing runs of the program, into a folder; *ret is removed afterwards unless -o. */
static struct err *hunt(const struct rank_options *o, char **argv, char **ret)
{
	struct samples_options s = { .target = { .argv = argv,
						 .timeout = o->timeout,
						 .fail_on_exit = o->fail_on != NULL },
				     .seed = o->seed,
				     .wanted = o->hunt,
				     .seconds = o->time };
	struct samples_result found;
	struct err *err = NULL;

	if (o->output)
		*ret = xstrdup(o->output);
	else
		err = file_temp_dir(ret);
	if (err)
		return err;
	s.folder = *ret;
	err = samples_run(&s, &found);
	if (err)
		return err;
	log_note("%" PRIu64 " schedules: kept %" PRIu64 " failing and %" PRIu64 " passing runs",
		 found.runs, found.failing, found.passing);
	if (!found.failing || !found.passing)
		return err_new(
			ERR_INCONCLUSIVE,
			"%" PRIu64 " schedules gave %" PRIu64 " failing and %" PRIu64
			" passing runs, and both are needed: give it more --time, or say what "
			"counts as failing (--fail-on)",
			found.runs, found.failing, found.passing);
	return NULL;
}

static struct err *load(const struct rank_options *o, char **paths, int npaths,
			struct graph_loader *l)
{
	enum graph_label label = o->baseline ? GRAPH_LABEL_FAILING : GRAPH_LABEL_OUTCOME;
	struct err *err = NULL;

	l->context = o->context == UINT64_MAX ? GRAPH_CONTEXT_ANY : (uint32_t)o->context;
	for (int i = 0; i < npaths && !err; i++)
		err = graph_loader_add(l, paths[i], label);
	if (!err && o->baseline)
		err = graph_loader_add(l, o->baseline, GRAPH_LABEL_PASSING);
	if (!err && l->lost)
		log_note("%zu of %zu graphs lack accesses that found no room", l->lost, l->files);
	return err;
}

static struct err *check(const struct cmd *cmd, struct rank_options *o, int argc)
{
	if (argc < 1)
		return cmd_usage(cmd, o->hunt ? "which program?" : "which plaits?");
	if (o->context != UINT64_MAX && o->context > 16)
		return err_new(ERR_USAGE, "--context is a number from 0 to 16");
	if (!graph_score_find(o->score, &o->ranking.score))
		return err_new(ERR_USAGE, "--score is evidence, product or norm, not '%s'",
			       o->score);
	if (o->baseline && o->hunt)
		return err_new(ERR_USAGE,
			       "--hunt makes its own passing runs: leave out --baseline");
	if (o->hunt > 10000)
		return err_new(ERR_USAGE, "--hunt is a number up to 10000");
	if (o->fail_on && strcmp(o->fail_on, "exit") != 0)
		return err_new(ERR_USAGE, "--fail-on knows 'exit' only, not '%s'", o->fail_on);
	return NULL;
}

static struct err *rank(const struct rank_options *o, int argc, char **argv,
			const struct cmd_common *common, int *status)
{
	struct ranking_options ro = { .unlabelled = o->unlabeled,
				      .baseline = o->baseline != NULL,
				      .score = o->ranking.score,
				      .window = (uint32_t)o->window,
				      .top = o->top };
	struct graph_loader l = { 0 };
	struct ranking *r = NULL;
	char *folder = NULL;
	struct err *err = o->hunt ? hunt(o, argv, &folder) : NULL;

	if (!err)
		err = load(o, folder ? &folder : argv, folder ? 1 : argc, &l);
	if (!err)
		err = ranking_make(&l, &ro, &r);
	if (!err)
		err = print(r, common);
	if (!err)
		err = write_file(r, o->html, &report_html);
	if (!err)
		err = write_file(r, o->dot, &report_dot);
	if (!err)
		*status = r->unlabelled || r->baseline ? r->npoints > 0 : r->above_noise;
	ranking_free(r);
	graph_loader_deinit(&l);
	if (folder && !o->output)
		file_remove_tree(folder);
	free(folder);
	return err;
}

static struct err *rank_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct rank_options o = { .context = UINT64_MAX, .seed = 1, .score = "evidence" };
	struct cmd_common common = { 0 };
	const struct opt table[] = {
		OPT_FLAG(0, "unlabeled", &o.unlabeled,
			 "do not ask which runs failed: what is rare is suspicious"),
		OPT_U64(0, "context", "N", &o.context, "use N events of each context (all)"),
		OPT_STR(0, "baseline", "PATH", &o.baseline,
			"report only what these plaits never showed"),
		OPT_STR(0, "score", "HOW", &o.score,
			"evidence (default), or product or norm of B, C and R"),
		OPT_U64(0, "window", "N", &o.window, "places before and after an edge (8)"),
		OPT_COUNT(0, "top", "N", &o.top, "show N reconstructions and code points (10)"),
		OPT_U64(0, "hunt", "N", &o.hunt,
			"make N failing and N passing runs of PROGRAM first"),
		OPT_STR('o', "output", "DIR", &o.output, "with --hunt: keep the plaits there"),
		OPT_REAL(0, "time", "SEC", &o.time, "with --hunt: search that long (60)"),
		OPT_REAL(0, "timeout", "SEC", &o.timeout,
			 "with --hunt: real time a run may take (10)"),
		OPT_U64(0, "seed", "N", &o.seed, "with --hunt: seed of the schedules (1)"),
		OPT_STR(0, "fail-on", "exit", &o.fail_on,
			"with --hunt: a non-zero exit status is a failure"),
		OPT_STR(0, "html", "FILE", &o.html, "also write a page"),
		OPT_STR(0, "dot", "FILE", &o.dot, "also write a Graphviz drawing"),
		OPT_END,
	};
	struct err *err = cmd_parse(cmd, table, &common, true, &argc, &argv);

	if (!err)
		err = check(cmd, &o, argc);
	return err ? err : rank(&o, argc, argv, &common, status);
}

const struct cmd cmd_rank = {
	.name = "rank",
	.synopsis = "[OPTION]... DIR|FILE... | --hunt N [OPTION]... -- PROGRAM [ARG]...",
	.summary = "suspicious communication between threads, over many runs",
	.help = "Exit status: 1 something stands out, 0 nothing does, 4 --hunt found no failing "
		"(or "
		"no\npassing) run, 2 usage, 3 bad input.\n\n"
		"    unplait record --mode graph --runs 100 -o runs/ -- ./test; unplait rank "
		"runs/\n"
		"    unplait rank --hunt 25 -- ./test\n",
	.main = rank_main,
};
