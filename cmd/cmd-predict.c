/* cmd/cmd-predict.c - failing schedules from recordings of runs that passed. */
#include "cmd/cmd.h"

#include "base/file.h"
#include "base/interrupt.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "cmd/show-run.h"
#include "cmd/show-steps.h"
#include "cmd/pinned.h"
#include "cmd/trust.h"
#include "cmd/witness-file.h"
#include "explain/explain.h"
#include "predict/predict.h"
#include "report/ci-cases.h"
#include "report/report.h"
#include "run/variant.h"
#include "trace/trace.h"

#include <inttypes.h>
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

/* ---- text ---- */

static void show_flip(const struct predict_flip *f, struct strbuf *out)
{
	strbuf_addf(out, "    thread %s", f->thread);
	if (f->change == PREDICT_LENT) {
		strbuf_adds(out, " goes as in ");
		strbuf_add_printable(out, f->file, "");
		strbuf_addc(out, '\n');
		return;
	}
	if (*f->file) {
		strbuf_adds(out, " at ");
		strbuf_add_printable(out, f->file, "");
		strbuf_addf(out, ":%u in ", f->line);
		strbuf_add_printable(out, f->function, "");
	}
	if (f->change == PREDICT_VALUE)
		strbuf_adds(out, ": reads another value than recorded\n");
	else if (f->change == PREDICT_STOP)
		strbuf_adds(out, ": comes here at the same time\n");
	else if (f->change == PREDICT_FREE)
		strbuf_adds(out, ": gives it back here, before\n");
	else if (f->change == PREDICT_USE)
		strbuf_adds(out, ": uses it here\n");
	else if (f->change == PREDICT_RACING)
		strbuf_adds(out, ": is about to access it at the same time\n");
	else
		strbuf_addf(out, ": the condition was %s, now it is %s\n",
			    f->was ? "true" : "false", f->now ? "true" : "false");
}

static void show_prediction(const struct predict_result *r, const struct prediction *x,
			    struct strbuf *out)
{
	const struct hunt_failure *f = &r->found.failures.data[x->failure];

	show_outcome(&f->result, out);
	show_failure_stack(&f->result, f->plait, out);
	strbuf_adds(out, "  predicted from ");
	strbuf_add_printable(out, x->base, "");
	strbuf_adds(out, ", which passed; what differs:\n");
	for (size_t i = 0; i < x->flips.len; i++)
		show_flip(&x->flips.data[i], out);
	if (r->recordings > 1)
		strbuf_addf(out, "  %" PRIu64 " of %zu recordings took the path it started from\n",
			    x->near, r->recordings);
	strbuf_addf(out,
		    "  after %" PRIu64 " questions and %" PRIu64 " native runs; %zu switches\n",
		    x->questions, x->native_runs, schedule_switches(&f->result.schedule));
	strbuf_addf(out, "  replayed %u of %u times\n", f->same, f->tried);
	if (f->same < f->tried)
		strbuf_adds(out, "  NOT CONFIRMED: something outside control changes the run\n");
	if (f->plait)
		err_free(show_blocked(&f->result, f->plait, out)); /* best effort */
	show_output(&f->result, false, out);
	if (f->plait)
		show_saved(f->plait, out);
}

static void show_race(const struct predicted_race *x, struct strbuf *out)
{
	strbuf_adds(out, "data race, seen in a native run\n  predicted from ");
	strbuf_add_printable(out, x->base, "");
	strbuf_adds(out, "; what differs:\n");
	for (size_t i = 0; i < x->flips.len; i++)
		show_flip(&x->flips.data[i], out);
	strbuf_addf(out, "  after %" PRIu64 " questions and %" PRIu64 " native runs\n",
		    x->questions, x->native_runs);
	strbuf_adds(out, "  what races do to the program: unplait races -- PROGRAM\n");
	if (x->plait)
		show_saved(x->plait, out);
}

static void show_nothing(const struct predict_result *r, struct strbuf *out)
{
	if (r->unconfirmed.len)
		strbuf_addf(out, "%zu proposals, none was run:\n", r->unconfirmed.len);
	for (size_t i = 0; i < r->unconfirmed.len; i++)
		for (size_t k = 0; k < r->unconfirmed.data[i].flips.len; k++)
			show_flip(&r->unconfirmed.data[i].flips.data[k], out);
	if (r->unconfirmed.len)
		return;
	if (r->found.set_aside)
		strbuf_addf(out,
			    "%" PRIu64 " runs failed, but did not repeat when they were replayed\n",
			    r->found.set_aside);
	if (r->unwanted)
		strbuf_addf(out, "%" PRIu64 " runs failed, but not as --targets and --at ask for\n",
			    r->unwanted);
	strbuf_addf(out, "no failure predicted%s\n",
		    r->exhausted       ? ": with this input every run passes"
		    : r->interrupted   ? ""
		    : r->out_of_budget ? " within the budget"
				       : "; nothing is left to ask, which is no proof");
	if (r->others)
		strbuf_addf(out, "nor with %zu other inputs\n", r->others);
}

