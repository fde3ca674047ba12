#include "cmd/cmd.h"

#include "cmd/show-run.h"
#include "cmd/pinned.h"
#include "cmd/trust.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "explain/explain.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct err *write_file(const struct explanation *x, const char *path,
			      const struct report_format *format)
{
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };
	struct report_view view = { 0 };

	if (!path)
		return NULL;
	format->explanation(x, &view, &out);
	return file_write(path, strbuf_str(&out), out.len);
}

static struct err *print(const struct explanation *x, const struct cmd_common *common)
{
	const struct report_format *format = common->json ? &report_json : &report_term;
	struct report_view view = { .width = cmd_terminal_width() };
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };

	format->explanation(x, &view, &out);
	return cmd_write_report(common, &out);
}

static bool find_method(const char *name, enum explain_method *ret)
{
	static const char *const names[] = { "auto", "dynamic", "constraints", "both" };

	for (size_t i = 0; name && i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i])) {
			*ret = (enum explain_method)i;
			return true;
		}
	return !name;
}

static struct err *explain_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct explain_options o = { .runs = 1000, .seed = 1 };
	const char *html = NULL, *dot = NULL, *fail_on = NULL, *method = NULL, *timeouts = NULL;
	enum explain_method way = EXPLAIN_AUTO;
	struct cmd_common common = { 0 };
	bool trust = false;
	const struct opt table[] = {
		OPT_STR(0, "method", "WAY", &method,
			"dynamic, constraints or both (default: what the plait allows)"),
		OPT_STR(0, "html", "FILE", &html, "also write a page to click through"),
		OPT_STR(0, "dot", "FILE", &dot, "also write a Graphviz drawing"),
		OPT_U64('n', "runs", "N", &o.runs,
			"test the advice over N schedules (1000; 0: do not)"),
		OPT_REAL(0, "time", "SEC", &o.seconds, "give an answer after that long (300)"),
		OPT_COUNT(0, "pairs", "N", &o.max_pairs, "try at most N event pairs (500)"),
		OPT_U64(0, "seed", "N", &o.seed, "seed of the schedules that test the advice (1)"),
		OPT_REAL(0, "timeout", "SEC", &o.target.timeout, "real time a run may take (10)"),
		OPT_STR(0, "timeouts", "WHEN", &timeouts, TIMEOUTS_HELP),
		OPT_STR(0, "input", "FILE", &o.target.input, "standard input of the program"),
		OPT_STR(0, "fail-on", "exit", &fail_on,
			"count a non-zero exit status as a failure"),
		OPT_STR(0, "oracle", "CMD", &o.target.oracle,
			"run CMD after each run; status 0 is good"),
		OPT_STR(0, "expect", "FILE", &o.target.expect, "standard output must equal FILE"),
		OPT_FLAG(0, "trust", &trust, TRUST_HELP),
		OPT_END,
	};
	struct explanation *x = NULL;
	struct err *err = cmd_parse(cmd, table, &common, true, &argc, &argv);

	if (err)
		return err;
	if (argc < 1)
		return cmd_usage(cmd, "which failing plait?");
	o.plait = argv[0];
	o.command = argc > 1 ? argv + 1 : NULL;
	if (!find_method(method, &way))
		return cmd_usage(cmd, "--method is dynamic, constraints or both");
	err = run_options(fail_on, NULL, NULL, &o.target, NULL);
	if (!err)
		err = timeouts_option(timeouts, &o.target.timeouts);
	if (!err)
		err = trust_check(o.plait, o.command != NULL, trust);
	if (!err)
		err = pinned_failing(o.plait, o.command, &o.target);
	if (!err)
		err = explain_run(&o, way, &x);
	if (!err)
		err = print(x, &common);
	if (!err)
		err = write_file(x, html, &report_html);
	if (!err)
		err = write_file(x, dot, &report_dot);
	if (!err)
		*status = x->confirmed ? 1 : 4;
	explanation_free(x);
	return err;
}

const struct cmd cmd_explain = {
	.name = "explain",
	.synopsis = "[OPTION]... FILE.plait [-- PROGRAM [ARG]...]",
	.summary = "why a schedule fails: what differs from the nearest one that does not",
	.help = "Exit status: 1 explained and confirmed by native runs, 4 not (no passing schedule "
		"found in\n"
		"the budget, or the failure does not reproduce), 2 usage, 3 bad input.\n"
		"Example: unplait hunt -o fail.plait -- ./test && unplait explain fail.plait "
		"--html why.html\n",
	.main = explain_main,
};
