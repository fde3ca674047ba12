/* cmd/cmd-hunt.c - search for a schedule that makes the program fail. */
#include "cmd/cmd.h"

#include "base/interrupt.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "cmd/show-run.h"
#include "cmd/show-steps.h"
#include "cmd/witness-file.h"
#include "predict/predict.h"
#include "report/ci-cases.h"
#include "report/report.h"
#include "run/run.h"
#include "solve/solve.h"
#include "suite/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Then there are schedules that nobody tried. */
static bool has_threads_in_children(const struct hunt_result *r)
{
	return r->uncontrolled & PLAIT_UNCONTROLLED_CHILD_THREADS;
}

/* Processes that share locks: prefork servers. */
static bool shares_with_children(const struct hunt_result *r)
{
	return r->uncontrolled & PLAIT_UNCONTROLLED_SHARED &&
	       r->uncontrolled & PLAIT_UNCONTROLLED_FORK;
}

static bool leaves_out_processes(const struct hunt_result *r)
{
	return has_threads_in_children(r) || shares_with_children(r);
}

static void tell_children(const char *program, const struct hunt_result *r, struct strbuf *out)
{
	const char *advice = suite_fork_advice(program);

	if (!has_threads_in_children(r))
		strbuf_adds(
			out,
			"processes share locks, and only one of them is under control: how they "
			"interleave was not searched; put them into threads of one process\n");
	else if (r->threads <= 1)
		strbuf_adds(out,
			    "all threads run in forked children, so nothing was searched: start "
			    "what they run directly, or keep the program from forking\n");
	else if (r->uncontrolled & PLAIT_UNCONTROLLED_PARENT)
		strbuf_adds(out,
			    "one forked child was followed, the threads of others were not: run "
			    "one test at a time\n");
	else
		strbuf_adds(out,
			    "threads of forked children were not searched: all processes but one "
			    "run freely\n");
	if (advice)
		strbuf_addf(out, "%s\n", advice);
}

/* Nothing says that these would never end: the user must say how long they may take. */
static void show_unfinished(const struct hunt_options *o, const struct hunt_result *r,
			    struct strbuf *sb)
{
	if (!r->unfinished)
		return;
	if (r->point_budget)
		strbuf_addf(sb,
			    "%" PRIu64 " run%s had not ended after %" PRIu64
			    " scheduling points; give more with --steps\n",
			    r->unfinished, r->unfinished == 1 ? "" : "s", r->point_budget);
	else
		strbuf_addf(sb,
			    "%" PRIu64 " run%s had not ended after %g seconds; give more with "
			    "--timeout\n",
			    r->unfinished, r->unfinished == 1 ? "" : "s",
			    o->target.timeout ? o->target.timeout : 10);
}

static void print_claim(const struct hunt_result *r, struct strbuf *sb)
{
	const struct claim *c = &r->claim;

	strbuf_addf(sb, "no failure in %" PRIu64 " runs%s", r->runs, c->ended ? ": " : "");
	claim_describe(c, sb);
	strbuf_adds(sb, "\n");
	if (c->ended && !claim_is_complete(c)) {
		strbuf_adds(sb, "not covered  ");
		claim_describe_gaps(c, "\n             ", sb);
		strbuf_adds(sb, "\n");
	}
	if (r->states)
		strbuf_addf(sb, "%" PRIu64 " states of the program%s\n", r->states,
			    claim_is_complete(c) ? ", no others can be reached" : " were searched");
	if (r->states_why[0]) {
		strbuf_adds(sb, "not every state was searched: ");
		strbuf_add_printable(sb, r->states_why, "");
		strbuf_addc(sb, '\n');
	}
}

/* The command that says what they do. */
static void tell_races(const struct hunt_options *o, const struct hunt_result *r, struct strbuf *sb)
{
	strbuf_addf(sb, "data races seen: %llu; what they do: unplait races --",
		    (unsigned long long)r->races);
	for (char **a = o->target.argv; *a; a++) {
		strbuf_addc(sb, ' ');
		strbuf_add_shell(sb, *a);
	}
	strbuf_addc(sb, '\n');
}

