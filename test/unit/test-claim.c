/* What may be claimed: "every schedule was explored" only if nothing was left out. */
#include "run/claim.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "run/run.h"

#include <criterion/criterion.h>
#include <string.h>

static struct claim ended_with(const struct run_result *r)
{
	struct claim c = { .ended = true };

	claim_add_run(&c, r);
	return c;
}

/* A run that was cut short hides what would have followed: its list of decisions was full or did not
 * fit, its steps or its time were used up. */
Test(claim, a_run_with_a_dropped_decision_spoils_it)
{
	static const uint32_t cut[] = { PLAIT_END_BUDGET, PLAIT_END_DIVERGED, PLAIT_END_FULL,
					PLAIT_END_INFEASIBLE, PLAIT_END_BROKEN };
	static const uint32_t whole[] = { PLAIT_END_RUNNING, PLAIT_END_EXIT, PLAIT_END_DEADLOCK,
					  PLAIT_END_MISUSE };
	struct run_result late = { .end = PLAIT_END_EXIT, .timed_out = true };
	struct claim c = ended_with(&late);

	cr_assert(!claim_is_complete(&c));
	for (size_t i = 0; i < ARRAY_SIZE(cut); i++) {
		struct run_result r = { .end = cut[i] };

		c = ended_with(&r);
		cr_assert(!claim_is_complete(&c), "end %u", cut[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++) {
		struct run_result r = { .end = whole[i] };

		c = ended_with(&r);
		cr_assert(claim_is_complete(&c), "end %u", whole[i]);
	}
}

/* Every gap is named, and none but the bound leaves the claim whole. */
Test(claim, every_gap_has_its_sentence)
{
	for (uint32_t gap = CLAIM_UNCONTROLLED; gap <= CLAIM_ALIASES; gap <<= 1) {
		struct claim c = { .ended = true, .gaps = gap };
		struct strbuf text = { 0 };

		if (gap == 128) /* no gap has this number */
			continue;
		claim_describe_gaps(&c, "; ", &text);
		cr_assert(strbuf_str(&text)[0], "gap %u", gap);
		cr_assert(!claim_is_complete(&c), "gap %u", gap);
		claim_describe(&c, &text);
		cr_assert(strstr(strbuf_str(&text), "of what is covered"), "gap %u", gap);
		strbuf_deinit(&text);
	}
}

Test(claim, a_search_that_did_not_end_claims_nothing)
{
	struct claim c = { 0 };
	struct strbuf text = { 0 };

	claim_describe(&c, &text);
	cr_assert(!claim_is_complete(&c));
	cr_assert_str_empty(strbuf_str(&text));
	strbuf_deinit(&text);
}
