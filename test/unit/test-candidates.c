/* The ranking of causes: one rule over all the evidence. Properties over random evidence, and the cases
 * that were told wrongly once. */
#include "explain/rank/candidate.h"
#include "explain/rank/plan.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 20000 };

static uint64_t seed;

static uint64_t below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

static struct cure_trial any_trial(uint64_t runs)
{
	struct cure_trial t = { .runs = runs, .failed = below(runs + 1) };

	t.other = below(runs - t.failed + 1) * (below(3) == 0);
	t.dropped = below(12) == 0;
	return t;
}

static struct candidate any_candidate(uint32_t plan)
{
	struct candidate c = { .source = (enum candidate_source)below(4),
			       .plan = plan,
			       .evidence = { .shows = (enum showing)below(3) } };
	struct evidence *e = &c.evidence;

	if (c.source == CANDIDATE_CURE)
		e->shows = SHOWS_NOTHING;
	c.kind = below(2) ? BUG_ATOMICITY : BUG_ORDER;
	c.cure.kind = c.kind;
	c.cure.nconstraints = 1;
	e->seen = (struct cure_seen){ .failing = below(30), .passing = below(30) };
	e->seen.broken_failing = below(e->seen.failing + 1);
	e->seen.broken_passing = below(e->seen.passing + 1);
	e->before = any_trial(100);
	e->before.dropped = false;
	if (below(4))
		e->after = any_trial(100);
	e->weeded = below(5) == 0;
	e->removes = below(5) == 0;
	e->contradicted = below(8) == 0;
	e->of_locks = below(8) == 0;
	return c;
}

/* ---- the rule is an order ---- */

Test(candidates, the_rule_is_a_total_order)
{
	seed = 1;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct candidate a = any_candidate(1), b = any_candidate(2), c = any_candidate(3);

		cr_assert_neq(candidate_compare(&a, &b), 0);
		cr_assert_eq(candidate_compare(&a, &b) < 0, candidate_compare(&b, &a) > 0);
		if (candidate_compare(&a, &b) < 0 && candidate_compare(&b, &c) < 0)
			cr_assert_lt(candidate_compare(&a, &c), 0, "round %u", i);
	}
}

Test(candidates, who_found_what_first_does_not_matter)
{
	seed = 2;
	for (unsigned i = 0; i < ROUNDS / 20; i++) {
		struct candidates all = { 0 }, mixed = { 0 };

		for (uint32_t k = 0; k < 8; k++)
			vec_push(&all, any_candidate(k));
		for (size_t k = 0; k < all.len; k++)
			vec_push(&mixed, all.data[(k * 3 + 5) % all.len]);
		candidates_rank(&all);
		candidates_rank(&mixed);
		for (size_t k = 0; k < all.len; k++)
			cr_assert_eq(all.data[k].plan, mixed.data[k].plan, "round %u", i);
		vec_deinit(&all);
		vec_deinit(&mixed);
	}
}

/* ---- what may be the headline ---- */

Test(candidates, a_cause_never_stands_behind_what_is_none)
{
	seed = 3;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct candidate a = any_candidate(1), b = any_candidate(2);

		if (candidate_is_cause(&a) && !candidate_is_cause(&b))
			cr_assert_lt(candidate_compare(&a, &b), 0, "round %u", i);
	}
}

Test(candidates, nothing_is_told_against_its_evidence)
{
	seed = 4;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct candidate c = any_candidate(1);
		const struct evidence *e = &c.evidence;

		if (!candidate_is_cause(&c))
			continue;
		cr_assert(!e->contradicted);
		if (e->shows == SHOWS_ALL)
			continue;
		cr_assert(!e->removes, "round %u", i);
		if (!e->after.runs || !e->before.failed)
			continue;
		cr_assert(!e->weeded && !e->after.dropped, "round %u", i);
		cr_assert_leq(e->after.failed * 2, e->before.failed, "round %u", i);
		if (c.source == CANDIDATE_CURE && e->seen.failing && e->seen.passing)
			cr_assert_geq(cure_separation(&e->seen), SEPARATION_WEAK, "round %u", i);
	}
}

