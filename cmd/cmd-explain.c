#include "cmd/cmd.h"

#include "cmd/show-run.h"
#include "cmd/trust.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "explain/explain.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static unsigned terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 60)
		return size.ws_col > 140 ? 140 : size.ws_col;
	return 100;
}

typedef void (*writer)(const struct explanation *x, struct strbuf *out);

static struct err *write_file(const struct explanation *x, const char *path, writer write)
{
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };

	if (!path)
		return NULL;
	write(x, &out);
	return file_write(path, strbuf_str(&out), out.len);
}

static struct err *print(const struct explanation *x, const struct cmd_common *common)
{
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };
	struct err *err = NULL;
	struct json j;

	if (common->json) {
		json_init(&j);
		report_explain_json(x, &j);
		err = cmd_write_json(common, &j);
		json_deinit(&j);
		return err;
	}
	report_explain_term(x, terminal_width(), &out);
	fputs(strbuf_str(&out), stdout);
	return NULL;
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
	const char *html = NULL, *dot = NULL, *fail_on = NULL, *method = NULL;
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
		OPT_REAL(0, "time", "SEC", &o.seconds,
			 "look for a passing schedule that long (30)"),
		OPT_U64(0, "pairs", "N", &o.max_pairs, "try at most N event pairs (500)"),
		OPT_U64(0, "seed", "N", &o.seed, "seed of the schedules that test the advice (1)"),
		OPT_REAL(0, "timeout", "SEC", &o.target.timeout, "real time a run may take (10)"),
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
		err = trust_check(o.plait, o.command != NULL, trust);
	if (!err)
		err = explain_run(&o, way, &x);
	if (!err)
		err = print(x, &common);
	if (!err)
		err = write_file(x, html, report_explain_html);
	if (!err)
		err = write_file(x, dot, report_explain_dot);
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
