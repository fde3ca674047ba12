#include "order/why/projection.h"

#include "order-symbiosis.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { X = 1, Y = 2 };

static struct projected_event rd(uint32_t thread, uint32_t index, uint64_t object)
{
	return (struct projected_event){ thread, index, object, .reads = true, .memory = true };
}

static struct projected_event wr(uint32_t thread, uint32_t index, uint64_t object)
{
	return (struct projected_event){ thread, index, object, .writes = true, .memory = true };
}

/* A lost update next to the same two increments one after the other; y is beside the point. */
Test(order_projection, lost_update)
{
	struct projected_event lost[] = { wr(0, 0, Y), rd(0, 1, X), rd(1, 0, X),
					  wr(0, 2, X), wr(1, 1, X), rd(1, 2, Y) };
	struct projected_event fine[] = { wr(0, 0, Y), rd(0, 1, X), wr(0, 2, X),
					  rd(1, 0, X), wr(1, 1, X), rd(1, 2, Y) };
	struct order_projection p;

	order_project(lost, 6, fine, 6, &p);
	cr_assert_eq(p.prefix, 2);
	cr_assert_eq(p.flows.len, 2); /* initial -> T1's read, and T0's write -> T1's read */
	cr_assert_eq(p.flows.data[0].from, PROJECTION_INITIAL);
	cr_assert_eq(p.flows.data[0].to, 2);
	cr_assert(p.flows.data[1].in_second);
	cr_assert_eq(p.flows.data[1].from, 2);
	cr_assert_eq(p.flows.data[1].to, 3);
	cr_assert_eq(p.nshown[0], 2); /* T1's read and T0's write */
	cr_assert_eq(p.nshown[1], 2);
	cr_assert(p.shown[0][2] && p.shown[0][3]);
	cr_assert_eq(p.total_flows[0], 3);
	cr_assert_eq(p.flow_events, 2);
	order_projection_deinit(&p);
}

Test(order_projection, equal_runs_project_to_nothing)
{
	struct projected_event run[] = { wr(0, 0, X), rd(1, 0, X), wr(1, 1, Y) };
	struct order_projection p;

	order_project(run, 3, run, 3, &p);
	cr_assert_eq(p.prefix, 3);
	cr_assert_eq(p.flows.len, 0);
	cr_assert_eq(p.nshown[0] + p.nshown[1], 0);
	order_projection_deinit(&p);
}

/* Published (000 table 4.2): data flows that differ, events shown. */
Test(order_projection, no_larger_than_published)
{
	static const struct {
		const char *name, *asserting;
		size_t flows, events;
	} rows[] = { { "bank", "0", 2, 31 },
		     { "twostage", "3", 1, 3 },
		     { "airline", "0", 0, 0 },
		     { "cache4j", "2", 0, 0 } };
	const struct order_budget budget = { .seconds = 20 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *folder = symbiosis_folder(rows[i].name);
		struct order_answer a;
		struct order_core core;
		struct order_alternates alt;
		struct order_projection p;
		size_t tried;

		if (!folder)
			cr_skip_test("no fixtures: set UNPLAIT_FIXTURES");
		struct order_model *m = symbiosis_import(folder, rows[i].asserting);
		cr_assert_null(order_solve(m, ORDER_FAIL, &budget, &a));
		cr_assert_null(order_reduce_switches(m, ORDER_FAIL, a.order, a.len, 10, &tried));
		cr_assert_null(order_core(m, ORDER_PASS, a.order, a.len, true, &budget, &core));
		cr_assert_null(
			order_alternates(m, ORDER_PASS, a.order, a.len, &core, 1, &budget, &alt));
		cr_assert_eq(alt.found.len, 1);
		struct projected_event *fail = order_projected_events(m, a.order, a.len);
		struct projected_event *pass =
			order_projected_events(m, alt.found.data[0].order, a.len);
		order_project(fail, a.len, pass, a.len, &p);
		printf("%-10s %zu flows of %zu differ, %zu events of %zu shown, %zu at their "
		       "ends\n",
		       rows[i].name, p.flows.len, p.total_flows[0], p.nshown[0], a.len,
		       p.flow_events);
		cr_assert_gt(p.flows.len, 0);
		if (rows[i].events) {
			/* the paper counts a flow that changed its source once */
			cr_assert_leq((p.flows.len + 1) / 2, rows[i].flows, "%s", rows[i].name);
			cr_assert_leq(p.nshown[0], rows[i].events, "%s", rows[i].name);
		}
		order_projection_deinit(&p);
		free(fail);
		free(pass);
		order_alternates_deinit(&alt);
		order_core_deinit(&core);
		order_answer_deinit(&a);
		order_model_free(m);
		free(folder);
	}
}
