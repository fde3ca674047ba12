/* cmd/cmd-predict.c - failing schedules from recordings of runs that passed. */
#include "cmd/cmd.h"

#include "base/file.h"
#include "base/interrupt.h"
#include "base/strbuf.h"
#include "cmd/show-predict.h"
#include "cmd/show-run.h"
#include "cmd/pinned.h"
#include "cmd/trust.h"
#include "cmd/witness-file.h"
#include "explain/explain.h"
#include "predict/predict.h"
#include "report/ci-cases.h"
#include "report/report.h"
#include "run/variant.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPLAIN_RUNS = 500, EXPLAIN_SECONDS = 20 };

struct predict_job {
	struct cmd_common common;
	struct predict_options o;
	const char *junit, *sarif, *witness, *html, *dot;
	bool no_explain;
	struct explanation **why; /* per prediction; NULL where there is none */
	uint64_t record;	  /* make so many passing runs first */
	bool free_inputs;	  /* ask about inputs that nobody gave, too */
	bool trust;
	char **runs; /* words before "--" */
	size_t nruns;
};

/* ---- output ---- */

static struct err *write_ci(const struct predict_job *job, const struct predict_result *r)
{
	struct hunt_options o = { .target = job->o.target };
	char *nobody[] = { "predict", NULL };
	struct ci_cases cases = { 0 };
	struct err *err;

	if (!o.target.argv)
		o.target.argv = nobody;
	ci_from_hunt(&o, &r->found, &cases);
	err = ci_cases_write(&cases, "unplait predict", &report_junit, job->junit);
	if (!err)
		err = ci_cases_write(&cases, "unplait predict", &report_sarif, job->sarif);
	if (!err)
		err = witness_save(&r->found, job->witness);
	ci_cases_deinit(&cases);
	return err;
}

static struct err *print(const struct predict_job *job, const struct predict_result *r)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	struct err *err = write_ci(job, r);
	struct json j;

	if (err)
		return err;
	if (!job->common.json) {
		show_predict(r, job->why, job->o.published, &text);
		fputs(strbuf_str(&text), stdout);
		return NULL;
	}
	json_init(&j);
	json_predict(r, job->why, job->o.published, &j);
	err = cmd_write_json(&job->common, &j);
	json_deinit(&j);
	return err;
}

/* ---- what to do ---- */

/* The first failures that were replayed in vain are no findings. */
static int status_of(const struct predict_result *r)
{
	if (r->races.len)
		return 1;
	if (r->predictions.len)
		return r->found.unconfirmed == r->found.failures.len ? 4 : 1;
	return r->unconfirmed.len || r->interrupted || r->found.unfinished || r->found.set_aside
		       ? 4
		       : 0;
}

static struct err *add_all(struct predict_job *job, struct predict *p)
{
	struct err *err = job->record ? predict_record(p, (unsigned)job->record) : NULL;
	const char *first = NULL;

	for (size_t i = 0; i < job->nruns && !err; i++) {
		err = trust_check(job->runs[i], job->o.target.argv != NULL, job->trust);
		if (!err)
			err = pinned(job->runs[i], job->o.target.argv, &job->o.target, NULL);
		if (!err)
			err = predict_add(p, job->runs[i]);
	}
	/* what is in a folder or a store need not be from here, either */
	if (!err && !interrupted())
		err = predict_first(p, &first);
	return err || !first ? err : trust_check(first, job->o.target.argv != NULL, job->trust);
}

static struct err *write_file(const struct explanation *x, const char *path,
			      const struct report_format *format)
{
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };
	struct report_view view = { 0 };

	if (!path || !x)
		return NULL;
	format->explanation(x, &view, &out);
	return file_write(path, strbuf_str(&out), out.len);
}

/* Why each prediction fails. That it cannot be said does not make it less of a prediction. */
static struct err *explain_all(struct predict_job *job, const struct predict_result *r)
{
	struct err *err = NULL;

	job->why = xcalloc(r->predictions.len + 1, sizeof(struct explanation *));
	for (size_t i = 0; i < r->predictions.len && !job->no_explain && !interrupted(); i++) {
		struct explain_options o = {
			.plait = r->found.failures.data[r->predictions.data[i].failure].plait,
			.runs = EXPLAIN_RUNS,
			.seconds = EXPLAIN_SECONDS,
			.seed = job->o.seed,
			.target = { .timeout = job->o.target.timeout }
		};

		if (!o.plait)
			continue;
		err = explain_run(&o, EXPLAIN_AUTO, &job->why[i]);
		if (err) {
			log_note("not explained: %s", err_message(err));
			err_free(err);
			job->why[i] = NULL;
		}
	}
	err = write_file(job->why[0], job->html, &report_html);
	return err ? err : write_file(job->why[0], job->dot, &report_dot);
}

