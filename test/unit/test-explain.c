#include "base/vec.h"
#include "explain/show/cause.h"
#include "explain/cure/cure.h"
#include "explain/cure/finder.h"
#include "explain/show/focus.h"
#include "explain/cure/observe.h"
#include "explain/find/guards.h"
#include "explain/find/pairs.h"
#include "explain/find/projection.h"
#include "explain/find/search.h"
#include "explain/find/stuck.h"
#include "unplait/abi.h"

#include <criterion/criterion.h>
#include <string.h>

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

/* A block from site 1 to site 2 that site 2 of another thread must not come into. */
static struct cure update_block(void)
{
	struct plait_pattern a = { .thread = PLAIT_ANY, .site_low = 1, .site_high = 1 };
	struct plait_pattern b = { .thread = PLAIT_ANY, .site_low = 2, .site_high = 2 };

	return (struct cure){ .kind = BUG_ATOMICITY,
			      .constraints = { { .kind = PLAIT_CONSTRAINT_ATOMIC, .a = a, .b = b },
					       { .kind = PLAIT_CONSTRAINT_ATOMIC,
						 .flags = PLAIT_CONSTRAINT_SINGLE,
						 .a = b,
						 .b = b } },
			      .block = { 0, 1 },
			      .nconstraints = 2,
			      .from = 1,
			      .to = 3,
			      .intruder = 2,
			      .other_from = STEP_NONE };
}

Test(observe, a_block_is_broken_where_another_comes_between)
{
	struct cure c = update_block();
	struct steps f = { 0 }, p = { 0 };

	lost_update(&f, &p);
	cr_assert(cure_broken(&c, &f, &f, true));
	cr_assert_not(cure_broken(&c, &f, &p, false));
	steps_deinit(&f);
	steps_deinit(&p);
}

Test(observe, blocks_on_other_objects_do_not_meet)
{
	struct cure c = update_block();
	struct steps f = { 0 }, p = { 0 }, other = { 0 };

	lost_update(&f, &p);
	add(&other, 1, R, 1, 64, 0), add(&other, 2, R, 1, 72, 0), add(&other, 2, W, 2, 72, 1),
		add(&other, 1, W, 2, 64, 1);
	cr_assert_not(cure_broken(&c, &f, &other, false));
	other.data[1].address = other.data[2].address = 64;
	cr_assert(cure_broken(&c, &f, &other, false));
	steps_deinit(&f);
	steps_deinit(&p);
	steps_deinit(&other);
}

/* A look-up that finds what it looks for is followed by no insertion. */
Test(observe, a_block_that_never_ends_is_none)
{
	struct cure c = update_block();
	struct steps f = { 0 }, p = { 0 }, s = { 0 };

	lost_update(&f, &p);
	add(&s, 1, R, 1, 64, 0), add(&s, 2, R, 1, 64, 0), add(&s, 2, W, 2, 64, 1);
	cr_assert_not(cure_broken(&c, &f, &s, false), "thread 1 was content with what it read");
	cr_assert(cure_broken(&c, &f, &s, true), "or the failure came before its write");
	add(&s, 1, R, 1, 64, 0), add(&s, 1, W, 2, 64, 2);
	cr_assert_not(cure_broken(&c, &f, &s, false), "it looked again");
	steps_deinit(&f);
	steps_deinit(&p);
	steps_deinit(&s);
}

Test(observe, orders)
{
	struct cure c = update_block();
	struct steps s = { 0 }, late = { 0 }, example = { 0 };

	c.kind = BUG_ORDER;
	c.nconstraints = 1;
	c.constraints[0].kind = PLAIT_CONSTRAINT_BEFORE; /* 1 before 2 */
	add(&s, 1, W, 1, 64, 1), add(&s, 2, R, 2, 64, 1), add(&s, 1, W, 1, 64, 1);
	add(&late, 2, R, 2, 64, 1), add(&late, 1, W, 1, 64, 1);
	cr_assert_not(cure_broken(&c, &example, &s, false));
	cr_assert(cure_broken(&c, &example, &late, false));
	c.constraints[0].kind = PLAIT_CONSTRAINT_LATE; /* 2 after everything */
	cr_assert(cure_broken(&c, &example, &s, false), "thread 1 comes to 1 again");
	s.len--;
	cr_assert_not(cure_broken(&c, &example, &s, false));
	steps_deinit(&s);
	steps_deinit(&late);
}

