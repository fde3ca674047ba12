#include "suite/framework.h"
#include "base/strbuf.h"
#include "suite/suite.h"

#include <criterion/criterion.h>

static void add(struct suite_results *r, enum verdict v, bool known)
{
	vec_push(r, (struct suite_result){ .verdict = v, .known = known });
}

Test(suite, status)
{
	struct suite_results r = { 0 };

	cr_assert_eq(suite_status(&r), 0);
	add(&r, VERDICT_SINGLE, false);
	add(&r, VERDICT_SKIPPED, false);
	add(&r, VERDICT_FAILS, true);
	cr_assert_eq(suite_status(&r), 0, "what is known fails nothing");
	add(&r, VERDICT_UNCONTROLLED, false);
	cr_assert_eq(suite_status(&r), 4);
	add(&r, VERDICT_FAILS, false);
	cr_assert_eq(suite_status(&r), 1);
	vec_deinit(&r);
}

Test(suite, a_line_for_the_shell)
{
	struct suite_test t = { .folder = "it's here" };
	struct suite_result r = { .test = &t, .plait = "a b.plait" };
	struct strbuf sb = { 0 };

	words_push(&t.environment, "CK_RUN_CASE=Other one");
	words_push(&t.environment, "EMPTY=");
	suite_command(&r, "replay", &sb);
	cr_assert_str_eq(strbuf_str(&sb), "cd 'it'\\''s here' && CK_RUN_CASE='Other one' EMPTY= "
					  "unplait replay 'a b.plait'");
	words_deinit(&t.environment);
	strbuf_deinit(&sb);
}

static void said(const char *program_marker, const char *text, const char *file, unsigned line,
		 const char *message)
{
	struct framework f = { .failed = program_marker };
	char *got_file, *got_message;
	unsigned got_line;

	cr_assert(framework_said(&f, text, &got_message, &got_file, &got_line), "%s", text);
	cr_assert_str_eq(got_file, file);
	cr_assert_eq(got_line, line);
	cr_assert_str_eq(got_message, message);
	free(got_file);
	free(got_message);
}

Test(suite, what_a_test_said)
{
	struct framework f = { .failed = ": Failure" };
	unsigned line;
	char *file, *message;

	said(": Failure",
	     "[ RUN      ] Sum.Lost\ndir/t.cc:10: Failure\nExpected equality:\n  2\n[  FAILED  ] "
	     "Sum.Lost\n",
	     "dir/t.cc", 10, "Failure\nExpected equality:\n  2");
	said(": FAILED:",
	     "-----\nc2.cc:5: FAILED:\n  REQUIRE( n==2 )\nwith expansion:\n  1 == 2\n\nmore",
	     "c2.cc", 5, "FAILED:\n  REQUIRE( n==2 )\nwith expansion:\n  1 == 2");
	said(": ERROR:", "dt.cc:5: ERROR: CHECK( n==2 ) is NOT correct!", "dt.cc", 5,
	     "ERROR: CHECK( n==2 ) is NOT correct!");
	said(":F:", "0%: Checks: 1\nck.c:5:F:Core:two:0: Assertion 'n == 2' failed\n", "ck.c", 5,
	     "F:Core:two:0: Assertion 'n == 2' failed");
	said(": error:", "bo.cc(5): error: in \"two\": check n == 2 has failed\n", "bo.cc", 5,
	     "error: in \"two\": check n == 2 has failed");
	cr_assert_not(framework_said(&f, "a: Failure of another kind\n", &message, &file, &line));
	cr_assert_not(framework_said(&f, NULL, &message, &file, &line));
}