static void show_skipped(const struct predict_result *r, struct strbuf *out)
{
	enum { MOST = 5 };

	for (size_t i = 0; i < r->skipped.len && i < MOST; i++) {
		strbuf_adds(out, "skipped ");
		strbuf_add_printable(out, r->skipped.data[i].path, "");
		strbuf_adds(out, ": ");
		strbuf_add_printable(out, r->skipped.data[i].why, "");
		strbuf_addc(out, '\n');
	}
	if (r->skipped.len > MOST)
		strbuf_addf(out, "... and %zu more\n", r->skipped.len - MOST);
}

static void show_published(const struct predict_result *r, struct strbuf *out)
{
	const struct predict_published *x = &r->published;

	strbuf_addf(out, "the published search: %" PRIu64 " recorded runs as they are%s\n",
		    x->schedules, x->by_schedule ? ", which was enough" : "");
	for (size_t i = 0; i < x->sets.len; i++) {
		strbuf_addf(out, "  set %zu, %" PRIu32 " executions%s\n", i + 1,
			    x->sets.data[i].tries, x->sets.data[i].fails ? ", one fails" : "");
		for (size_t k = 0; k < x->sets.data[i].flips.len; k++)
			show_flip(&x->sets.data[i].flips.data[k], out);
	}
	strbuf_addf(out,
		    "  %zu sets of flips, %" PRIu64 " executions, %" PRIu64 " paths synthesised\n",
		    x->sets.len, x->tries, x->synthesised);
}

static void print_text(const struct predict_job *job, const struct predict_result *r)
{
	struct report_view view = { .width = cmd_terminal_width() };
	_cleanup_(strbuf_deinit) struct strbuf sb = { 0 };

	if (r->other_input)
		strbuf_addf(&sb,
			    "with the given input no failure was predicted; with this one:\n  %s\n",
			    r->other_input);
	for (size_t i = 0; i < r->predictions.len; i++) {
		show_prediction(r, &r->predictions.data[i], &sb);
		if (job->why[i]) {
			strbuf_addc(&sb, '\n');
			report_term.explanation(job->why[i], &view, &sb);
			strbuf_addc(&sb, '\n');
		}
	}
	for (size_t i = 0; i < r->races.len; i++)
		show_race(&r->races.data[i], &sb);
	if (!r->predictions.len && !r->races.len)
		show_nothing(r, &sb);
	if (job->o.published)
		show_published(r, &sb);
	strbuf_addf(&sb,
		    "%zu recordings, %zu different paths; questions: %" PRIu64 " yes, %" PRIu64
		    " no, %" PRIu64 " open; %" PRIu64 " proposals run (%" PRIu64 " as asked)\n",
		    r->recordings, r->paths, r->sat, r->unsat, r->unknown, r->proposals,
		    r->followed);
	show_skipped(r, &sb);
	for (size_t i = 0; i < r->gaps.len; i++) {
		strbuf_adds(&sb, "left out or assumed: ");
		strbuf_add_printable(&sb, r->gaps.text[i], "");
		strbuf_addc(&sb, '\n');
	}
	if (r->interrupted)
		strbuf_adds(&sb, "interrupted\n");
	fputs(strbuf_str(&sb), stdout);
}

/* ---- JSON ---- */

static void json_flip(struct json *j, const struct predict_flip *f)
{
	static const char *const names[] = { "branch", "value", "stop",	 "free",
					     "use",    "lent",	"access" };

	json_begin_object(j, NULL);
	json_str(j, "thread", f->thread);
	json_begin_object(j, "at");
	json_str(j, "file", f->file);
	json_uint(j, "line", f->line);
	json_str(j, "function", f->function);
	json_end(j);
	json_str(j, "what", names[f->change]);
	if (f->change == PREDICT_BRANCH) {
		json_uint(j, "was", f->was);
		json_uint(j, "now", f->now);
	}
	json_end(j);
}

static void json_flips(struct json *j, const char *key, const struct predict_flips *flips)
{
	json_begin_array(j, key);
	for (size_t i = 0; i < flips->len; i++)
		json_flip(j, &flips->data[i]);
	json_end(j);
}

static void json_explanation(struct json *j, const struct explanation *x)
{
	static const char *const kinds[] = BUG_KIND_NAMES;
	uint64_t flows = 0;

	json_begin_object(j, "explanation");
	json_bool(j, "confirmed", x->confirmed);
	json_str(j, "kind", kinds[x->kind]);
	json_str(j, "summary", x->summary);
	json_str(j, "advice", x->advice.text);
	json_end(j);
	json_begin_object(j, "dpsp");
	json_begin_array(j, "events");
	json_uint(j, NULL, x->failing.events_total);
	json_uint(j, NULL, x->failing.len);
	json_end(j);
	for (size_t i = 0; i < x->nflows; i++)
		flows += x->flows[i].failing;
	json_begin_array(j, "flows");
	json_uint(j, NULL, x->failing.flows_total);
	json_uint(j, NULL, flows);
	json_end(j);
	json_end(j);
}