static struct err *work(struct predict_job *job, int *status)
{
	struct predict_result r = { 0 };
	struct predict *p = NULL;
	struct err *err = NULL;

	double began = clock_seconds();

	interrupt_catch();
	err = predict_open(&job->o, &p);
	if (!err)
		err = add_all(job, p);
	if (!err)
		err = predict_run(p, &r);
	if (err && interrupted()) { /* what was found is told all the same */
		err_free(err);
		err = NULL;
		r.interrupted = true;
	}
	predict_close(p);
	if (!err && job->free_inputs && !r.interrupted)
		err = predict_others(&job->o, began, &r);
	if (!err)
		err = explain_all(job, &r);
	if (!err)
		err = print(job, &r);
	if (!err)
		*status = status_of(&r);
	for (size_t i = 0; job->why && i < r.predictions.len; i++)
		explanation_free(job->why[i]);
	free(job->why);
	predict_result_deinit(&r);
	return err;
}

/* OPTION... RECORDING... [-- PROGRAM [ARG]...]: the words before the dashes; the program behind
 * them. */
static char **take_program(int *argc, char **argv)
{
	int n = 0;

	while (n < *argc && strcmp(argv[n], "--") != 0)
		n++;
	if (n + 1 >= *argc)
		return NULL;
	*argc = n;
	return argv + n + 1;
}

static struct err *check(const struct cmd *cmd, const struct predict_job *job)
{
	if (job->record && !job->o.target.argv)
		return cmd_usage(cmd, "--record of which program? Give it after --");
	if (job->free_inputs && !job->o.target.argv)
		return cmd_usage(cmd, "--free-inputs of which program? Give it after --");
	if (job->record > 100000)
		return cmd_usage(cmd, "--record takes at most 100000");
	if (!job->nruns && !job->record && !job->o.store)
		return cmd_usage(cmd, "which recordings? --record N makes them");
	return NULL;
}

static struct err *take_limits(const struct cmd *cmd, struct predict_job *job, uint64_t flips,
			       uint64_t traces)
{
	if (flips > PREDICT_MOST_FLIPS || traces > PREDICT_MOST_TRACES)
		return cmd_usage(cmd, "--flips takes at most 12, --traces at most 1000");
	job->o.flips = (uint32_t)flips;
	job->o.traces = (uint32_t)traces;
	return NULL;
}

/* What is recorded now is recorded in mode path: by a program that has its code. */
static struct err *take_variant(struct predict_job *job, char **program, char **beside)
{
	struct err *err = job->record ? variant_find(program[0], "path", beside) : NULL;

	if (!err && *beside)
		program[0] = *beside;
	return err;
}

/* FILE:LINE, cut in place. */
static struct err *take_place(const struct cmd *cmd, struct predict_job *job, char *at)
{
	char *colon = at ? strrchr(at, ':') : NULL, *end = NULL;
	unsigned long line = colon ? strtoul(colon + 1, &end, 10) : 0;

	if (!at)
		return NULL;
	if (!colon || colon == at || !line || *end || line > UINT32_MAX)
		return cmd_usage(cmd, "--at takes a place such as queue.c:42");
	*colon = 0;
	job->o.at_file = at;
	job->o.at_line = (uint32_t)line;
	return NULL;
}

static struct err *take_targets(const struct cmd *cmd, struct predict_job *job, const char *targets)
{
	if (!targets || predict_targets_parse(targets, &job->o.targets))
		return NULL;
	return cmd_usage(cmd, "--targets takes some of assert,crash,memory,deadlock,hang,race");
}

static struct err *take_method(const struct cmd *cmd, struct predict_job *job, const char *method)
{
	static const char *const names[] = { "auto", "paths", "values" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!method || strcmp(method, names[i]) == 0) {
			job->o.method = (enum predict_method)i;
			return NULL;
		}
	return cmd_usage(cmd, "--method takes auto, paths or values");
}

