/* cmd/cmd-races.c - which data races a program has, and what each of them does. */
#include "cmd/cmd.h"

#include "base/file.h"
#include "base/racing.h"
#include "base/strbuf.h"
#include "cmd/pinned.h"
#include "cmd/show-run.h"
#include "race/baseline.h"
#include "race/race.h"
#include "race/reports.h"
#include "race/suppress.h"
#include "report/report.h"

#include <stdio.h>

/* Where the result goes. */
struct outputs {
	struct cmd_common common;
	const char *html, *sarif, *junit, *baseline, *racing; /* NULL = not wanted */
	struct racing lines;				      /* of the file `racing` */
	bool details;
};

static struct err *write_file(const struct races_result *r, const char *path,
			      const struct report_format *format)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	struct report_view view = { 0 };

	if (!path)
		return NULL;
	format->races(r, &view, &text);
	return file_write(path, strbuf_str(&text), text.len);
}

static struct err *show(const struct cmd_common *common, const struct races_result *r, bool all)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	struct report_view view = { .width = cmd_terminal_width(), .all = all };

	(common->json ? &report_json : &report_term)->races(r, &view, &text);
	if (!common->json)
		show_uncontrolled(r->uncontrolled & ~(uint32_t)PLAIT_UNCONTROLLED_CONSTRAINT, NULL,
				  &text);
	return cmd_write_report(common, &text);
}

/* Add the plain accesses that race to the list. */
static struct err *write_racing(const struct races_result *r, struct outputs *out)
{
	if (!out->racing)
		return NULL;
	for (size_t i = 0; i < r->races.len * 2; i++) {
		const struct race_side *side = &r->races.data[i / 2].side[i % 2];

		if (*side->file && side->line && !side->atomic)
			racing_add(&out->lines, side->file, side->line);
	}
	return racing_write(&out->lines, out->racing);
}

static struct err *report(struct outputs *out, struct races_result *r)
{
	struct err *err = out->baseline ? baseline_apply(out->baseline, r) : NULL;

	if (!err)
		err = write_file(r, out->html, &report_html);
	if (!err)
		err = write_file(r, out->sarif, &report_sarif);
	if (!err)
		err = write_file(r, out->junit, &report_junit);
	if (!err)
		err = write_racing(r, out);
	return err ? err : show(&out->common, r, out->details);
}

/* 1 something matters, 4 something is open, else 0. */
static int status_of(const struct races_result *r)
{
	bool open = r->unjudged || r->interrupted || r->cut_off == r->looked || r->fails_alone ||
		    r->failed == r->looked;

	for (size_t i = 0; i < r->races.len; i++) {
		const struct race *race = &r->races.data[i];

		if (race->known)
			continue;
		if (race->verdict >= RACE_OUTPUT_DIFFERS)
			return 1;
		open |= race->verdict <= RACE_NOT_REPRODUCED || race->verdict == RACE_UNDECIDED ||
			race->verdict == RACE_NOT_STABLE;
	}
	return open ? 4 : 0;
}

static struct err *load_suppressions(const struct strings *files, struct suppressions *ret)
{
	struct err *err = NULL;

	for (size_t i = 0; i < files->len && !err; i++)
		err = suppressions_load(ret, files->data[i]);
	return err;
}

static struct err *load_reports(const char *path, struct race_reports *ret)
{
	struct err *err = race_reports_read(path, ret);

	if (err)
		return err;
	log_note("%s has %zu race%s%s", ret->tool, ret->len, ret->len == 1 ? "" : "s",
		 ret->repeated ? ", some of them more than once" : "");
	if (ret->cut)
		log_note("%zu report%s in %s cut off and left out", ret->cut,
			 ret->cut == 1 ? "" : "s", path);
	if (ret->nameless)
		log_note("%zu report%s without a source line on both sides %s left out: build "
			 "with -g",
			 ret->nameless, ret->nameless == 1 ? "" : "s",
			 ret->nameless == 1 ? "was" : "were");
	return NULL;
}

static void tell_unused(const struct suppressions *s)
{
	for (size_t i = 0; i < s->len; i++)
		if (!s->data[i].hits)
			log_note("the suppression `%s' in line %u has spoken of no race",
				 s->data[i].pattern, s->data[i].line);
}

/* Read the files that the options name, find and judge the races, and report them. */
static struct err *find_and_report(const struct races_options *given, struct outputs *out,
				   const struct strings *suppressed, const char *from, int *status)
{
	struct races_options o = *given;
	struct suppressions suppressions = { 0 };
	struct race_reports reports = { 0 };
	struct races_result r = { 0 };
	struct err *err = load_suppressions(suppressed, &suppressions);

	if (!err && out->racing)
		err = racing_read(&out->lines, out->racing, true);
	o.suppressions = &suppressions;
	if (!err && from)
		err = pinned_to_look(from);
	if (!err && from)
		err = load_reports(from, &reports);
	if (from)
		o.reports = &reports;
	if (!err)
		err = races_run(&o, &r);
	if (!err)
		tell_unused(&suppressions);
	if (!err)
		err = report(out, &r);
	if (!err)
		*status = status_of(&r);
	races_result_deinit(&r);
	racing_deinit(&out->lines);
	suppressions_deinit(&suppressions);
	race_reports_deinit(&reports);
	return err;
}

