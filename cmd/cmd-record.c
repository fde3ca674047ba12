/* cmd/cmd-record.c - run a program in a recording mode. */
#include "cmd/cmd.h"

#include "base/err.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "coop/program.h"
#include "cmd/show-run.h"
#include "run/record.h"
#include "run/run.h"
#include "run/variant.h"
#include "debug/names.h"
#include "unplait/sites.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With a filter that kills, whatever the runtime asks of the system may end the program. */
static void tell_forbidden(const struct record_runs *runs)
{
	for (size_t i = 0; i < runs->len; i++) {
		if (runs->data[i].signal != SIGSYS)
			continue;
		log_warn("a system call that the program's own seccomp filter forbids has ended "
			 "it. If that does not happen without unplait, the filter forbids what "
			 "recording needs (openat, fallocate, mmap), and this program cannot be "
			 "recorded in this mode");
		return;
	}
}

static void print_text(const struct record_runs *runs, const struct record_options *o)
{
	bool graph = strcmp(o->mode, "graph") == 0;

	for (size_t i = 0; i < runs->len; i++) {
		const struct record_run *r = &runs->data[i];
		bool failed = r->outcome != PLAIT_OUTCOME_PASS;
		_cleanup_(xfreep) char *message = printable(r->message);

		printf("%s: %s%s%s%s%s, %zu thread%s, %llu %s", r->plait,
		       color(failed ? COLOR_RED : COLOR_GREEN), outcome_name(r->outcome),
		       color(COLOR_OFF), message ? ": " : "", message ? message : "", r->nthreads,
		       r->nthreads == 1 ? "" : "s",
		       (unsigned long long)(r->has_graph ? r->nedges : r->nevents),
		       r->has_graph ? "communications" : "events");
		if (r->lost)
			printf(", %llu lost", (unsigned long long)r->lost);
		puts("");
	}
	tell_forbidden(runs);
	if (o->last > 0 && runs->len)
		log_note("`unplait info %s` tells what each thread did last", runs->data[0].plait);
	else if (runs->len && runs->data[0].sync_only)
		log_note("the program was not built with `unplait cc`: only synchronisation was "
			 "recorded");
	else if (runs->len && graph && !runs->data[0].has_graph)
		log_warn("no communication was collected: there was no room for its bookkeeping. "
			 "It needs address space, not memory: is there a limit (`ulimit -v`)?");
}

/* The program with the code of that mode in place of argv[0]. */
static struct err *find_variant(char **argv, struct record_options *o, char **beside, char **output)
{
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
	struct err *err = variant_find(argv[0], o->mode, beside);

	if (err || !*beside)
		return err;
	if (!o->output) /* as without it */
		o->output = *output = xasprintf("%s.plait%s", name, o->runs > 1 ? "s" : "");
	argv[0] = *beside;
	return NULL;
}