static struct err *predict_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct predict_job job = { .o = { .seed = 1, .replays = 5 } };
	const char *fail_on = NULL, *targets = NULL, *at = NULL, *method = NULL;
	uint64_t flips = 0, traces = 0;
	const struct opt table[] = {
		OPT_U64(0, "record", "N", &job.record, "make N passing runs of PROGRAM first"),
		OPT_STR('o', "output", "FILE", &job.o.output,
			"where to save (predicted.plait; with --all a folder: predicted)"),
		OPT_FLAG(0, "all", &job.o.all,
			 "go on after the first failure, keep one of each kind"),
		OPT_STR(0, "targets", "LIST", &targets,
			"of assert,crash,memory,deadlock,hang,race (all but race)"),
		OPT_STR(0, "at", "FILE:LINE", &at, "only failures at this place"),
		OPT_STR(0, "store", "FOLDER", &job.o.store,
			"keep paths there, and ask about all that it has"),
		OPT_REAL(0, "time", "SEC", &job.o.seconds, "stop after SEC seconds (60)"),
		OPT_U64('n', "runs", "N", &job.o.runs, "run at most N proposals (500)"),
		OPT_U64(0, "questions", "N", &job.o.questions, "ask at most N questions"),
		OPT_FLAG(0, "no-run", &job.o.no_run, "run nothing: every answer is a proposal"),
		OPT_STR(0, "method", "HOW", &method,
			"follow recordings by auto (default), paths or values"),
		OPT_FLAG(0, "published", &job.o.published,
			 "search as Cortex did: sets of flips, synthesised paths"),
		OPT_U64(0, "flips", "D", &flips,
			"take at most D decisions otherwise on one way (with --published 8)"),
		OPT_U64(0, "traces", "N", &traces,
			"lend a thread at most N paths of other runs (4)"),
		OPT_FLAG(0, "free-inputs", &job.free_inputs,
			 "if nothing is found, ask about other inputs, too"),
		OPT_U64(0, "seed", "N", &job.o.seed, "same seed, same answer (1)"),
		OPT_REAL(0, "timeout", "SEC", &job.o.target.timeout,
			 "real time a run may take (10)"),
		OPT_STR(0, "input", "FILE", &job.o.target.input, "standard input of the program"),
		OPT_JUDGE(&job.o.target, &fail_on),
		OPT_FLAG(0, "no-explain", &job.no_explain, "do not say why it fails"),
		OPT_STR(0, "html", "FILE", &job.html, "also write the first explanation as a page"),
		OPT_STR(0, "dot", "FILE", &job.dot, "also write it as a Graphviz drawing"),
		OPT_STR(0, "junit", "FILE", &job.junit, "also write JUnit XML"),
		OPT_STR(0, "sarif", "FILE", &job.sarif, "also write SARIF"),
		OPT_STR(0, "witness", "FILE", &job.witness, WITNESS_HELP),
		OPT_FLAG(0, "trust", &job.trust, TRUST_HELP),
		OPT_END,
	};
	_cleanup_(xfreep) char *place = NULL, *beside = NULL;
	char **program = take_program(&argc, argv);
	struct err *err;

	job.o.target.argv = program;
	err = cmd_parse(cmd, table, &job.common, true, &argc, &argv);
	job.runs = argv;
	job.nruns = (size_t)argc;
	if (!err)
		err = check(cmd, &job);
	if (!err)
		err = take_targets(cmd, &job, targets);
	if (!err)
		err = take_method(cmd, &job, method);
	place = at ? xstrdup(at) : NULL;
	if (!err)
		err = take_place(cmd, &job, place);
	if (!err)
		err = take_limits(cmd, &job, flips, traces);
	if (!err)
		err = run_options(fail_on, NULL, NULL, &job.o.target, NULL);
	if (!err)
		err = take_variant(&job, program, &beside);
	if (err)
		return err;
	if (!job.o.output)
		job.o.output = job.o.all ? "predicted" : "predicted.plait";
	else if (!*job.o.output)
		job.o.output = NULL;
	return work(&job, status);
}

const struct cmd cmd_predict = {
	.name = "predict",
	.synopsis = "[OPTION]... RECORDING|FOLDER... [-- PROGRAM [ARG]...]",
	.summary = "failing schedules from recordings of runs that passed",
	.help = "Status: 1 a failure, run natively and saved; 0 none (`exhausted` in the JSON says "
		"whether that\nis a proof for this input); 4 only proposals that were not run, or "
		"nothing could be\nfollowed; 2 usage; 3 no recording can be used.\n"
		"Example: unplait record --mode path --runs 10 -o runs -- ./test; unplait predict "
		"runs\n"
		"         unplait predict --record 10 -- ./test\n",
	.main = predict_main,
};