static void json_prediction(struct json *j, const struct predict_result *r,
			    const struct prediction *x, const struct explanation *why)
{
	const struct hunt_failure *f = &r->found.failures.data[x->failure];

	json_begin_object(j, NULL);
	json_str(j, "kind", outcome_name(f->result.outcome));
	json_outcome(j, "outcome", &f->result, f->plait);
	json_bool(j, "confirmed", f->same == f->tried);
	json_str(j, "base", x->base);
	json_flips(j, "flips", &x->flips);
	json_uint(j, "asked", x->questions);
	json_uint(j, "native_runs", x->native_runs);
	json_begin_object(j, "near");
	json_uint(j, "runs", x->near);
	json_uint(j, "of", r->recordings);
	json_end(j);
	json_uint(j, "switches", schedule_switches(&f->result.schedule));
	json_str(j, "plait", f->plait);
	json_begin_object(j, "replays");
	json_uint(j, "tried", f->tried);
	json_uint(j, "same", f->same);
	json_end(j);
	if (why)
		json_explanation(j, why);
	json_end(j);
}

static void json_race(struct json *j, const struct predicted_race *x)
{
	json_begin_object(j, NULL);
	json_str(j, "kind", "race");
	json_bool(j, "confirmed", true);
	json_str(j, "base", x->base);
	json_flips(j, "flips", &x->flips);
	json_uint(j, "asked", x->questions);
	json_uint(j, "native_runs", x->native_runs);
	json_str(j, "plait", x->plait);
	json_end(j);
}

static void json_published(struct json *j, const struct predict_published *x)
{
	json_begin_object(j, "published");
	json_uint(j, "schedules", x->schedules);
	json_bool(j, "by_schedule", x->by_schedule);
	json_uint(j, "tries", x->tries);
	json_uint(j, "synthesised", x->synthesised);
	json_begin_array(j, "sets");
	for (size_t i = 0; i < x->sets.len; i++) {
		json_begin_object(j, NULL);
		json_flips(j, "flips", &x->sets.data[i].flips);
		json_uint(j, "tries", x->sets.data[i].tries);
		json_bool(j, "fails", x->sets.data[i].fails);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void write_json(struct json *j, const struct predict_job *job,
		       const struct predict_result *r)
{
	json_begin_object(j, NULL);
	json_int(j, "unplait", 1);
	json_uint(j, "recordings", r->recordings);
	json_uint(j, "paths", r->paths);
	json_begin_array(j, "predictions");
	for (size_t i = 0; i < r->predictions.len; i++)
		json_prediction(j, r, &r->predictions.data[i], job->why[i]);
	for (size_t i = 0; i < r->races.len; i++)
		json_race(j, &r->races.data[i]);
	json_end(j);
	json_begin_array(j, "unconfirmed");
	for (size_t i = 0; i < r->unconfirmed.len; i++)
		json_flips(j, NULL, &r->unconfirmed.data[i].flips);
	json_end(j);
	if (job->o.published)
		json_published(j, &r->published);
	json_begin_object(j, "questions");
	json_uint(j, "sat", r->sat);
	json_uint(j, "unsat", r->unsat);
	json_uint(j, "unknown", r->unknown);
	json_end(j);
	json_uint(j, "native_runs", r->proposals);
	json_uint(j, "followed", r->followed);
	json_uint(j, "attempts", r->native_runs);
	json_uint(j, "mixed", r->mixed);
	json_bool(j, "exhausted", r->exhausted);
	json_uint(j, "other_inputs", r->others);
	json_str(j, "other_input", r->other_input);
	json_begin_array(j, "gaps");
	for (size_t i = 0; i < r->gaps.len; i++)
		json_str(j, NULL, r->gaps.text[i]);
	json_end(j);
	json_begin_array(j, "skipped");
	for (size_t i = 0; i < r->skipped.len; i++) {
		json_begin_object(j, NULL);
		json_str(j, "path", r->skipped.data[i].path);
		json_str(j, "why", r->skipped.data[i].why);
		json_end(j);
	}
	json_end(j);
	json_uint(j, "set_aside", r->found.set_aside);
	json_uint(j, "unwanted", r->unwanted);
	json_bool(j, "interrupted", r->interrupted);
	json_begin_object(j, "seconds");
	json_real(j, "load", r->seconds_load, 3);
	json_real(j, "ask", r->seconds_ask, 3);
	json_real(j, "run", r->seconds_run, 3);
	json_end(j);
	json_end(j);
}

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
	struct err *err = write_ci(job, r);
	struct json j;

	if (err)
		return err;
	if (!job->common.json) {
		print_text(job, r);
		return NULL;
	}
	json_init(&j);
	write_json(&j, job, r);
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
			err = pinned(job->runs[i], job->o.target.argv, job->o.target.timeout);
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
