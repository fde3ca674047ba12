#include "base/vec.h"
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
