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
