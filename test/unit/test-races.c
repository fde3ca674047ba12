/* Races: what readers make of other people's reports, suppressions, baselines, and endings. */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "race/baseline.h"
#include "race/race.h"
#include "race/reports.h"
#include "race/study.h"
#include "race/suppress.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- suppressions: the cases of ThreadSanitizer's own documentation and tests ---- */

Test(races, patterns)
{
	static const struct {
		const char *pattern, *text;
		bool match;
	} cases[] = {
		{ "abc", "abcd", true },     { "abc", "xabcd", true },	 { "abd", "abcd", false },
		{ "abcdef", "abcd", false }, { "", "abcd", true },	 { "abc", "", false },
		{ "*", "abcd", true },	     { "a*d", "abcd", true },	 { "*a", "0abcd", true },
		{ "a*", "0abcd", true },     { "a*bc", "abcd", true },	 { "*abc*", "0abcd", true },
		{ "a*bc*", "abcd", true },   { "a*e", "abcd", false },	 { "**", "abcd", true },
		{ "*a**b*", "0abcd", true }, { "^ab", "abcd", true },	 { "^bc", "abcd", false },
		{ "^ab*cd", "abcd", true },  { "bcd$", "abcd", true },	 { "abc$", "abcd", false },
		{ "a$", "a", true },	     { "^abcd$", "abcd", true }, { "^abc$", "abcd", false },
		{ "*d$", "abcd", true },     { "^a*d$", "abcd", true },	 { "^b*d$", "abcd", false },
		{ "cd$", "cdcd", true },     { "^cd$", "cdcd", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		cr_expect_eq(suppression_pattern_matches(cases[i].pattern, cases[i].text),
			     cases[i].match, "`%s' and `%s'", cases[i].pattern, cases[i].text);
}

static char *file_with(const char *text)
{
	char *path = xasprintf("%s/unplait-unit-races-%d", P_tmpdir, (int)getpid());

	err_free(file_write(path, text, strlen(text)));
	return path;
}

Test(races, suppression_files)
{
	_cleanup_(suppressions_deinit) struct suppressions s = { 0 };
	_cleanup_(xfreep) char *path = file_with(
		"# why\n\n  race:adder  \nrace_top:^main$\nmutex:m\r\ncalled_from_lib:x.so");
	struct race r = { .object = "count",
			  .side = { { .file = "a.c", .function = "adder" },
				    { .file = "a.c", .function = "main" } } };

	cr_assert_null(suppressions_load(&s, path));
	cr_assert_eq(s.len, 3);
	cr_expect_str_eq(s.data[0].pattern, "adder");
	cr_expect_eq(s.data[0].line, 3);
	cr_expect(suppressions_match(&s, &r));
	cr_expect_eq(s.data[0].hits, 1);
	r.side[0].function = r.side[1].function = "other";
	cr_expect_not(suppressions_match(&s, &r));
	unlink(path);
}

Test(races, suppression_that_is_none)
{
	_cleanup_(suppressions_deinit) struct suppressions s = { 0 };
	_cleanup_(xfreep) char *path = file_with("race:x\nnonsense\n");
	struct err *err = suppressions_load(&s, path);

	cr_assert(err);
	cr_expect(strstr(err_message(err), "line 2"));
	err_free(err);
	unlink(path);
}

/* ---- reports of others ---- */

static void read_fixture(const char *name, struct race_reports *ret)
{
	_cleanup_(xfreep) char *path = xasprintf("test/e2e/fixtures/races/%s", name);
	struct err *err = race_reports_read(path, ret);

	cr_assert_null(err, "%s", err ? err_message(err) : "");
}

Test(races, tsan_log)
{
	struct race_reports r = { 0 };

	if (!file_exists("test/e2e/fixtures/races/tsan.log"))
		cr_skip_test("not started in the project's folder");
	read_fixture("tsan.log", &r);
	cr_assert_eq(r.len, 2);
	cr_expect_eq(r.cut, 1);
	cr_expect_str_eq(r.data[0].object, "count");
	for (int i = 0; i < 2; i++) { /* the interceptor's frame has no line */
		cr_expect_str_eq(r.data[0].place[i].file, "/home/somebody/race-counter/main.c");
		cr_expect_str_eq(r.data[0].place[i].function, "adder(void*)");
		cr_expect_eq(r.data[0].place[i].line, 13);
		cr_expect_eq(r.data[0].place[i].column, 8);
		cr_expect(r.data[0].place[i].writes);
	}
	cr_expect_eq(r.data[1].place[0].line, 999);
	cr_expect_eq(r.data[1].place[0].column, 0);
	cr_expect(r.data[1].place[0].writes);
	cr_expect_not(r.data[1].place[1].writes);
	race_reports_deinit(&r);
}

Test(races, helgrind_xml)
{
	struct race_reports r = { 0 };

	if (!file_exists("test/e2e/fixtures/races/helgrind.xml"))
		cr_skip_test("not started in the project's folder");
	read_fixture("helgrind.xml", &r);
	cr_assert_eq(r.len, 1);
	cr_expect_eq(r.nameless, 1);
	cr_expect_eq(r.cut, 1);
	cr_expect_str_eq(r.data[0].place[0].function, "adder<int>");
	cr_expect_str_eq(r.data[0].place[0].file, "/tmp/race-counter/main.c");
	cr_expect_eq(r.data[0].place[1].line, 14);
	race_reports_deinit(&r);
}

/* Every beginning of a log is a log. */
Test(races, logs_cut_anywhere)
{
	static const char *const names[] = { "test/e2e/fixtures/races/tsan.log",
					     "test/e2e/fixtures/races/helgrind.xml" };

	for (size_t f = 0; f < ARRAY_SIZE(names); f++) {
		_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

		if (!file_exists(names[f]))
			cr_skip_test("not started in the project's folder");
		cr_assert_null(file_read(names[f], &text));
		for (size_t n = 0; n <= text.len; n++) {
			struct race_reports r = { 0 };

			reports_from_tsan(text.data, n, &r);
			reports_from_helgrind(text.data, n, &r);
			race_reports_deinit(&r);
		}
	}
}

Test(races, std_trace)
{
	static const char ordered[] = "T0|fork(T1)|1\nT0|acq(L0)|2\nT0|w(V0)|3\nT0|rel(L0)|4\n"
				      "T1|acq(L0)|5\nT1|r(V0)|6\nT1|rel(L0)|7\n";
	static const char racing[] =
		"T0|fork(T1)|1\nT0|w(V0)|a.c:3\nT1|r(V0)|b.c:6\nT0|join(T1)|8\n"
		"T0|r(V0)|9\n";
	struct race_reports r = { 0 };
	struct err *err;

	cr_assert_null(reports_from_std(ordered, strlen(ordered), &r));
	cr_expect_eq(r.len, 0);
	cr_assert_null(reports_from_std(racing, strlen(racing), &r));
	cr_assert_eq(r.len, 1);
	cr_expect_str_eq(r.data[0].place[0].file, "a.c");
	cr_expect_eq(r.data[0].place[1].line, 6);
	race_reports_deinit(&r);
	err = reports_from_std("T0|x(V0)|1", 10, &r);
	cr_assert(err);
	cr_expect(strstr(err_message(err), "line 1"));
	err_free(err);
}

Test(races, same_file)
{
	cr_expect(report_same_file("a.c", "src/a.c"));
	cr_expect(report_same_file("./src/a.c", "/home/u/src/a.c"));
	cr_expect(report_same_file("/build/1/a.c", "/build/2/a.c"));
	cr_expect_not(report_same_file("b/a.c", "c/a.c"));
	cr_expect_not(report_same_file("a.c", "ba.c"));
}

/* ---- endings ---- */

static struct ending ending(bool failed, const char *out, int exit_code)
{
	return (struct ending){ .run = { .outcome =
						 failed ? PLAIT_OUTCOME_ASSERT : PLAIT_OUTCOME_PASS,
					 .exit_code = exit_code },
				.failed = failed,
				.out = (char *)out,
				.errors = (char *)"" };
}

Test(races, endings)
{
	struct ending pass = ending(false, "1\n", 0), other = ending(false, "2\n", 0);
	struct ending status = ending(false, "1\n", 1), fail = ending(true, "", 0);
	struct ending open = pass;

	open.run.outcome = PLAIT_OUTCOME_UNKNOWN;
	cr_expect_eq(ending_compare(&pass, &pass), DIFFERENCE_NONE);
	cr_expect_eq(ending_compare(&pass, &other), DIFFERENCE_OUTPUT);
	cr_expect_eq(ending_compare(&pass, &status), DIFFERENCE_OUTPUT);
	cr_expect_eq(ending_compare(&pass, &fail), DIFFERENCE_FAILURE);
	cr_expect_eq(ending_compare(&fail, &fail), DIFFERENCE_BOTH);
	cr_expect_eq(ending_compare(&pass, &open), DIFFERENCE_UNKNOWN);
}

/* ---- schedules ---- */

Test(races, events_of_a_thread)
{
	struct decision d[] = { { 2, DECISION_SWITCH, 1 },
				{ 5, DECISION_SWITCH, 0 },
				{ 5, DECISION_CHOICE, 1 },
				{ 6, DECISION_SWITCH, 1 } };
	struct schedule s = { .decisions = { .data = d, .len = 4, .cap = 4 } };

	/* steps: 0 0 1 1 1 0 1 1 ... */
	cr_expect_eq(schedule_events(&s, 0, 2), 2);
	cr_expect_eq(schedule_events(&s, 0, 5), 2);
	cr_expect_eq(schedule_events(&s, 0, 6), 3);
	cr_expect_eq(schedule_events(&s, 1, 4), 2);
	cr_expect_eq(schedule_events(&s, 1, 8), 5);
	cr_expect_eq(schedule_prefix(&s, 3), 0, "the switch to step 3 is not decided");
	cr_expect_eq(schedule_prefix(&s, 4), 1);
	cr_expect_eq(schedule_prefix(&s, 6), 1);
}

/* ---- baselines ---- */

Test(races, baseline)
{
	_cleanup_(xfreep) char *path = file_with(
		"{\"races\":[{\"bucket\":\"x|f\",\"verdict\":\"output-differs\"},"
		"{\"bucket\":\"y|f\",\"verdict\":\"k-witness-harmless\"},{\"bucket\":7}]}");
	struct race races[] = { { .bucket = "x|f", .verdict = RACE_OUTPUT_DIFFERS },
				{ .bucket = "y|f", .verdict = RACE_SPEC_VIOLATED },
				{ .bucket = "z|f", .verdict = RACE_HARMLESS } };
	struct races_result r = { .races = { .data = races, .len = 3, .cap = 3 } };
	struct err *err;

	cr_assert_null(baseline_apply(path, &r));
	cr_expect(races[0].known);
	cr_expect_not(races[1].known, "it became worse");
	cr_expect_not(races[2].known);
	unlink(path);
	free(path);
	path = file_with("[]");
	err = baseline_apply(path, &r);
	cr_expect(err);
	err_free(err);
	unlink(path);
}
