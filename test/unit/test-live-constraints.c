/* What became of a constraint, told by a controlled run of a real program.
 *
 * test/e2e/2304-control-overtaken.sh builds it and names it in UNPLAIT_CONSTRAINED_PROGRAM: main creates a
 * thread, writes three times and joins. Who enforces an order has to know whether it was kept: explain
 * and synth believe no run in which it was not. */
#include "base/err.h"
#include "run/run.h"

#include <criterion/criterion.h>
#include <stdlib.h>

struct fixture {
	char *argv[2];
	struct target target;
	struct session *session;
	struct run_result r;
};

static void open_program(struct fixture *f)
{
	f->argv[0] = getenv("UNPLAIT_CONSTRAINED_PROGRAM");
	f->argv[1] = NULL;
	if (!f->argv[0])
		cr_skip_test("UNPLAIT_CONSTRAINED_PROGRAM is not set");
	f->target = (struct target){ .argv = f->argv, .timeout = 20 };
	cr_assert_null(session_open(&f->target, &f->session));
}

static void close_program(struct fixture *f)
{
	run_result_deinit(&f->r);
	session_close(f->session);
}

/* The n-th event of a thread. */
static struct plait_pattern event(uint32_t thread, uint64_t n)
{
	return (struct plait_pattern){ .thread = thread,
				       .site_low = PLAIT_ANY,
				       .site_high = PLAIT_ANY,
				       .nth = PLAIT_ANY,
				       .index = n };
}

/* Enforce "a before b", after these decisions. */
static void run_before(struct fixture *f, struct plait_pattern a, struct plait_pattern b,
		       const struct schedule *followed)
{
	struct plait_constraint c = { .kind = PLAIT_CONSTRAINT_BEFORE, .a = a, .b = b };
	struct run_request req = { .strategy = PLAIT_STRATEGY_STAY,
				   .points = PLAIT_POINTS_ALL,
				   .flags = PLAIT_CONTROL_PREFIX,
				   .constraints = &c,
				   .nconstraints = 1 };

	if (followed) {
		req.decisions = followed->decisions.data;
		req.ndecisions = followed->decisions.len;
	}
	cr_assert_null(session_run(f->session, &req, &f->r));
	cr_assert_eq(f->r.outcome, PLAIT_OUTCOME_PASS);
}

static void expect(const struct fixture *f, uint8_t fate, bool noted)
{
	cr_expect_eq(f->r.constraint_fate[0], fate, "fate %u", f->r.constraint_fate[0]);
	cr_expect_eq(!!(f->r.uncontrolled & PLAIT_UNCONTROLLED_CONSTRAINT), noted);
}

Test(live_constraints, what_is_kept_is_met)
{
	struct fixture f = { 0 };

	open_program(&f);
	run_before(&f, event(1, 1), event(0, 3), NULL);
	expect(&f, PLAIT_FATE_MET, false);
	close_program(&f);
}

Test(live_constraints, where_decisions_are_followed_the_second_may_come_first)
{
	struct run_request free = { .strategy = PLAIT_STRATEGY_STAY, .points = PLAIT_POINTS_ALL };
	struct run_result before = { 0 };
	struct fixture f = { 0 };

	open_program(&f);
	cr_assert_null(session_run(f.session, &free, &before));
	run_before(&f, event(1, 1), event(0, 3), &before.schedule);
	expect(&f, PLAIT_FATE_OVERTAKEN, true);
	run_result_deinit(&before);
	close_program(&f);
}

Test(live_constraints, where_nobody_else_can_run_it_gives_way)
{
	struct fixture f = { 0 };

	open_program(&f);
	run_before(&f, event(1, 1), event(0, 1), NULL); /* before the thread is there */
	expect(&f, PLAIT_FATE_OVERTAKEN, true);
	close_program(&f);
}
