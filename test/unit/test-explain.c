#include "base/vec.h"
#include "explain/cure.h"
#include "explain/pairs.h"
#include "explain/projection.h"
#include "unplait/abi.h"

#include <criterion/criterion.h>

/* t: thread, k: event kind, site, address, value */
static void add(struct steps *s, uint32_t t, uint32_t k, uint32_t site, uint64_t address,
		uint64_t value)
{
	uint32_t index = 0;

	for (size_t i = 0; i < s->len; i++)
		index += s->data[i].thread == t;
	vec_push(s, (struct step){ .thread = t,
				   .index = index,
				   .kind = k,
				   .site = site,
				   .address = address,
				   .value = value,
				   .size = 4 });
	s->nthreads = MAX(s->nthreads, t + 1);
}

#define R PLAIT_EV_READ
#define W PLAIT_EV_WRITE

Test(steps, link_finds_the_last_writer)
{
	struct steps s = { 0 };

	add(&s, 0, W, 1, 64, 1);
	add(&s, 0, W, 2, 72, 2);
	add(&s, 1, R, 3, 64, 1);
	add(&s, 1, R, 4, 128, 0);
	steps_link(&s);
	cr_assert_eq(s.data[2].source, 0);
	cr_assert_eq(s.data[3].source, STEP_NONE);
	cr_assert_eq(steps_switches(&s), 1);
	steps_deinit(&s);
}

Test(steps, neighbours_in_a_word_are_not_each_others_writers)
{
	struct steps s = { 0 };

	add(&s, 0, W, 1, 64, 1);
	add(&s, 0, W, 2, 68, 2);
	add(&s, 1, R, 3, 64, 1);
	add(&s, 1, R, 4, 66, 1); /* across both: the later one */
	steps_link(&s);
	cr_assert_eq(s.data[2].source, 0);
	cr_assert_eq(s.data[3].source, 1);
	steps_deinit(&s);
}

Test(projection, lost_update_keeps_only_the_race)
{
	struct steps f = { 0 }, p = { 0 };
	struct projection out;
	size_t shown = 0;

	for (int i = 0; i < 50; i++) { /* a common prefix on another object */
		add(&f, 0, W, 9, 256, (uint64_t)i);
		add(&p, 0, W, 9, 256, (uint64_t)i);
	}
	add(&f, 1, R, 1, 64, 0), add(&f, 2, R, 1, 64, 0), add(&f, 1, W, 2, 64, 1),
		add(&f, 2, W, 2, 64, 1);
	add(&f, 0, R, 3, 64, 1);
	add(&p, 1, R, 1, 64, 0), add(&p, 1, W, 2, 64, 1), add(&p, 2, R, 1, 64, 1),
		add(&p, 2, W, 2, 64, 2);
	add(&p, 0, R, 3, 64, 2);
	steps_link(&f);
	steps_link(&p);
	projection_make(&f, &p, 0, &out);
	for (size_t i = 0; i < 50; i++)
		cr_assert_eq(out.show_failing[i], 0, "the common prefix is dropped");
	for (size_t i = 0; i < f.len; i++)
		shown += out.show_failing[i] != 0;
	cr_assert_leq(shown, 5);
	cr_assert(out.show_failing[51] & PROJECT_FLOW, "the stale read is the point");
	cr_assert(out.show_failing[51] & PROJECT_REORDERED);
	cr_assert(out.show_failing[52] & PROJECT_REORDERED, "against the write that came too late");
	cr_assert(out.show_failing[54] & PROJECT_FAILURE);
	cr_assert_geq(out.nflows, 2);
	projection_deinit(&out);
	steps_deinit(&f);
	steps_deinit(&p);
}

Test(projection, diff_survives_extra_steps)
{
	struct steps f = { 0 }, p = { 0 };
	struct projection out;

	add(&f, 0, R, 1, 64, 0), add(&f, 0, R, 2, 72, 0), add(&f, 0, R, 3, 80, 0),
		add(&f, 0, W, 4, 88, 1);
	add(&p, 0, R, 1, 64, 0), add(&p, 0, R, 3, 80, 0), add(&p, 0, R, 5, 96, 0),
		add(&p, 0, W, 4, 88, 1);
	steps_link(&f);
	steps_link(&p);
	projection_make(&f, &p, STEP_NONE, &out);
	cr_assert_eq(out.twin_of_failing[0], 0);
	cr_assert_eq(out.twin_of_failing[1], STEP_NONE);
	cr_assert_eq(out.twin_of_failing[2], 1);
	cr_assert_eq(out.twin_of_failing[3], 3);
	cr_assert(out.show_failing[1] & PROJECT_ONLY_HERE);
	projection_deinit(&out);
	steps_deinit(&f);
	steps_deinit(&p);
}