/* One failing schedule less with the cure does not make it a worse explanation. */
Test(candidates, fewer_failures_are_no_worse)
{
	seed = 5;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct candidate a = any_candidate(1), b;

		/* what mends more than it may is no cause, and one failure more may hide that */
		if (!a.evidence.after.failed ||
		    a.evidence.seen.broken_failing < a.evidence.seen.failing)
			continue;
		b = a;
		b.evidence.after.failed--;
		cr_assert_leq(candidate_standing(&b), candidate_standing(&a), "round %u", i);
	}
}

/* A schedule that passes and breaks it speaks against it. */
Test(candidates, a_passing_schedule_that_breaks_it_speaks_against_it)
{
	seed = 6;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct candidate a = any_candidate(1), b;

		/* a trial is judged more kindly when the cure separates perfectly */
		if (a.evidence.seen.broken_passing == a.evidence.seen.passing ||
		    a.evidence.seen.broken_failing > a.evidence.seen.failing)
			continue;
		b = a;
		b.evidence.seen.broken_passing++;
		cr_assert_geq(candidate_standing(&b), candidate_standing(&a), "round %u", i);
	}
}

/* ---- what was told wrongly ---- */

static struct candidate cured(enum bug_kind kind, uint64_t failing, uint64_t passing)
{
	struct candidate c = { .source = CANDIDATE_CURE,
			       .kind = kind,
			       .cure = { .kind = kind, .nconstraints = 1 },
			       .evidence = { .seen = { 50, failing, 50, passing },
					     .before = { .runs = 200, .failed = 60 },
					     .after = { .runs = 200 } } };

	return c;
}

/* "The signal woke another thread" was told after waking all had not helped. */
Test(candidates, a_guess_that_did_not_help_is_not_told)
{
	struct candidate guess = { .source = CANDIDATE_STUCK,
				   .kind = BUG_LOST_WAKEUP,
				   .evidence = { .shows = SHOWS_SIGNS,
						 .before = { .runs = 200, .failed = 60 },
						 .after = { .runs = 40, .failed = 12 },
						 .weeded = true } };

	cr_assert(!candidate_is_cause(&guess));
	guess.evidence.after = (struct cure_trial){ 0 };
	cr_assert(candidate_is_cause(&guess));
}

Test(candidates, signs_come_after_a_cure_that_goes_with_the_failure)
{
	struct candidate block = cured(BUG_ATOMICITY, 50, 2);
	struct candidate signs = { .source = CANDIDATE_STUCK,
				   .evidence = { .shows = SHOWS_SIGNS } };
	struct candidate shown = { .source = CANDIDATE_STUCK, .evidence = { .shows = SHOWS_ALL } };

	cr_assert_lt(candidate_compare(&block, &signs), 0);
	cr_assert_gt(candidate_compare(&block, &shown), 0);
	signs.evidence.contradicted = shown.evidence.contradicted = true;
	cr_assert(!candidate_is_cause(&signs) && !candidate_is_cause(&shown));
}

/* Where no other schedule fails, nothing can be tested: what differs nearest is a guess. */
Test(candidates, nearness_alone_is_no_cause)
{
	struct candidate c = { .source = CANDIDATE_CURE, .kind = BUG_ATOMICITY };

	cr_assert_eq(candidate_standing(&c), STANDING_NEAR);
	cr_assert(!candidate_is_cause(&c));
	c.evidence.before = (struct cure_trial){ .runs = 14 };
	cr_assert(!candidate_is_cause(&c));
}

/* "A barrier is missing" was told of an order that a third of the failing schedules kept. */
Test(candidates, who_mends_what_does_not_break_it_only_keeps_threads_apart)
{
	struct candidate c = cured(BUG_ORDER, 34, 0);

	cr_assert(!candidate_is_cause(&c));
	c.evidence.after.failed = 20; /* as many as keep to it */
	cr_assert(candidate_is_cause(&c));
	c = cured(BUG_ATOMICITY, 48, 0);
	cr_assert(candidate_is_cause(&c));
}