static struct err *races_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct outputs out = { 0 };
	struct races_options o = { .seed = 1, .output = "races" };
	struct strings ignored = { 0 }, suppressed = { 0 };
	const char *fail_on = NULL, *gate = NULL, *from = NULL;
	uint64_t paths = 5, schedules = 8, runs = 24;
	uint32_t points;
	const struct opt table[] = {
		OPT_LIST(0, "try", "ARGS", &o.tries, "also run it with these arguments"),
		OPT_LIST(0, "inputs", "FILE", &o.inputs, "also run it with this standard input"),
		OPT_STR(0, "from", "FILE", &from,
			"only what a log of ThreadSanitizer, XML of helgrind, a plait or a std "
			"trace reports"),
		OPT_FLAG(0, "one-path", &o.one_path, "no inputs but the given ones"),
		OPT_COUNT('k', "k", "N", &paths, "inputs to look at for each race (default 5)"),
		OPT_COUNT(0, "schedules", "N", &schedules,
			  "continuations of each racing state (default 8)"),
		OPT_U64('n', "runs", "N", &runs, "runs that look for races (default 24)"),
		OPT_REAL(0, "time", "SEC", &o.seconds, "stop after SEC seconds"),
		OPT_STR('o', "output", "DIR", &o.output, "folder for the plaits (default races)"),
		OPT_FLAG(0, "details", &out.details, "tell everything about every race"),
		OPT_LIST(0, "suppressions", "FILE", &suppressed,
			 "races not to speak of: a file as ThreadSanitizer has it"),
		OPT_LIST(0, "ignore", "REGEX", &ignored, "lines of output that do not count"),
		OPT_STR(0, "baseline", "FILE", &out.baseline,
			"JSON of an earlier time: only new races, and worse ones, count"),
		OPT_STR(0, "html", "FILE", &out.html, "also write a page"),
		OPT_STR(0, "junit", "FILE", &out.junit, "also write JUnit XML"),
		OPT_STR(0, "racing", "FILE", &out.racing,
			"add the lines that race to this list (cc --unplait-racing)"),
		OPT_STR(0, "sarif", "FILE", &out.sarif, "also write SARIF"),
		OPT_U64(0, "seed", "N", &o.seed, "same seed, same answer (default 1)"),
		OPT_REAL(0, "timeout", "SEC", &o.target.timeout,
			 "real seconds per run (default 10)"),
		OPT_STR(0, "input", "FILE", &o.target.input, "standard input of the program"),
		OPT_STR(0, "predicate", "EXPR", &o.target.predicate,
			"C expression over global variables that must hold"),
		OPT_JUDGE(&o.target, &fail_on),
		OPT_MANY_RUNS(&o.target, &gate),
		OPT_END,
	};
	struct err *err = cmd_parse(cmd, table, &out.common, false, &argc, &argv);

	if (err)
		return err;
	if (argc < 1)
		return cmd_usage(cmd, "which program?");
	if (!runs && !from)
		return cmd_usage(cmd, "without --from, --runs needs a number from 1 on");
	err = run_options(fail_on, gate, NULL, &o.target, &points);
	if (err)
		return err;
	o.target.argv = argv;
	o.paths = (unsigned)paths;
	o.schedules = (unsigned)schedules;
	o.runs = (unsigned)runs;
	o.ignored = &ignored;
	if (!*o.output)
		o.output = NULL;
	err = target_read_stdin(&o.target);
	if (!err)
		err = find_and_report(&o, &out, &suppressed, from, status);
	target_deinit(&o.target);
	return err;
}

const struct cmd cmd_races = {
	.name = "races",
	.synopsis = "[--try <args>] [-k <n>] [-o <folder>] [--] <program> [<arg>...]",
	.summary = "find data races and tell what each of them does",
	.help = "Verdicts, the worst first:\n"
		"  spec-violated       one order makes the program fail\n"
		"  output-differs      the orders lead to different output or exit status\n"
		"  output-not-stable   outputs differ, but also between equal runs\n"
		"  k-witness-harmless  no difference in k inputs and schedules\n"
		"  undecided           it fails in both orders, whatever comes behind\n"
		"  single-ordering     the other order cannot happen\n"
		"  not-reproduced      both accesses were never about to happen at once\n"
		"  not-judged          no time was left (--time)\n"
		"\n"
		"Status: 1 for the first two, 0 there is no race, or only harmless ones and such\n"
		"with a single order, 4 a race is left without a verdict.\n",
	.main = races_main,
};