/* Which run, and what planned it. */
static void print_found(const struct hunt_result *r, const struct hunt_failure *f,
			struct strbuf *sb)
{
	if (strcmp(f->strategy, "states"))
		strbuf_addf(sb, "  found in run %" PRIu64 " (%s)", f->run, f->strategy);
	else
		strbuf_addf(sb,
			    "  found in run %" PRIu64 " (states): by the search of %" PRIu64
			    " states, after %" PRIu64 " runs of other strategies",
			    f->run, r->states, f->run > 0 ? f->run - 1 : 0);
	strbuf_addf(sb, ", %" PRIu64 " events, %zu switches", f->result.steps,
		    schedule_switches(&f->result.schedule));
}

static void print_text(const struct hunt_options *o, const struct hunt_result *r, bool show_all)
{
	struct strbuf sb = { 0 };
	size_t i;

	if (suite_unable(o->target.argv[0])) {
		printf("nothing was hunted: %s\n", r->note);
		return;
	}
	for (i = 0; i < r->failures.len; i++) {
		const struct hunt_failure *f = &r->failures.data[i];

		show_outcome(&f->result, &sb);
		show_failure_stack(&f->result, f->plait, &sb);
		print_found(r, f, &sb);
		if (f->times > 1)
			strbuf_addf(&sb, ", seen %" PRIu64 " times", f->times);
		strbuf_addf(&sb, "\n  replayed %u of %u times\n", f->same, f->tried);
		if (f->same < f->tried)
			strbuf_adds(&sb,
				    "  NOT CONFIRMED: something outside control changes the run\n");
		if (f->plait)
			err_free(show_blocked(&f->result, f->plait, &sb)); /* best effort */
		show_output(&f->result, show_all, &sb);
		if (f->plait)
			show_saved(f->plait, &sb);
	}
	if (!r->failures.len)
		print_claim(r, &sb);
	strbuf_addf(&sb,
		    "%" PRIu64 " run%s in %.1f s, %" PRIu64 " events, %" PRIu64
		    " write-to-read pairs, %" PRIu64 " shared sites\n",
		    r->runs, r->runs == 1 ? "" : "s", r->seconds, r->steps, r->pairs, r->points);
	if (r->hangs_dismissed)
		strbuf_addf(&sb,
			    "%" PRIu64 " runs used up their budget, but a fair schedule ends\n",
			    r->hangs_dismissed);
	show_unfinished(o, r, &sb);
	if (r->set_aside > r->unconfirmed)
		strbuf_addf(&sb,
			    "%" PRIu64
			    " failing runs did not repeat when they were replayed and were "
			    "set aside\n",
			    r->set_aside);
	if (r->threads == 1 && !has_threads_in_children(r))
		strbuf_adds(&sb,
			    "note: the program starts no threads, so there is only one schedule\n");
	if (r->odd_exit)
		strbuf_addf(
			&sb,
			"note: every run ended with exit status %d; --fail-on exit makes that a "
			"failure\n",
			r->odd_exit);
	if (r->races)
		tell_races(o, r, &sb);
	if (r->interrupted)
		strbuf_adds(&sb, "interrupted\n");
	show_uncontrolled(r->uncontrolled, r->note, &sb);
	if (leaves_out_processes(r))
		tell_children(o->target.argv[0], r, &sb);
	fputs(strbuf_str(&sb), stdout);
	strbuf_deinit(&sb);
}

static void json_failure(struct json *j, const struct hunt_failure *f)
{
	json_outcome(j, "outcome", &f->result, f->plait);
	json_str(j, "strategy", f->strategy);
	json_uint(j, "run", f->run);
	json_uint(j, "times", f->times);
	json_uint(j, "switches", schedule_switches(&f->result.schedule));
	json_uint(j, "events", f->result.steps);
	json_str(j, "plait", f->plait);
	json_begin_object(j, "replays");
	json_uint(j, "tried", f->tried);
	json_uint(j, "same", f->same);
	json_end(j);
}

