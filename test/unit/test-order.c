#include "order/order.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "order-brute.h"
#include "order-shapes.h"

#include <criterion/criterion.h>

static enum order_status solve(const struct order_model *m, enum order_want want,
			       struct order_budget budget)
{
	struct order_answer a;

	budget.seconds = 20;
	cr_assert_null(order_solve(m, want, &budget, &a));
	enum order_status s = a.status;
	order_answer_deinit(&a);
	return s;
}

/* Solver against enumeration: thousands of small models, both halves of the portfolio alone and
 * together. A model whose answer differs prints its seed. */
static void agree(struct order_budget budget, uint64_t from, uint64_t to)
{
	size_t sat = 0, unsat = 0;

	for (uint64_t seed = from; seed < to; seed++) {
		struct order_model *m = brute_model(seed);
		for (int want = ORDER_PASS; want <= ORDER_FAIL; want++) {
			if (m->failure == TERM_NONE)
				continue;
			bool there = brute_exists(m, (enum order_want)want);
			enum order_status s = solve(m, (enum order_want)want, budget);
			cr_assert_eq(s, there ? ORDER_SAT : ORDER_UNSAT,
				     "seed %ju want %d: enumeration says %d, the solver %d",
				     (uintmax_t)seed, want, there, s);
			sat += there;
			unsat += !there;
		}
		order_model_free(m);
	}
	cr_assert_gt(sat, (to - from) / 10);
	cr_assert_gt(unsat, (to - from) / 10);
}

Test(order, agrees_with_enumeration)
{
	agree((struct order_budget){ 0 }, 0, 1500);
}

Test(order, learning_alone_agrees_with_enumeration)
{
	agree((struct order_budget){ .no_search = true }, 1500, 3000);
}

/* Who may make one decision gives up, and says nothing false. */
Test(order, a_limit_of_decisions_makes_no_answer_wrong)
{
	size_t unknown = 0;

	for (uint64_t seed = 3000; seed < 3600; seed++) {
		struct order_model *m = brute_model(seed);
		enum order_status s = ORDER_UNKNOWN;

		if (m->failure != TERM_NONE)
			s = solve(m, ORDER_FAIL,
				  (struct order_budget){ .no_search = true, .decisions = 1 });
		if (s != ORDER_UNKNOWN)
			cr_assert_eq(s == ORDER_SAT, brute_exists(m, ORDER_FAIL), "seed %ju",
				     (uintmax_t)seed);
		unknown += m->failure != TERM_NONE && s == ORDER_UNKNOWN;
		order_model_free(m);
	}
	cr_assert_gt(unknown, 0);
}

Test(order, shapes_are_solved)
{
	for (size_t i = 0; shape_names[i]; i++) {
		struct order_model *m = shape_make(shape_names[i], 300, 3, 0);
		cr_assert_not_null(m, "%s", shape_names[i]);
		cr_assert_eq(solve(m, ORDER_FAIL, (struct order_budget){ 0 }), ORDER_SAT, "%s",
			     shape_names[i]);
		order_model_free(m);
	}
}

Test(order, simulated_runs_validate)
{
	for (size_t i = 0; shape_names[i]; i++) {
		struct order_model *m = shape_make(shape_names[i], 500, 7, 0);
		uint32_t *order = xcalloc(m->events.len, sizeof(*order));
		struct strbuf why = { 0 };
		for (uint32_t e = 0; e < m->events.len; e++)
			order[e] = e;
		cr_assert(order_validate(m, ORDER_FAIL, order, m->events.len, NULL, &why), "%s: %s",
			  shape_names[i], strbuf_str(&why));
		cr_assert_not(order_validate(m, ORDER_PASS, order, m->events.len, NULL, NULL));
		strbuf_deinit(&why);
		free(order);
		order_model_free(m);
	}
}

Test(order, bad_models_are_refused)
{
	struct order_model *m = order_model_new();
	struct order_answer a;
	uint32_t t = order_thread(m, "0");
	uint32_t l = order_object(m, ORDER_OBJECT_MUTEX, "l", 0, 0);

	order_event(m, t, ORDER_UNLOCK, l);
	struct err *err = order_solve(m, ORDER_ANY, &(struct order_budget){ 0 }, &a);
	cr_assert_not_null(err);
	cr_assert_str_eq(err_message(err),
			 "order model: T0 #0 unlock l: releases a lock the thread does not hold");
	err_free(err);
	order_model_free(m);
}