/* A block inside a vector made one crash rarer; the program crashed elsewhere as often as before. */
Test(candidates, one_face_of_a_failure_is_not_the_failure)
{
	struct candidate c = cured(BUG_ATOMICITY, 44, 0);

	c.evidence.before.other = 60;
	c.evidence.after.failed = 15;
	c.evidence.after.other = 50;
	cr_assert(!candidate_is_cause(&c));
	c.evidence.after.other = 20;
	cr_assert(candidate_is_cause(&c));
}

Test(candidates, an_order_that_passing_schedules_break_is_no_cause)
{
	struct candidate order = cured(BUG_ORDER, 50, 30), block = cured(BUG_ATOMICITY, 50, 30);

	cr_assert(!candidate_is_cause(&order)); /* 0.4: enough for a block only */
	cr_assert(candidate_is_cause(&block));
	block = cured(BUG_ATOMICITY, 50, 45);
	cr_assert(!candidate_is_cause(&block));
}

Test(candidates, an_order_of_locks_does_not_say_why_threads_wait)
{
	struct candidate order = cured(BUG_ORDER, 50, 0);

	cr_assert(candidate_is_cause(&order));
	order.evidence.of_locks = true;
	cr_assert_eq(candidate_standing(&order), STANDING_WEAK);
}

Test(candidates, a_cure_that_removes_behaviour_is_none)
{
	struct candidate c = cured(BUG_ORDER, 50, 0);

	cr_assert_eq(candidate_standing(&c), STANDING_CURED);
	c.evidence.removes = true;
	cr_assert_eq(candidate_standing(&c), STANDING_REJECTED);
}

Test(candidates, what_never_fails_says_nothing_about_a_cure)
{
	struct candidate c = cured(BUG_ATOMICITY, 0, 0);

	c.evidence.before.failed = 0;
	c.evidence.seen = (struct cure_seen){ 0 };
	cr_assert_eq(evidence_result(&c.evidence), TRIAL_NONE);
	cr_assert_eq(candidate_standing(&c), STANDING_NEAR);
}

Test(candidates, the_plan_decides_between_equals)
{
	struct candidate a = cured(BUG_ATOMICITY, 50, 0), b = a;

	b.plan = a.plan + 1;
	cr_assert_lt(candidate_compare(&a, &b), 0);
	a.evidence.after.failed = 1; /* good, and the other is perfect */
	cr_assert_gt(candidate_compare(&a, &b), 0);
}

/* ---- the order of trials ---- */

static struct planned_cure planned(enum bug_kind kind, uint32_t cost, uint64_t passing)
{
	return (struct planned_cure){ .cure = { .kind = kind, .cost = cost, .nconstraints = 1 },
				      .seen = { 50, 50, 50, passing } };
}

Test(plan, what_separates_comes_first_and_the_cheapest_of_a_group)
{
	struct planned_cures all = { 0 };

	vec_push(&all, planned(BUG_ATOMICITY, 1, 40)); /* cheap, and broken in passing runs, too */
	vec_push(&all, planned(BUG_ATOMICITY, 30, 0));
	vec_push(&all, planned(BUG_ATOMICITY, 20, 2));
	plan_make(&all);
	cr_assert_eq(all.data[0].cure.cost, 20);
	cr_assert_eq(all.data[1].cure.cost, 30);
	cr_assert_eq(all.data[2].cure.cost, 1);
	cr_assert_eq(all.data[0].group, all.data[1].group);
	cr_assert_lt(all.data[1].group, all.data[2].group);
	vec_deinit(&all);
}

Test(plan, a_lock_that_one_side_lacks_is_worth_something)
{
	struct planned_cures all = { 0 };
	struct planned_cure with = planned(BUG_ATOMICITY, 30, 9);

	with.lacks_lock = true;
	vec_push(&all, planned(BUG_ATOMICITY, 10, 9));
	vec_push(&all, with);
	plan_make(&all);
	cr_assert_eq(all.data[0].group, all.data[1].group, "a small bonus does not decide alone");
	vec_deinit(&all);
}