Test(observe, separation_is_blind_to_how_often_it_fails)
{
	struct cure_seen always = { 10, 10, 1000, 0 }, serialises = { 10, 10, 1000, 950 };
	struct cure_seen nothing = { 10, 10, 0, 0 };

	cr_assert_float_eq(cure_separation(&always), 1, 1e-9);
	cr_assert_float_eq(cure_separation(&serialises), 0.05, 1e-9);
	cr_assert_eq(cure_separation(&nothing), 0);
}

/* The passing run differs somewhere else; the broken update is found all the same, and a block
 * whose end only the passing run shows. */
Test(cure, broken_blocks_are_found_anywhere)
{
	struct alternate alternate = { .found = true };
	struct steps f = { 0 };
	struct projection projection;
	struct cures cures;
	bool update = false, beyond = false;

	lost_update(&f, &alternate.passing);
	add(&f, 1, R, 7, 96, 0), add(&f, 2, W, 8, 96, 1);
	add(&alternate.passing, 1, R, 7, 96, 0), add(&alternate.passing, 1, W, 8, 96, 1);
	steps_link(&f);
	steps_link(&alternate.passing);
	projection_make(&f, &alternate.passing, STEP_NONE, &projection);
	cures_anywhere(&f, &alternate, &projection, &cures);
	for (size_t i = 0; i < cures.len; i++) {
		const struct cure *c = &cures.data[i];

		update |= f.data[c->from].site == 1 && !c->to_in_passing && f.data[c->to].site == 2;
		beyond |= f.data[c->from].site == 7 && c->to_in_passing &&
			  alternate.passing.data[c->to].site == 8;
	}
	cr_assert(update);
	cr_assert(beyond);
	vec_deinit(&cures);
	projection_deinit(&projection);
	steps_deinit(&f);
	steps_deinit(&alternate.passing);
}

/* Thread 1 looks at two variables, waits, and looks at the first one at the site `again`; thread 0 changes the
 * second one meanwhile. Is that a block with a wait that an `if` stands before? */
static bool waits_behind_an_if(uint32_t again)
{
	struct alternate alternate = { .found = true };
	struct steps f = { 0 };
	struct projection projection;
	struct cures cures = { 0 };
	bool ret;

	add(&f, 1, PLAIT_EV_LOCK, 1, 8, 0), add(&f, 1, R, 2, 64, 0), add(&f, 1, R, 3, 96, 0);
	add(&f, 1, PLAIT_EV_WAIT, 4, 700, 8), add(&f, 0, PLAIT_EV_LOCK, 5, 8, 0);
	add(&f, 0, W, 6, 96, 1), add(&f, 0, PLAIT_EV_BROADCAST, 7, 700, 0);
	add(&f, 0, PLAIT_EV_UNLOCK, 8, 8, 0), add(&f, 1, PLAIT_EV_WOKEN, 4, 700, 8);
	add(&f, 1, R, again, 64, 0), add(&f, 0, W, 9, 64, 1);
	steps_link(&f);
	for (size_t i = 0; i < f.len; i++)
		vec_push(&alternate.passing, f.data[i]);
	projection_make(&f, &alternate.passing, STEP_NONE, &projection);
	finder_add_block(&(struct finder){ &f, &alternate.passing, &projection, &cures, 8 }, 2, 9,
			 false, 5, BUG_MULTI_VARIABLE);
	ret = cures.len == 1 && cures.data[0].waits;
	cr_assert(ret || cures.len == 0);
	vec_deinit(&cures);
	projection_deinit(&projection);
	steps_deinit(&f);
	steps_deinit(&alternate.passing);
	return ret;
}

Test(cure, the_condition_of_a_loop_around_a_wait_is_looked_at_again)
{
	cr_assert(waits_behind_an_if(10));
	cr_assert_not(waits_behind_an_if(2), "that is where it came from");
}