static struct err *print_json(const struct cmd_common *common, const struct record_runs *runs,
			      size_t failed)
{
	struct json j;

	json_init(&j);
	json_begin_answer(&j);
	json_uint(&j, "failed", failed);
	json_begin_array(&j, "runs");
	for (size_t i = 0; i < runs->len; i++) {
		const struct record_run *r = &runs->data[i];

		json_begin_object(&j, NULL);
		json_str(&j, "plait", r->plait);
		json_begin_object(&j, "outcome");
		json_str(&j, "kind", outcome_name(r->outcome));
		json_str(&j, "message", r->message);
		json_end(&j);
		json_uint(&j, "threads", r->nthreads);
		json_uint(&j, "events", r->nevents);
		json_uint(&j, "lost", r->lost);
		json_real(&j, "seconds", r->seconds, 3);
		json_bool(&j, "synchronisation_only", r->sync_only);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	return cmd_write_json(common, &j);
}

static struct err *check(const struct cmd *cmd, int argc, const char *mode, uint64_t runs)
{
	static const char *const modes[] = { "sync", "path", "order", "block", "graph", "full" };
	bool known = false;

	if (argc < 1)
		return cmd_usage(cmd, "which program?");
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		known |= strcmp(mode, modes[i]) == 0;
	if (!known)
		return err_new(ERR_USAGE,
			       "--mode is sync, path, order, block, graph or full, not '%s'", mode);
	if (runs < 1 || runs > 1000000)
		return err_new(ERR_USAGE, "--runs is a number from 1 to 1000000");
	return NULL;
}

/* The flight recorder has the events of mode full that plain code makes. */
static struct err *check_last(struct record_options *o, uint64_t runs)
{
	if (o->last == 0)
		return NULL;
	if (!(o->last >= 0.001 && o->last <= 86400))
		return err_new(ERR_USAGE, "--last is a number of seconds, at most 86400");
	if (o->mode || runs > 1)
		return err_new(ERR_USAGE,
			       "--last does without --mode and --runs: it keeps the last "
			       "seconds of one run, and cannot be replayed");
	o->mode = "full";
	return NULL;
}

/* What --mode graph is to collect, as $UNPLAIT_OPTIONS. */
struct graph_options {
	uint64_t context;
	const char *granularity, *model;
	bool no_first_read, no_first_write, no_racy;
};

static struct err *graph_options(const struct graph_options *g, const char *mode, char **ret)
{
	unsigned kb = 32, ways = 8;
	bool hw = g->model && strncmp(g->model, "hw", 2) == 0;
	char end;

	if (strcmp(mode, "graph") != 0)
		return NULL;
	if (g->context > 16)
		return err_new(ERR_USAGE, "--context is a number from 0 to 16");
	if (strcmp(g->granularity, "word") != 0 && strcmp(g->granularity, "line") != 0)
		return err_new(ERR_USAGE, "--granularity is word or line, not '%s'",
			       g->granularity);
	if (g->model &&
	    (!hw || (g->model[2] && sscanf(g->model, "hw:%u,%u%c", &kb, &ways, &end) != 2) ||
	     kb < 1 || kb > 65536 || ways < 1 || ways > 64))
		return err_new(ERR_USAGE, "--model is hw or hw:KB,WAYS (hw:32,8), not '%s'",
			       g->model);
	*ret = xasprintf("context=%u,granularity=%s%s%s%s", (unsigned)g->context, g->granularity,
			 g->no_first_read ? ",no-first-read" : "",
			 g->no_first_write ? ",no-first-write" : "", g->no_racy ? ",no-racy" : "");
	if (hw) {
		char *base = *ret;

		*ret = xasprintf("%s,hw-bytes=%u,hw-ways=%u", base, kb << 10, ways);
		free(base);
	}
	return NULL;
}

/* Modes order and block: the profile in words that the runtime understands. Without one, a profile
 * of everything is written into *dir. */
static struct err *find_profile(const char *program, const char *mode, const char *given,
				char **dir, char **ret)
{
	enum plait_mode m = strcmp(mode, "block") == 0 ? PLAIT_MODE_BLOCK : PLAIT_MODE_ORDER;
	_cleanup_(xfreep) char *path = NULL, *full = NULL;
	struct coop_program *p = NULL;
	struct strbuf text = { 0 };
	bool *chosen = NULL;
	struct err *err = coop_program_open(program, m, &p);

	if (!err && given)
		err = profile_read(given, p, &chosen);
	if (!err && !given) {
		profile_write(p, NULL, &text);
		err = file_temp_dir(dir);
		if (!err) {
			path = xasprintf("%s/profile", *dir);
			err = file_write(path, text.data, text.len);
		}
	}
	full = err ? NULL : realpath(given ? given : path, NULL);
	if (full)
		*ret = xasprintf("profile=%s", full);
	free(chosen);
	strbuf_deinit(&text);
	coop_program_close(p);
	return err;
}

static struct err *run_and_print(const struct cmd_common *common, const struct record_options *o,
				 int *status)
{
	struct record_runs results = { 0 };
	struct err *err = record_run_all(o, &results);
	size_t failed = 0;

	for (size_t i = 0; !err && i < results.len; i++)
		failed += results.data[i].outcome != PLAIT_OUTCOME_PASS;
	*status = failed > 0;
	if (!err && common->json)
		err = print_json(common, &results, failed);
	else if (!err)
		print_text(&results, o);
	record_runs_deinit(&results);
	return err;
}

static struct err *record_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct record_options o = { 0 };
	struct target target = { 0 };
	struct graph_options graph = { .context = 5, .granularity = "word" };
	uint64_t runs = 1, jobs = 1;
	const char *fail_on = NULL, *profile = NULL;
	_cleanup_(xfreep) char *options = NULL, *dir = NULL, *beside = NULL, *output = NULL;
	struct cmd_common common = { 0 };
	const struct opt table[] = {
		OPT_STR('m', "mode", "MODE", &o.mode,
			"sync (default if built with unplait cc), full, path, order, block or "
			"graph"),
		OPT_U64('n', "runs", "N", &runs, "run N times, keep a plait of each"),
		OPT_COUNT('j', "jobs", "N", &jobs, "run N at a time"),
		OPT_STR('o', "output", "PATH", &o.output, "the plait, or with --runs their folder"),
		OPT_REAL(0, "last", "SEC", &o.last,
			 "flight recorder: keep what the threads did in the last seconds"),
		OPT_REAL(0, "timeout", "SEC", &o.timeout, "a run that takes longer hangs"),
		OPT_STR(0, "fail-on", "WHAT", &fail_on, FAIL_ON_HELP),
		OPT_STR(0, "oracle", "CMD", &o.judge.oracle,
			"shell command that judges $PLAIT_STDOUT, $PLAIT_STDERR"),
		OPT_STR(0, "expect", "FILE", &o.judge.expect, "what the program must print"),
		OPT_STR(0, "input", "FILE", &target.input, "standard input of the program"),
		OPT_FLAG(0, "follow", &o.follow, "record child processes too"),
		OPT_U64(0, "context", "N", &graph.context,
			"graph: events per context, 0 to 16 (5)"),
		OPT_STR(0, "granularity", "UNIT", &graph.granularity,
			"graph: word (default) or line"),
		OPT_STR(0, "model", "hw[:KB,WAYS]", &graph.model,
			"graph: only what travels between simulated caches"),
		OPT_FLAG(0, "no-first-read", &graph.no_first_read,
			 "graph: look at repeated reads too"),
		OPT_FLAG(0, "no-first-write", &graph.no_first_write,
			 "graph: look at repeated writes too"),
		OPT_FLAG(0, "no-racy", &graph.no_racy, "graph: lock before every look-up"),
		OPT_STR(0, "profile", "FILE", &profile,
			"modes order and block: record only these elements"),
		OPT_END,
	};
	struct err *err = cmd_parse(cmd, table, &common, false, &argc, &argv);

	if (!err)
		err = check_last(&o, runs);
	if (!err && !o.mode)
		o.mode = argc && variant_exists(argv[0], "plain") ? "sync" : "full";
	if (!err)
		err = check(cmd, argc, o.mode, runs);
	if (!err)
		err = graph_options(&graph, o.mode, &options);
	if (err)
		return err;
	o.options = options;
	o.command = argv;
	o.runs = (unsigned)runs;
	o.jobs = (unsigned)MIN(jobs, 1024);
	err = fail_on_option(fail_on, &o.judge.fail_on_exit, &o.judge.ignored);
	if (!err && (runs > 1 || strcmp(o.mode, "sync") == 0))
		err = target_read_stdin(&target);
	if (!err && strcmp(o.mode, "sync") == 0)
		err = target_read_input(&target);
	if (err)
		return err;
	target.fail_on_exit = o.judge.fail_on_exit;
	target.oracle = o.judge.oracle;
	target.expect = o.judge.expect;
	o.target = &target;
	o.output_to_stderr = common.json && !*common.json;
	err = find_variant(argv, &o, &beside, &output);
	if (err)
		return err;
	if (strcmp(o.mode, "order") == 0 || strcmp(o.mode, "block") == 0)
		err = find_profile(argv[0], o.mode, profile, &dir, &options);
	else if (profile)
		err = err_new(ERR_USAGE, "--profile belongs to --mode order or block");
	if (err)
		return err;
	o.options = options;
	err = run_and_print(&common, &o, status);
	if (dir)
		file_remove_tree(dir);
	target_deinit(&target);
	return err;
}

const struct cmd cmd_record = {
	.name = "record",
	.synopsis = "[OPTION]... [--] PROGRAM [ARG]...",
	.summary = "run a program once or many times and keep what happened",
	.help = "Status 1 when a run failed: assert or abort, fatal signal, deadlock, timeout, "
		"and\n"
		"what --fail-on, --oracle and --expect add.\n\n"
		"    unplait record -o run.plait -- ./server --test\n"
		"    unplait record --runs 100 --jobs 4 -o runs/ -- ./stress\n",
	.main = record_main,
};