static void write_json(struct json *j, const struct hunt_result *r)
{
	struct strbuf sb = { 0 };
	size_t i;

	json_begin_answer(j);
	json_bool(j, "found", r->failures.len > 0);
	json_uint(j, "runs", r->runs);
	json_uint(j, "events", r->steps);
	json_real(j, "seconds", r->seconds, 3);
	if (r->failures.len) {
		const struct hunt_failure *f = &r->failures.data[0];

		json_str(j, "strategy", f->strategy);
		json_outcome(j, "outcome", &f->result, f->plait);
		json_str(j, "plait", f->plait);
		json_begin_object(j, "replays");
		json_uint(j, "tried", f->tried);
		json_uint(j, "same", f->same);
		json_end(j);
	}
	json_begin_array(j, "failures");
	for (i = 0; i < r->failures.len; i++) {
		json_begin_object(j, NULL);
		json_failure(j, &r->failures.data[i]);
		json_end(j);
	}
	json_end(j);
	json_uint(j, "pairs", r->pairs);
	json_uint(j, "points", r->points);
	json_uint(j, "races", r->races);
	json_uint(j, "threads", r->threads);
	json_bool(j, "exhausted", claim_is_complete(&r->claim));
	if (r->claim.ended)
		claim_describe_gaps(&r->claim, "; ", &sb);
	json_str(j, "not_covered", strbuf_str(&sb));
	strbuf_clear(&sb);
	if (r->states)
		json_uint(j, "states", r->states);
	if (r->states_why[0])
		json_str(j, "states_left_out", r->states_why);
	json_bool(j, "interrupted", r->interrupted);
	json_uint(j, "hangs_dismissed", r->hangs_dismissed);
	json_uint(j, "unfinished", r->unfinished);
	json_uint(j, "set_aside", r->set_aside);
	uncontrolled_describe(r->uncontrolled, &sb);
	json_str(j, "uncontrolled", strbuf_str(&sb));
	json_str(j, "note", r->note);
	json_end(j);
	strbuf_deinit(&sb);
}

/* Where the result goes. */
struct outputs {
	struct cmd_common common;
	const char *junit, *sarif, *witness; /* NULL = not wanted */
	bool show_all;			     /* that the failing run printed */
};

static struct err *report(const struct outputs *out, const struct hunt_options *o,
			  const struct hunt_result *r)
{
	struct ci_cases cases = { 0 };
	struct json j;
	struct err *err;

	ci_from_hunt(o, r, &cases);
	err = ci_cases_write(&cases, "unplait hunt", &report_junit, out->junit);
	if (!err)
		err = ci_cases_write(&cases, "unplait hunt", &report_sarif, out->sarif);
	if (!err)
		err = witness_save(r, out->witness);
	ci_cases_deinit(&cases);
	if (err)
		return err;
	if (!out->common.json) {
		print_text(o, r, out->show_all);
		return NULL;
	}
	json_init(&j);
	write_json(&j, r);
	return cmd_write_json(&out->common, &j);
}

static int exit_status(const struct hunt_result *r)
{
	if (r->failures.len)
		return r->unconfirmed == r->failures.len ? 4 : 1;
	return r->interrupted || r->unfinished || r->states_why[0] || leaves_out_processes(r) ? 4
											      : 0;
}

static struct err *hunt_with_states(struct hunt_options *o, struct hunt_result *ret)
{
	struct sym_proposer proposer = { 0 };
	struct err *err;

	proposer_init(&proposer, &o->target);
	o->proposer = proposer.available ? &proposer.proposer : NULL;
	o->predictor = &predict_predictor;
	err = hunt_run(o, ret);
	proposer_deinit(&proposer);
	return err;
}

enum { PREDICT_FROM = 3 }; /* recordings */

/* Strategy predict: from runs that pass to one that fails (predict/). What it finds is found as by
 * any hunt. */
static struct err *hunt_by_prediction(const struct hunt_options *o, struct hunt_result *ret)
{
	struct predict_options p = { .target = o->target,
				     .seconds = o->seconds,
				     .runs = o->runs,
				     .seed = o->seed,
				     .replays = o->replays,
				     .all = o->all,
				     .output = o->output };
	double start = clock_seconds();
	struct predict_result found = { 0 };
	struct predict *search = NULL;
	struct err *err;

	interrupt_catch();
	err = predict_open(&p, &search);
	if (!err)
		err = predict_record(search, PREDICT_FROM);
	if (!err)
		err = predict_run(search, &found);
	if (!err) {
		*ret = found.found;
		found.found = (struct hunt_result){ 0 };
		ret->runs = found.native_runs;
		ret->seconds = clock_seconds() - start;
		ret->interrupted = found.interrupted;
		for (size_t i = 0; i < found.gaps.len; i++)
			log_note("left out or assumed: %s", found.gaps.text[i]);
	}
	predict_result_deinit(&found);
	predict_close(search);
	return err;
}

static struct err *hunt(struct hunt_options *o, struct hunt_result *ret)
{
	const char *unable = suite_unable(o->target.argv[0]);