Test(focus, consequences_are_left_out)
{
	struct alternate alternate = { .found = true, .pair = { 1, 2, 2 } };
	struct steps f = { 0 };
	struct projection projection;
	struct cure c = update_block();

	lost_update(&f, &alternate.passing);
	for (int i = 0; i < 20; i++) { /* who is first with other things changes with it */
		add(&f, 1, W, 20, 256, (uint64_t)i), add(&f, 2, R, 21, 256, (uint64_t)i);
		add(&alternate.passing, 2, R, 21, 256, 99);
		add(&alternate.passing, 1, W, 20, 256, (uint64_t)i);
	}
	add(&f, 0, R, 3, 64, 1), add(&alternate.passing, 0, R, 3, 64, 2);
	steps_link(&f);
	steps_link(&alternate.passing);
	projection_make(&f, &alternate.passing, 0, &projection);
	c.from = 0;
	c.to = 2;
	c.intruder = 1;
	cause_mark(&f, &alternate, &c, &projection);
	cr_assert(projection.show_failing[10], "it differs");
	cr_assert_geq(focus(&f, &alternate.passing, &projection), 20);
	for (size_t i = 4; i < 44; i++)
		cr_assert_eq(projection.show_failing[i], 0, "step %zu is not about the cause", i);
	for (size_t i = 0; i < 3; i++)
		cr_assert(projection.show_failing[i], "step %zu is the cause", i);
	cr_assert(projection.show_failing[44] & PROJECT_FAILURE);
	projection_deinit(&projection);
	steps_deinit(&f);
	steps_deinit(&alternate.passing);
}

/* Thread 1 clears a table (site 1, address 64) and says so (site 2, address 72); thread 2 fills it
 * (site 3) and says so (site 4). */
static void crossing(struct steps *s, const char *order)
{
	static const uint64_t address[] = { 0, 64, 72, 64, 72 };

	for (; *order; order++) {
		uint32_t site = (uint32_t)(*order - '0');

		add(s, site <= 2 ? 1 : 2, W, site, address[site], site);
	}
	steps_link(s);
}

Test(crossings, two_variables_are_crossed_in_one_way_only)
{
	struct alternate alternate = { .found = true };
	struct projection projection;
	struct steps f = { 0 };
	struct cures cures;

	crossing(&f, "1342");
	crossing(&alternate.passing, "1234");
	projection_make(&f, &alternate.passing, STEP_NONE, &projection);
	cures_crossing(&f, &alternate, &projection, &cures);
	cr_assert_eq(cures.len, 1);
	cr_assert_eq(f.data[cures.data[0].from].site, 1);
	cr_assert_eq(f.data[cures.data[0].to].site, 2);
	for (const char *const *order =
		     (const char *const[]){ "1342", "1324", "3142", "3412", "1234", "3124", NULL };
	     *order; order++) {
		struct steps s = { 0 };

		crossing(&s, *order);
		cr_assert_eq(cure_broken(&cures.data[0], &f, &s, false),
			     strcmp(*order, "1342") == 0, "%s", *order);
		steps_deinit(&s);
	}
	vec_deinit(&cures);
	projection_deinit(&projection);
	steps_deinit(&f);
	steps_deinit(&alternate.passing);
}

/* Site 2 is passed before the other thread comes: the engine would have ended the block there. */
Test(crossings, a_block_that_was_over_is_no_remedy)
{
	struct alternate alternate = { .found = true };
	struct projection projection;
	struct steps f = { 0 };
	struct cures cures;

	crossing(&f, "12342");
	crossing(&alternate.passing, "12234");
	projection_make(&f, &alternate.passing, STEP_NONE, &projection);
	cures_crossing(&f, &alternate, &projection, &cures);
	cr_assert_eq(cures.len, 0);
	vec_deinit(&cures);
	projection_deinit(&projection);
	steps_deinit(&f);
	steps_deinit(&alternate.passing);
}

/* ---- locks ---- */

enum { M = 500, OUTER = 600, X = 100 };

