/* cmd/cmd-test.c - hunt through all tests of a binary or a build folder. */
#include "cmd/show-run.h"
#include "cmd/cmd.h"

#include "base/file.h"
#include "base/printable.h"
#include "report/ci-cases.h"
#include "report/report.h"
#include "suite/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DEFAULT_SECONDS = 60 };

static void tell(void *arg, const struct suite_result *r)
{
	struct strbuf sb = { 0 };

	(void)arg;
	progress_done();
	report_suite_line(r, &sb);
	fputs(strbuf_str(&sb), stdout);
	fflush(stdout);
	strbuf_deinit(&sb);
}

static struct err *choose(struct suite *s, const struct strings *filter,
			  const struct strings *names, const char *since)
{
	size_t all = s->tests.len;
	struct err *err;

	if (filter->len || names->len) {
		suite_keep_matching(s, filter, names);
		if (!s->tests.len)
			return err_new(ERR_USAGE,
				       "none of the %zu tests matches; --list lists them", all);
	}
	if (!since)
		return NULL;
	all = s->tests.len;
	err = suite_keep_changed(s, since);
	if (!err)
		log_note("%zu of %zu tests were built from what has changed", s->tests.len, all);
	return err;
}

static void list(const struct suite *s)
{
	for (size_t i = 0; i < s->tests.len; i++) {
		printable_puts(s->tests.data[i].name, stdout);
		putchar('\n');
	}
}

static struct err *write_files(const struct suite_results *r, const char *junit, const char *sarif,
			       const char *baseline)
{
	struct ci_cases cases = { 0 };
	struct err *err;

	ci_from_suite(r, &cases);
	err = ci_cases_write(&cases, "unplait test", &report_junit, junit);
	if (!err)
		err = ci_cases_write(&cases, "unplait test", &report_sarif, sarif);
	if (baseline && !err)
		err = baseline_write(baseline, r);
	ci_cases_deinit(&cases);
	return err;
}

static struct err *print(const struct cmd_common *common, const struct suite_results *r,
			 double seconds, bool interrupted)
{
	struct strbuf sb = { 0 };
	struct json j;

	if (common->json) {
		json_init(&j);
		report_suite_json(r, seconds, interrupted, &j);
		return cmd_write_json(common, &j);
	}
	report_suite_summary(r, seconds, &sb);
	if (interrupted)
		strbuf_adds(&sb, "interrupted\n");
	fputs(strbuf_str(&sb), stdout);
	strbuf_deinit(&sb);
	return NULL;
}

struct test_files {
	const char *junit, *sarif, *markdown, *new_baseline;
};

static struct err *write_markdown(const struct suite_results *r, double seconds, const char *path)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

	report_suite_markdown(r, seconds, &text);
	return file_write(path, strbuf_str(&text), text.len);
}

static struct err *hunt_all(const struct suite *s, struct suite_options *o,
			    const struct cmd_common *common, const struct test_files *files,
			    int *status)
{
	struct suite_results r = { 0 };
	double start = clock_seconds();
	bool interrupted = false;
	struct err *err;

	if (!common->json) {
		_cleanup_(xfreep) char *what = printable(s->what);

		log_note("%zu test%s of %s", s->tests.len, s->tests.len == 1 ? "" : "s", what);
		o->tell = tell;
	}
	err = suite_hunt(s, o, &r, &interrupted);
	if (!err)
		err = write_files(&r, files->junit, files->sarif, files->new_baseline);
	if (!err && files->markdown)
		err = write_markdown(&r, clock_seconds() - start, files->markdown);
	if (!err)
		err = print(common, &r, clock_seconds() - start, interrupted);
	*status = suite_status(&r);
	if (*status == 0 && interrupted)
		*status = 4;
	suite_results_deinit(&r);
	return err;
}

static struct err *test_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct suite_options o = { .seed = 1, .output = "unplait-tests" };
	struct cmd_common common = { 0 };
	struct test_files files = { 0 };
	struct strings filter = { 0 }, names = { 0 };
	const char *since = NULL;
	uint32_t unused = 0;
	uint64_t jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	bool only_list = false;
	const struct opt table[] = {
		OPT_LIST(0, "filter", "PATTERN", &filter,
			 "only tests whose name matches, as the shell matches files"),
		OPT_LIST(0, "name", "NAME", &names, "only the test with exactly this name"),
		OPT_STR(0, "changed-since", "REV", &since,
			"only tests built from files that differ from this git revision"),
		OPT_FLAG(0, "list", &only_list, "print the names of the tests, hunt nothing"),
		OPT_REAL(0, "time", "SEC", &o.seconds,
			 "for all tests together (default 60; none if --runs is given)"),
		OPT_U64('n', "runs", "N", &o.runs, "stop after N runs of each test"),
		OPT_COUNT('j', "jobs", "N", &jobs, "tests at a time (default: one per processor)"),
		OPT_U64(0, "seed", "N", &o.seed, "same seed, same hunts (default 1)"),
		OPT_REAL(0, "timeout", "SEC", &o.timeout, "real seconds per run (default 10)"),
		OPT_STR(0, "timeouts", "WHEN", &o.timeouts, TIMEOUTS_HELP),
		OPT_STR('o', "output", "DIR", &o.output,
			"where failing schedules are saved (unplait-tests)"),
		OPT_STR(0, "baseline", "FILE", &o.baseline,
			"known failures: they do not fail the run, new ones do"),
		OPT_STR(0, "write-baseline", "FILE", &files.new_baseline,
			"write what failed as a baseline"),
		OPT_FLAG(0, "no-explain", &o.no_explain, "do not look for causes"),
		OPT_STR(0, "junit", "FILE", &files.junit, "also write JUnit XML"),
		OPT_STR(0, "sarif", "FILE", &files.sarif, "also write SARIF"),
		OPT_STR(0, "markdown", "FILE", &files.markdown,
			"also write Markdown, for a comment on a change"),
		OPT_END,
	};
	_cleanup_(suite_deinit) struct suite s = { 0 };
	struct err *err = cmd_parse(cmd, table, &common, false, &argc, &argv);

	if (!err)
		err = timeouts_option(o.timeouts, &unused);
	if (!err)
		err = suite_find(argv, &s);
	if (!err)
		err = choose(&s, &filter, &names, since);
	if (!err && only_list) {
		list(&s);
	} else if (!err) {
		if (!o.runs && o.seconds <= 0)
			o.seconds = DEFAULT_SECONDS;
		o.jobs = jobs < 1 ? 1 : jobs > 256 ? 256 : (unsigned)jobs;
		err = hunt_all(&s, &o, &common, &files, status);
	}
	free(filter.data);
	free(names.data);
	return err;
}

const struct cmd cmd_test = {
	.name = "test",
	.synopsis = "[OPTION]... [--] [BINARY [ARG]... | BUILD-FOLDER]",
	.summary = "hunt through all tests of a binary or a build folder",
	.help = "Knows GoogleTest, Catch2, doctest, Check, CppUTest, Boost.Test, Acutest, "
		"Criterion; CTest "
		"and Meson\n"
		"in build folders (the default: this one). Any other program is one test.\n"
		"Status: 1 a test fails, 0 none does, 4 some could not be judged (not under "
		"control, a\n"
		"failure that does not repeat, Ctrl-C), 2 usage, 3 no tests.\n",
	.main = test_main,
};
