#include "order/order.h"

#include "order-brute.h"
#include "order-shapes.h"

#include <criterion/criterion.h>

static const struct order_budget budget = { .seconds = 20 };

struct with_edges {
	const struct order_model *m;
	const struct order_core *core;
	size_t without;
	enum order_want want;
};

static bool respects(void *ctx, const uint32_t *order)
{
	struct with_edges *w = ctx;
	uint32_t position[64];

	for (uint32_t i = 0; i < w->m->events.len; i++)
		position[order[i]] = i;
	for (size_t i = 0; i < w->core->edges.len; i++)
		if (i != w->without && position[w->core->edges.data[i].before] >
					       position[w->core->edges.data[i].after])
			return false;
	return order_validate(w->m, w->want, order, w->m->events.len, NULL, NULL);
}

/* The core excludes the outcome; without any one edge it does not. */
static void check_core(const struct order_model *m, const struct order_core *core, uint64_t seed)
{
	struct with_edges w = { m, core, SIZE_MAX, ORDER_PASS };

	cr_assert_eq(core->status, ORDER_UNSAT, "seed %ju", (uintmax_t)seed);
	cr_assert_not(brute_each(m, respects, &w), "seed %ju: not a core", (uintmax_t)seed);
	cr_assert(core->irreducible, "seed %ju", (uintmax_t)seed);
	for (w.without = 0; w.without < core->edges.len; w.without++)
		cr_assert(brute_each(m, respects, &w), "seed %ju: edge %zu is not needed",
			  (uintmax_t)seed, w.without);
}

static void check_alternates(const struct order_model *m, const struct order_answer *a,
			     const struct order_core *core, uint64_t seed)
{
	struct order_alternates alt;
	bool there = brute_exists(m, ORDER_PASS);

	cr_assert_null(order_alternates(m, ORDER_PASS, a->order, a->len, core, 0, &budget, &alt));
	cr_assert(alt.complete);
	cr_assert_eq(alt.found.len > 0, there, "seed %ju: %zu alternates, enumeration says %d",
		     (uintmax_t)seed, alt.found.len, there);
	for (size_t i = 0; i < alt.found.len; i++) {
		const struct order_alternate *x = &alt.found.data[i];
		size_t before = 0, after = 0;
		cr_assert(order_validate(m, ORDER_PASS, x->order, x->len, NULL, NULL));
		for (size_t k = 0; k < x->len; k++) {
			before = x->order[k] == x->flipped.before ? k : before;
			after = x->order[k] == x->flipped.after ? k : after;
		}
		cr_assert_gt(before, after, "seed %ju: the pair is not inverted", (uintmax_t)seed);
	}
	order_alternates_deinit(&alt);
}

Test(order_why, cores_and_alternates_agree_with_enumeration)
{
	size_t failing = 0;

	for (uint64_t seed = 10000; seed < 12700; seed++) {
		struct order_model *m = brute_model(seed);
		struct order_answer a = { 0 };
		struct order_core core;

		if (m->failure != TERM_NONE)
			cr_assert_null(order_solve(m, ORDER_FAIL, &budget, &a));
		if (a.status == ORDER_SAT) {
			failing++;
			cr_assert_null(
				order_core(m, ORDER_PASS, a.order, a.len, true, &budget, &core));
			check_core(m, &core, seed);
			check_alternates(m, &a, &core, seed);
			order_core_deinit(&core);
		}
		order_answer_deinit(&a);
		order_model_free(m);
	}
	cr_assert_gt(failing, 500);
}

Test(order_why, fewer_switches_same_outcome)
{
	for (size_t i = 0; shape_names[i]; i++) {
		struct order_model *m = shape_make(shape_names[i], 300, 5, 0);
		size_t len = m->events.len, tried, before;
		uint32_t *order = xcalloc(len, sizeof(*order));

		for (uint32_t e = 0; e < len; e++)
			order[e] = e;
		before = order_count_switches(m, order, len);
		cr_assert_null(order_reduce_switches(m, ORDER_FAIL, order, len, 10, &tried));
		cr_assert(order_validate(m, ORDER_FAIL, order, len, NULL, NULL));
		cr_assert_lt(order_count_switches(m, order, len), before, "%s", shape_names[i]);
		free(order);
		order_model_free(m);
	}
}

/* Two threads take two locks in opposite order and block: the trace alone is the failure; granting
 * the locks shows how it could have gone well. */
Test(order_why, deadlock_and_its_way_out)
{
	struct order_model *m = order_model_new(), *ok;
	uint32_t l[2], t[2];
	struct order_answer a;

	for (int i = 0; i < 2; i++) {
		l[i] = order_object(m, ORDER_OBJECT_MUTEX, i ? "b" : "a", 0, 0);
		t[i] = order_thread(m, i ? "1" : "0");
	}
	for (int i = 0; i < 2; i++) {
		order_event(m, t[i], ORDER_LOCK, l[i]);
		order_event(m, t[i], ORDER_LOCK_BLOCKED, l[!i]);
	}
	cr_assert_null(order_solve(m, ORDER_FAIL, &budget, &a));
	cr_assert_eq(a.status, ORDER_SAT);
	order_answer_deinit(&a);
	cr_assert_null(order_solve(m, ORDER_PASS, &budget, &a));
	cr_assert_eq(a.status, ORDER_UNSAT);
	order_answer_deinit(&a);
	ok = order_model_unblocked(m);
	cr_assert_null(order_solve(ok, ORDER_ANY, &budget, &a));
	cr_assert_eq(a.status, ORDER_SAT);
	cr_assert_eq(a.len, 8);
	order_answer_deinit(&a);
	order_model_free(ok);
	order_model_free(m);
}

/* A thread that decides otherwise: solver and enumeration agree on whether it can. */
Test(order_why, another_path_agrees_with_enumeration)
{
	size_t cuts = 0, kept = 0, ways_out = 0;

	for (uint64_t seed = 20000; seed < 24000; seed++) {
		struct order_model *m = brute_model(seed), *cut;
		struct order_answer a = { 0 }, b;
		struct order_decisions decisions;
		uint32_t t = (uint32_t)(seed % m->threads.len);

		cr_assert_null(order_solve(m, ORDER_FAIL, &budget, &a));
		order_decisions(m, t, &decisions);
		for (size_t i = 0; i < decisions.len && a.status == ORDER_SAT; i++) {
			cut = order_model_cut(m, t, &decisions.data[i]);
			if (!cut)
				continue;
			cuts++;
			kept += order_validate(cut, ORDER_FAIL, a.order, a.len, NULL, NULL);
			cr_assert_null(order_solve(cut, ORDER_PASS, &budget, &b));
			cr_assert_eq(b.status == ORDER_SAT, brute_exists(cut, ORDER_PASS),
				     "seed %ju", (uintmax_t)seed);
			ways_out += b.status == ORDER_SAT;
			order_answer_deinit(&b);
			order_model_free(cut);
		}
		vec_deinit(&decisions);
		order_answer_deinit(&a);
		order_model_free(m);
	}
	cr_assert_gt(cuts, 100, "%zu cuts", cuts);
	cr_assert_gt(2 * kept, cuts, "most failing orders are orders of the cut model");
	cr_assert_gt(ways_out, 20);
}