Test(guards, a_lock_that_one_thread_takes_is_no_rule)
{
	struct steps s = { 0 }, more = { 0 };
	struct guard g;

	add(&s, 0, PLAIT_EV_LOCK, 1, OUTER, 0);
	add(&s, 0, W, 2, X, 1);
	add(&s, 0, PLAIT_EV_UNLOCK, 3, OUTER, 0);
	add(&s, 1, W, 4, X, 2);
	cr_assert(guards_find(&s, 1, 3, &g), "nothing is known about other runs");
	cr_assert_eq(g.without, 3);
	add(&more, 0, PLAIT_EV_LOCK, 1, OUTER, 0);
	steps_mark_sole(&s, &s, &more);
	cr_assert(!guards_find(&s, 1, 3, &g));
	add(&more, 1, PLAIT_EV_LOCK, 1, OUTER, 0);
	steps_mark_sole(&s, &s, &more);
	cr_assert(guards_find(&s, 1, 3, &g));
	steps_deinit(&s);
	steps_deinit(&more);
}

Test(guards, a_common_lock_and_an_atomic_access_are_enough)
{
	struct steps s = { 0 };
	struct guard g;

	add(&s, 0, PLAIT_EV_LOCK, 1, OUTER, 0);
	add(&s, 0, PLAIT_EV_LOCK, 2, M, 0);
	add(&s, 0, W, 3, X, 1);
	add(&s, 0, PLAIT_EV_UNLOCK, 4, M, 0);
	add(&s, 0, PLAIT_EV_UNLOCK, 5, OUTER, 0);
	add(&s, 1, PLAIT_EV_LOCK, 6, M, 0);
	add(&s, 1, W, 7, X, 2);
	cr_assert(!guards_find(&s, 2, 6, &g));
	s.data[5].address = OUTER + 8; /* another lock: nothing in common */
	cr_assert(guards_find(&s, 2, 6, &g));
	s.data[5].kind = PLAIT_EV_UNLOCK; /* none at all */
	cr_assert(guards_find(&s, 2, 6, &g));
	s.data[6].kind = PLAIT_EV_ATOMIC_WRITE;
	cr_assert(!guards_find(&s, 2, 6, &g));
	steps_deinit(&s);
}

Test(guards, the_access_nearest_to_the_failure_comes_first)
{
	struct steps s = { 0 };
	struct guard g;

	add(&s, 1, PLAIT_EV_LOCK, 1, M, 0);
	add(&s, 1, W, 2, X, 1);
	add(&s, 1, W, 3, X + 8, 1);
	add(&s, 1, PLAIT_EV_UNLOCK, 4, M, 0);
	add(&s, 0, R, 5, X, 1);
	add(&s, 0, R, 6, X + 8, 1);
	cr_assert(guards_at_failure(&s, 0, &g));
	cr_assert_eq(g.without, 5);
	cr_assert_eq(g.lock, 0);
	cr_assert(guards_at_failure(&s, 1, &g), "the one who fails may be the one who holds it");
	cr_assert_eq(g.with, 2);
	steps_deinit(&s);
}

/* ---- waits ---- */

Test(stuck, a_signal_that_the_program_decides_about)
{
	struct steps s = { 0 }, passing = { 0 };
	struct stuck k = { .kind = STUCK_SILENT, .change = 0 };

	add(&s, 1, W, 7, X, 1); /* the count goes up, nobody is told: not the last one */
	add(&passing, 1, W, 7, X, 1);
	add(&passing, 2, W, 7, X, 2);
	cr_assert(!stuck_is_deliberate(&k, &s, &passing));
	add(&passing, 2, PLAIT_EV_SIGNAL, 8, 700, 0);
	cr_assert(stuck_is_deliberate(&k, &s, &passing));
	k.kind = STUCK_LOST;
	cr_assert(!stuck_is_deliberate(&k, &s, &passing));
	steps_deinit(&s);
	steps_deinit(&passing);
}

Test(guards, two_locks_of_one_place_are_not_one)
{
	struct steps s = { 0 };

	add(&s, 0, PLAIT_EV_LOCK, 1, M, 0);
	add(&s, 0, W, 2, X, 1);
	add(&s, 1, PLAIT_EV_LOCK, 1, M + 64, 0);
	add(&s, 1, W, 2, X, 2);
	cr_assert_eq(guards_differ(&s, 1, 3), 0);
	cr_assert_eq(guards_differ(&s, 1, 1), STEP_NONE, "one thread");
	s.data[2].site = 9; /* taken elsewhere: another purpose, perhaps */
	cr_assert_eq(guards_differ(&s, 1, 3), STEP_NONE);
	s.data[2].site = 1;
	s.data[2].address = M;
	cr_assert_eq(guards_differ(&s, 1, 3), STEP_NONE, "the same lock");
	steps_deinit(&s);
}

