#include "order/order.h"

#include "order-brute.h"
#include "order-symbiosis.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const struct fixture {
	const char *name, *asserting;
	size_t constraints, variables; /* published; 0: this trace is not the paper's */
} fixtures[] = {
	{ "bank", "0", 8250, 197 },
	{ "twostage", "3", 264, 88 },
	{ "airline", "0", 0, 0 },
	{ "cache4j", "2", 0, 0 },
};

static const struct order_budget budget = { .seconds = 30 };

static struct order_model *load(const struct fixture *f)
{
	char *folder = symbiosis_folder(f->name);
	struct order_model *m;

	if (!folder)
		cr_skip_test("no fixtures: set UNPLAIT_FIXTURES");
	m = symbiosis_import(folder, f->asserting);
	free(folder);
	return m;
}

Test(order_symbiosis, published_sizes)
{
	for (size_t i = 0; i < ARRAY_SIZE(fixtures); i++) {
		struct order_model *m = load(&fixtures[i]);
		struct order_reference r;
		cr_assert_null(order_reference(m, ORDER_FAIL, 0, true, &r));
		if (fixtures[i].constraints) {
			cr_assert_eq(r.constraints, fixtures[i].constraints, "%s: %zu",
				     fixtures[i].name, r.constraints);
			cr_assert_eq(r.variables, fixtures[i].variables, "%s: %zu",
				     fixtures[i].name, r.variables);
		}
		order_reference_deinit(&r);
		order_model_free(m);
	}
}

Test(order_symbiosis, solved_explained_and_avoided)
{
	for (size_t i = 0; i < ARRAY_SIZE(fixtures); i++) {
		struct order_model *m = load(&fixtures[i]);
		struct order_answer a;
		struct order_core core;
		struct order_alternates alt;
		size_t tried;

		cr_assert_null(order_solve(m, ORDER_FAIL, &budget, &a));
		cr_assert_eq(a.status, ORDER_SAT, "%s", fixtures[i].name);
		cr_assert_null(order_reduce_switches(m, ORDER_FAIL, a.order, a.len, 10, &tried));
		cr_assert_null(order_core(m, ORDER_PASS, a.order, a.len, true, &budget, &core));
		cr_assert_eq(core.status, ORDER_UNSAT, "%s", fixtures[i].name);
		cr_assert_null(
			order_alternates(m, ORDER_PASS, a.order, a.len, &core, 1, &budget, &alt));
		cr_assert_eq(alt.found.len, 1, "%s", fixtures[i].name);
		printf("%-10s solved %.3f s (%s), core %zu of %zu edges %s %.3f s, alternate after "
		       "%zu pairs %.3f s\n",
		       fixtures[i].name, a.stats.seconds, a.stats.how, core.edges.len,
		       core.considered, core.irreducible ? "irreducible" : "not minimal",
		       core.stats.seconds, alt.pairs_tried, alt.stats.seconds);
		order_alternates_deinit(&alt);
		order_core_deinit(&core);
		order_answer_deinit(&a);
		order_model_free(m);
	}
}

/* Z3 in the published encoding and our solver must say the same. */
Test(order_symbiosis, reference_agrees)
{
	struct order_model *m = load(&fixtures[1]);
	struct order_reference r;

	for (int want = ORDER_PASS; want <= ORDER_FAIL; want++) {
		cr_assert_null(order_reference(m, (enum order_want)want, 20, false, &r));
		cr_assert_eq(r.status, ORDER_SAT);
		order_reference_deinit(&r);
	}
	order_model_free(m);
}

Test(order_reference, agrees_with_enumeration)
{
	for (uint64_t seed = 20000; seed < 20040; seed++) {
		struct order_model *m = brute_model(seed);
		struct order_reference r;
		for (int want = ORDER_PASS; want <= ORDER_FAIL && m->failure != TERM_NONE; want++) {
			bool there = brute_exists(m, (enum order_want)want);
			cr_assert_null(order_reference(m, (enum order_want)want, 20, false, &r),
				       "seed %ju", (uintmax_t)seed);
			cr_assert_eq(r.status, there ? ORDER_SAT : ORDER_UNSAT, "seed %ju",
				     (uintmax_t)seed);
			order_reference_deinit(&r);
		}
		order_model_free(m);
	}
}

/* x = input; the other thread needs x == 5 and y == input + 1 == 6: only input 5 fits. */
Test(order_reference, finds_free_inputs)
{
	struct order_model *m = order_model_new();
	uint32_t x = order_object(m, ORDER_OBJECT_CELL, "x", 16, 0);
	uint32_t a = order_thread(m, "0"), b = order_thread(m, "1");
	term_id in = order_input(m, 16, 0);
	struct order_answer ans;

	order_write(m, a, x, term_binary(&m->terms, TERM_ADD, in, term_const(&m->terms, 16, 1)));
	uint32_t r = order_event(m, b, ORDER_READ, x);
	order_condition(m, term_binary(&m->terms, TERM_EQ, order_value(m, r),
				       term_const(&m->terms, 16, 6)));
	cr_assert_null(order_solve(m, ORDER_ANY, &budget, &ans));
	cr_assert_eq(ans.status, ORDER_SAT);
	cr_assert_eq(ans.values[0], 5);
	cr_assert_str_eq(ans.stats.how, "reference");
	order_answer_deinit(&ans);
	order_model_free(m);
}
