/* cmd/cmd-rewind.c - from a core dump to the last steps before it. */
#include "cmd/rewind.h"

#include "base/interrupt.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "cmd/show-rewind.h"
#include "crumbs/crumbs.h"
#include "rewind/gdb.h"
#include "rewind/rewind.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct rewind_job {
	struct cmd_common common;
	struct rewind_options o;
	struct strings crumbs;
	struct strings asked;
	VEC(struct question) questions;
	struct strings gdb_commands;
	bool all, gdb;
};

/* 1 a cause, 0 nothing wrong, 4 the budget ended first. */
static int status_of(const struct rewind *r)
{
	if (r->cause.kind != CAUSE_NONE || r->hardware.strength >= HARDWARE_STRONG)
		return 1;
	return r->tree.out_of_time || r->tree.interrupted ? 4 : 0;
}

static struct err *print(const struct rewind_job *job, struct rewind *r)
{
	_cleanup_(strbuf_deinit) struct strbuf sb = { 0 };
	struct json j;

	if (!job->common.json || *job->common.json) {
		if (r->hardware.strength || *r->hardware.against)
			show_hardware(&r->hardware, &sb);
		show_rewind(r, job->all, &sb);
		fputs(strbuf_str(&sb), stdout);
	}
	if (!job->common.json)
		return NULL;
	json_init(&j);
	json_begin_answer(&j);
	json_rewind(r, &j);
	if (job->o.crumbs->files.len)
		json_hardware(&j, &r->hardware);
	json_end(&j);
	return cmd_write_json(&job->common, &j);
}

static struct err *parse_questions(struct rewind_job *job)
{
	struct err *err = NULL;

	for (size_t i = 0; i < job->asked.len && !err; i++)
		err = question_parse(job->asked.data[i], vec_add(&job->questions));
	job->o.questions = job->questions.data;
	job->o.nquestions = job->questions.len;
	return err;
}

static struct err *rewind_core(struct rewind_job *job, const char *core, int *status)
{
	struct crumbs crumbs = { 0 };
	struct rewind *r = NULL;
	struct err *err = parse_questions(job);

	if (!err)
		err = rewind_read_crumbs(&crumbs, &job->crumbs);
	job->o.crumbs = &crumbs;
	if (!err)
		err = rewind_open(core, &job->o, &r);
	if (!err)
		err = rewind_work(r);
	if (!err && job->gdb)
		err = gdb_serve(r, STDIN_FILENO, STDOUT_FILENO);
	else if (!err)
		err = print(job, r);
	if (r)
		*status = status_of(r);
	rewind_close(r);
	crumbs_deinit(&crumbs);
	return err;
}

static struct err *rewind_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct rewind_job job = { 0 };
	const struct opt table[] = {
		OPT_COUNT(0, "blocks", "N", &job.o.blocks,
			  "walk back N blocks (to where the bad value was made, at most 200)"),
		OPT_REAL(0, "time", "SEC", &job.o.seconds,
			 "stop walking after SEC seconds of processor time (20)"),
		OPT_STR(0, "thread", "N", &job.o.thread,
			"thread number N of the dump (1: the one that failed)"),
		OPT_LIST(0, "crumbs", "FILE", &job.crumbs,
			 "what else is known of the run: a log of the machine, branch records"),
		OPT_LIST(0, "ask", "QUESTION", &job.asked,
			 "'state at FILE:LINE', 'who wrote EXPRESSION', 'was THREAD preempted "
			 "between FILE:LINE and FILE:LINE'"),
		OPT_FLAG(0, "all", &job.all, "show every block, not only the last ones"),
		OPT_FLAG(0, "gdb", &job.gdb, "at a terminal: start gdb; else be its target"),
		OPT_LIST(0, "gdb-command", "CMD", &job.gdb_commands,
			 "start gdb, let it do CMD, and end; implies --gdb"),
		OPT_FLAG(0, "run", &job.o.run, "also run the dump of another user"),
		OPT_FLAG(0, "no-run", &job.o.no_run, "run nothing: the suffix stays unconfirmed"),
		OPT_END,
	};
	struct err *err;

	if (argc > 0 && strcmp(argv[0], "check") == 0)
		return rewind_check_main(cmd, argc - 1, argv + 1, status);
	if (argc > 0 && strcmp(argv[0], "triage") == 0)
		return rewind_triage_main(cmd, argc - 1, argv + 1, status);
	err = cmd_parse(cmd, table, &job.common, true, &argc, &argv);
	if (err)
		return err;
	if (argc != 1)
		return cmd_usage(cmd, "one core dump is needed");
	if (job.gdb_commands.len || (job.gdb && isatty(STDIN_FILENO)))
		return rewind_start_gdb(argv[0], &job.o, &job.crumbs, &job.gdb_commands);
	interrupt_catch();
	err = rewind_core(&job, argv[0], status);
	vec_deinit(&job.crumbs);
	vec_deinit(&job.asked);
	vec_deinit(&job.questions);
	return err;
}

const struct cmd cmd_rewind = {
	.name = "rewind",
	.synopsis = "[check|triage] [OPTION]... CORE...",
	.summary = "from a core dump to the last steps before it",
	.help = "Status: 1 a cause was found; 0 nothing wrong was seen in the suffix; 4 the time "
		"was over first;\n2 usage; 3 the dump or its program cannot be used.\n"
		"check: did the machine do this? Status: 1 certainly, 4 a weak sign, 0 no sign.\n"
		"triage: many dumps or folders of dumps, sorted by cause. Status: 1 buckets were "
		"made.\n"
		"Example: unplait rewind core\n"
		"         unplait rewind --ask 'who wrote table->used' core\n"
		"         gdb -ex 'target remote | unplait rewind --gdb core' ./program\n"
		"         unplait rewind check core\n"
		"         unplait rewind triage -o index.json dumps/\n",
	.main = rewind_main,
};