	if (unable) { /* every run would be one of the harness */
		ret->note =
			xasprintf("%s: put what the test does into a program of its own", unable);
		return NULL;
	}
	if (strcmp(o->strategy, "predict") == 0)
		return hunt_by_prediction(o, ret);
	return hunt_with_states(o, ret);
}

static struct err *hunt_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct outputs out = { 0 };
	struct hunt_options o = { .strategy = "auto",
				  .seed = 1,
				  .replays = 5,
				  .jobs = 1,
				  .points = PLAIT_ANY,
				  .output = NULL };
	const char *fail_on = NULL, *gate = NULL, *points = NULL, *timeouts = NULL;
	uint64_t replays = 5, jobs = 1;
	struct hunt_result r = { 0 };
	const struct opt table[] = {
		OPT_STR('s', "strategy", "S", &o.strategy,
			"auto, random, pct[:d], pos, rf, surw, dfs[:bound], states, predict, fair, "
			"stay"),
		OPT_U64('n', "runs", "N", &o.runs, "stop after N runs (default 10000)"),
		OPT_REAL(0, "time", "SEC", &o.seconds, "stop after SEC seconds"),
		OPT_FLAG(0, "all", &o.all, "go on after the first failure, keep one of each kind"),
		OPT_STR('o', "output", "FILE", &o.output,
			"where to save (fail.plait; with --all a folder: failures)"),
		OPT_U64(0, "replays", "N", &replays,
			"confirm each failure by N replays (default 5)"),
		OPT_COUNT('j', "jobs", "N", &jobs, "runs at a time (default 1)"),
		OPT_U64(0, "seed", "N", &o.seed, "same seed, same hunt (default 1)"),
		OPT_REAL(0, "timeout", "SEC", &o.target.timeout,
			 "real seconds per run (default 10)"),
		OPT_COUNT(0, "steps", "N", &o.target.point_budget,
			  "scheduling points per run (default: as many as it needs)"),
		OPT_STR(0, "input", "FILE", &o.target.input, "standard input of the program"),
		OPT_JUDGE(&o.target, &fail_on),
		OPT_FLAG(0, "show-output", &out.show_all,
			 "show all that the failing run printed, not only the last lines"),
		OPT_STR(0, "points", "P", &points, "auto, sync, learned or all accesses"),
		OPT_STR(0, "timeouts", "WHEN", &timeouts, TIMEOUTS_HELP),
		OPT_FLAG(0, "spurious", &o.target.spurious,
			 "waits for condition variables may end without a signal"),
		OPT_STR(0, "junit", "FILE", &out.junit, "also write JUnit XML"),
		OPT_STR(0, "sarif", "FILE", &out.sarif, "also write SARIF"),
		OPT_STR(0, "witness", "FILE", &out.witness, WITNESS_HELP),
		OPT_MANY_RUNS(&o.target, &gate),
		OPT_END,
	};
	struct err *err;

	err = cmd_parse(cmd, table, &out.common, false, &argc, &argv);
	if (err)
		return err;
	if (argc < 1)
		return cmd_usage(cmd, "which program?");
	err = run_options(fail_on, gate, points, &o.target, &o.points);
	if (!err)
		err = timeouts_option(timeouts, &o.target.timeouts);
	if (err)
		return err;
	if (!o.runs && o.seconds <= 0)
		o.runs = 10000;
	o.target.argv = argv;
	err = target_read_stdin(&o.target);
	if (err)
		return err;
	o.replays = (unsigned)replays;
	o.jobs = jobs < 1 ? 1 : jobs > 64 ? 64 : (unsigned)jobs;
	if (!o.output)
		o.output = o.all ? "failures" : "fail.plait";
	else if (!*o.output)
		o.output = NULL;
	err = hunt(&o, &r);
	if (!err)
		err = report(&out, &o, &r);
	if (!err)
		*status = suite_unable(argv[0]) ? 4 : exit_status(&r);
	hunt_result_deinit(&r);
	target_deinit(&o.target);
	return err;
}

const struct cmd cmd_hunt = {
	.name = "hunt",
	.synopsis = "[-s <strategy>] [-n <runs>] [--all] [-o <file>] [--] <program> [<arg>...]",
	.summary = "search for a schedule that makes the program fail",
	.help = "Status: 1 a failure was found and saved, 0 none within the budget, 4 a failure "
		"was\n"
		"seen that its own schedule does not repeat, runs had not ended when their budget\n"
		"was used up, states gave up, nothing was under control, or Ctrl-C came first.\n",
	.main = hunt_main,
};