/* t1 reads 0, t2 reads 0, t1 writes 1, t2 writes 1: the update of t1 is lost. */
static void lost_update(struct steps *f, struct steps *p)
{
	add(f, 1, R, 1, 64, 0), add(f, 2, R, 1, 64, 0), add(f, 1, W, 2, 64, 1),
		add(f, 2, W, 2, 64, 1);
	add(p, 1, R, 1, 64, 0), add(p, 1, W, 2, 64, 1), add(p, 2, R, 1, 64, 1),
		add(p, 2, W, 2, 64, 2);
	steps_link(f);
	steps_link(p);
}

Test(pairs, nearest_to_the_failure_first)
{
	struct steps f = { 0 }, p = { 0 };
	struct step_pairs pairs;

	lost_update(&f, &p);
	pairs_find(&f, &pairs);
	cr_assert_geq(pairs.len, 2);
	cr_assert_eq(pairs.data[0].second, 3);
	cr_assert_eq(pairs.data[0].first, 2, "the two writes");
	for (size_t i = 1; i < pairs.len; i++)
		cr_assert_leq(pairs.data[i].about, pairs.data[i - 1].about);
	vec_deinit(&pairs);
	steps_deinit(&f);
	steps_deinit(&p);
}

Test(pairs, sections_of_one_lock_are_turned_round_as_a_whole)
{
	struct steps f = { 0 };
	struct step_pairs pairs;

	add(&f, 1, PLAIT_EV_LOCK, 1, 8, 0), add(&f, 1, W, 2, 64, 1),
		add(&f, 1, PLAIT_EV_UNLOCK, 3, 8, 0);
	add(&f, 2, PLAIT_EV_LOCK, 1, 8, 0), add(&f, 2, R, 4, 64, 1),
		add(&f, 2, PLAIT_EV_UNLOCK, 3, 8, 0);
	steps_link(&f);
	pairs_find(&f, &pairs);
	for (size_t i = 0; i < pairs.len; i++) {
		cr_assert_eq(pairs.data[i].first, 0);
		cr_assert_eq(pairs.data[i].second, 3);
	}
	cr_assert_geq(pairs.len, 1);
	vec_deinit(&pairs);
	steps_deinit(&f);
}

Test(cure, lost_update_wants_one_atomic_block)
{
	struct alternate alternate = { .found = true, .pair = { 1, 2, 2 } };
	struct steps f = { 0 };
	struct projection projection;
	struct cures cures;

	lost_update(&f, &alternate.passing);
	projection_make(&f, &alternate.passing, STEP_NONE, &projection);
	cures_find(&f, &alternate, &projection, false, &cures);
	cr_assert_geq(cures.len, 2);
	cr_assert_eq(cures.data[0].kind, BUG_ATOMICITY);
	cr_assert_eq(f.data[cures.data[0].from].site, 1);
	cr_assert_eq(f.data[cures.data[0].to].site, 2);
	cr_assert_eq(cures.data[cures.len - 1].kind, BUG_ORDER, "orders come last");
	vec_deinit(&cures);
	projection_deinit(&projection);
	steps_deinit(&f);
	steps_deinit(&alternate.passing);
}

/* A write, then two reads by the same thread around another's: harmless. A read, the other's write,
 * a read: not. */
Test(cure, only_what_cannot_be_put_in_a_row_should_be_one_block)
{
	struct alternate alternate = { .found = true, .pair = { 2, 3, 3 } };
	struct steps f = { 0 };
	struct projection projection;
	struct cures cures;

	add(&f, 0, R, 1, 64, 0), add(&f, 1, R, 5, 64, 0), add(&f, 1, W, 2, 64, 7),
		add(&f, 0, R, 3, 64, 7), add(&f, 1, R, 4, 64, 7);
	steps_link(&f);
	add(&alternate.passing, 0, R, 1, 64, 0), add(&alternate.passing, 0, R, 3, 64, 0),
		add(&alternate.passing, 1, R, 5, 64, 0), add(&alternate.passing, 1, W, 2, 64, 7),
		add(&alternate.passing, 1, R, 4, 64, 7);
	steps_link(&alternate.passing);
	projection_make(&f, &alternate.passing, STEP_NONE, &projection);
	cures_find(&f, &alternate, &projection, false, &cures);
	cr_assert_eq(f.data[cures.data[0].from].site, 1);
	cr_assert_eq(f.data[cures.data[0].to].site, 3);
	for (size_t i = 0; i < cures.len; i++)
		cr_assert(cures.data[i].kind == BUG_ORDER || f.data[cures.data[i].from].site != 2,
			  "write, read of the other, read: no reason for a block");
	vec_deinit(&cures);
	projection_deinit(&projection);
	steps_deinit(&f);
	steps_deinit(&alternate.passing);
}