Test(stuck, a_join_with_a_lock_in_hand)
{
	struct steps s = { 0 };
	struct stuck k;

	add(&s, 0, PLAIT_EV_LOCK, 1, M, 0);
	add(&s, 1, PLAIT_EV_LOCK, 2, M, 0);
	s.data[1].pending = true;
	add(&s, 0, PLAIT_EV_JOIN, 3, 1, 0);
	s.data[2].pending = true;
	k = stuck_find(&s);
	cr_assert_eq(k.kind, STUCK_HOLDS);
	cr_assert_eq(k.wait, 2);
	cr_assert_eq(k.held, 0);
	cr_assert_eq(k.other, 1);
	s.data[0].address = M + 64; /* it holds another one: the join is not the reason */
	cr_assert_eq(stuck_find(&s).kind, STUCK_NOT);
	steps_deinit(&s);
}

/* One thread sets X at 5 and signals, changes it (again at 5, or at 6), and another then looks at it and
 * waits for ever. */
static enum stuck_kind set_twice(uint32_t site, uint64_t first, uint64_t second, uint64_t third)
{
	struct steps s = { 0 };
	enum stuck_kind kind;

	add(&s, 0, W, 5, X, first);
	add(&s, 0, W, 5, X, second);
	add(&s, 0, PLAIT_EV_SIGNAL, 7, 700, 0);
	add(&s, 0, W, site, X, third);
	add(&s, 1, PLAIT_EV_LOCK, 1, M, 0);
	add(&s, 1, R, 2, X, third);
	add(&s, 1, PLAIT_EV_WAIT, 3, 700, 0);
	s.data[6].pending = true;
	kind = stuck_find(&s).kind;
	steps_deinit(&s);
	return kind;
}

Test(stuck, doing_the_same_again_is_not_undoing_it)
{
	cr_assert_eq(set_twice(6, 0, 1, 0), STUCK_REUSED);
	cr_assert_eq(set_twice(5, 0, 1, 0), STUCK_REUSED, "back at what it was");
	cr_assert_eq(set_twice(6, 2, 0, 1), STUCK_REUSED, "done by something else");
	cr_assert_neq(set_twice(5, 8, 16, 24), STUCK_REUSED, "a queue is filled");
}

/* ---- the search for a passing run ---- */

struct late_mistake {
	uint64_t made; /* the step whose schedule fails whatever comes after */
	unsigned runs;
	uint64_t longest; /* start that was followed, and passed */
};

static struct err *run_late_mistake(void *context, const struct explain_request *request,
				    struct explain_result *ret)
{
	struct late_mistake *m = context;

	memset(ret, 0, sizeof(*ret));
	m->runs++;
	ret->failed = request->nconstraints || request->prefix_steps > m->made;
	if (ret->failed || !request->record)
		return NULL;
	m->longest = MAX(m->longest, request->prefix_steps);
	add(&ret->steps, 1, W, 9, X, 1); /* the other way round */
	add(&ret->steps, 0, W, 9, X, 2);
	steps_link(&ret->steps);
	return NULL;
}

/* Two threads take turns, thousands of times, after a mistake at the start. */
Test(search, a_long_run_that_went_wrong_early)
{
	struct late_mistake m = { .made = 37 };
	struct explain_runner runner = { .run = run_late_mistake, .context = &m };
	struct search_budget budget = { .max_pairs = 5 };
	struct alternates found;
	struct steps s = { 0 };

	for (uint32_t i = 0; i < 4000; i++) {
		add(&s, i % 2, W, 9, X, i);
		s.data[i].clock = i + 1;
		s.data[i].index = i / 2;
	}
	steps_link(&s);
	cr_assert_null(search_alternate(&runner, &s, 0, &budget, &found));
	cr_assert_eq(found.len, 1);
	cr_assert_eq(m.longest, m.made, "the longest start that passes");
	cr_assert_lt(m.runs, 200);
	alternates_deinit(&found);
	steps_deinit(&s);
}
