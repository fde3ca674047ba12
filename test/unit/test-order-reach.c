/* Questions about prefixes (order/reach), against the enumeration of all prefixes. */
#include "order-brute.h"

#include "base/err.h"
#include "order/model/eval.h"
#include "order/reach/reach.h"

#include <criterion/criterion.h>

static uint64_t rnd(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s >> 11;
}

struct asked {
	struct order_model *m;
	struct order_question q;
	struct order_goal goals[2];
};

/* Is this prefix one that the question is about? Told again from the definition. */
static bool answers(void *ctx, const uint32_t *order, size_t len)
{
	const struct asked *a = ctx;
	const struct order_model *m = a->m;
	uint64_t *values = xcalloc(m->symbols.len + 1, sizeof(*values)), v;
	uint32_t done[8] = { 0 };
	struct eval ev;
	bool ok = order_validate_prefix(m, order, len, values, NULL);

	eval_init(&ev, &m->terms, m->symbols.len);
	for (size_t i = 0; i < len; i++) {
		const struct order_event *e = &m->events.data[order[i]];

		done[e->thread]++;
		if (e->symbol != ORDER_NONE)
			eval_set(&ev, e->symbol, values[e->symbol]);
	}
	for (size_t g = 0; g < a->q.n; g++) {
		const struct order_goal *x = &a->q.goals[g];

		ok = ok && (x->passes ? done[x->thread] >= x->index : done[x->thread] == x->index);
		for (size_t c = 0; c < m->conditions.len && ok && !x->passes; c++) {
			const struct order_place *p = &m->places.data[c];

			if (p->thread == x->thread && p->index == x->index && p->nth < x->nth)
				ok = eval_get(&ev, m->conditions.data[c], &v) && v;
		}
	}
	if (ok && a->q.condition != TERM_NONE)
		ok = eval_get(&ev, a->q.condition, &v) && v;
	eval_deinit(&ev);
	free(values);
	return ok;
}

/* A flipped decision, a place, or two places. */
static void make_question(struct order_model *m, uint64_t *random, struct asked *ret)
{
	uint32_t t = (uint32_t)(rnd(random) % m->threads.len);
	uint32_t other = (uint32_t)((t + 1) % m->threads.len);

	*ret = (struct asked){ .m = m, .q = { ret->goals, 1, TERM_NONE } };
	if (m->conditions.len && rnd(random) % 3) {
		size_t c = rnd(random) % m->conditions.len;
		const struct order_place *p = &m->places.data[c];

		ret->goals[0] = (struct order_goal){ p->thread, p->index, p->nth, false };
		ret->q.condition = term_not(&m->terms, m->conditions.data[c]);
		return;
	}
	ret->goals[0] =
		(struct order_goal){ t, (uint32_t)(rnd(random) % (m->threads.data[t].len + 1)),
				     UINT32_MAX, false };
	if (rnd(random) % 2)
		return;
	ret->goals[1] = (struct order_goal){
		other, (uint32_t)(rnd(random) % (m->threads.data[other].len + 1)), UINT32_MAX, false
	};
	ret->goals[1].passes = rnd(random) % 2;
	ret->q.n = 2;
}

static void check(uint64_t seed, struct order_reach *r, struct asked *a, unsigned *unknown)
{
	struct order_budget budget = { .seconds = 20, .seed = seed };
	bool there = brute_each_prefix(a->m, answers, a);
	struct order_reached got;
	struct err *err = order_reach_ask(r, &a->q, &budget, &got);

	cr_assert_null(err, "seed %llu: %s", (unsigned long long)seed, err ? err_message(err) : "");
	if (got.status == ORDER_UNKNOWN)
		++*unknown;
	else
		cr_assert_eq(got.status, there ? ORDER_SAT : ORDER_UNSAT,
			     "seed %llu: answer %d, enumeration says %d", (unsigned long long)seed,
			     got.status, there);
	if (got.status == ORDER_SAT)
		cr_assert(answers(a, got.order, got.len), "seed %llu: the witness is none",
			  (unsigned long long)seed);
	order_reached_deinit(&got);
}

/* One instance for all questions about a model, in any order, and a fresh one for each. */
Test(order_reach, every_prefix, .timeout = 300)
{
	unsigned unknown = 0, all = 0;

	for (uint64_t seed = 0; seed < 1000; seed++) {
		uint64_t random = (seed + 7) * UINT64_C(0x9E3779B97F4A7C15);
		struct order_model *m = brute_model(seed);
		struct order_reach *kept = order_reach_open(m);

		for (int i = 0; i < 4; i++) {
			struct order_reach *fresh = i == 3 ? order_reach_open(m) : NULL;
			struct asked a;

			make_question(m, &random, &a);
			a.q.goals = a.goals;
			check(seed, fresh ? fresh : kept, &a, &unknown);
			order_reach_close(fresh);
			all++;
		}
		order_reach_close(kept);
		order_model_free(m);
	}
	/* only one signal that wakes two waiters is beyond it */
	cr_assert_lt(unknown * 50, all, "%u of %u questions are open", unknown, all);
}

/* A thread that stops with the semaphore taken starves nobody before that. */
Test(order_reach, whatever_lies_behind_is_void)
{
	struct order_model *m = order_model_new();
	uint32_t x = order_object(m, ORDER_OBJECT_CELL, "x", 8, 0);
	uint32_t s = order_object(m, ORDER_OBJECT_SEM, "s", 0, 1), r;
	uint32_t a = order_thread(m, "0"), b = order_thread(m, "1");
	struct order_goal goal = { a, 2, UINT32_MAX, false };
	struct order_question q = { &goal, 1, TERM_NONE };
	struct order_reached got;
	struct order_reach *reach;

	order_event(m, a, ORDER_SEM_WAIT, s);
	r = order_event(m, a, ORDER_READ, x);
	order_event(m, a, ORDER_SEM_POST, s);
	order_write(m, b, x, term_const(&m->terms, 8, 5));
	order_event(m, b, ORDER_SEM_WAIT, s);
	order_event(m, b, ORDER_SEM_POST, s);
	q.condition =
		term_binary(&m->terms, TERM_EQ, order_value(m, r), term_const(&m->terms, 8, 5));
	reach = order_reach_open(m);
	cr_assert_null(order_reach_ask(reach, &q, &(struct order_budget){ .seconds = 10 }, &got));
	cr_assert_eq(got.status, ORDER_SAT);
	cr_assert_eq(got.len, 3);
	order_reached_deinit(&got);
	order_reach_close(reach);
	order_model_free(m);
}

Test(order_reach, blames_cells_that_values_came_from)
{
	struct order_model *m = order_model_new();
	uint32_t x = order_object(m, ORDER_OBJECT_CELL, "x", 8, 0);
	uint32_t y = order_object(m, ORDER_OBJECT_CELL, "y", 8, 0);
	uint32_t z = order_object(m, ORDER_OBJECT_CELL, "z", 8, 0), r;
	uint32_t a = order_thread(m, "0"), b = order_thread(m, "1");
	struct order_cells cells;

	r = order_event(m, b, ORDER_READ, y);
	order_write(m, b, x, order_value(m, r));
	order_write(m, b, z, term_const(&m->terms, 8, 1));
	r = order_event(m, a, ORDER_READ, x);
	order_reach_blame(m, order_value(m, r), &cells);
	cr_assert_eq(cells.len, 2);
	cr_assert_eq(cells.data[0], x);
	cr_assert_eq(cells.data[1], y);
	vec_deinit(&cells);
	order_model_free(m);
}

/* A value that nobody recorded may be whatever the answer takes it for, and the referee takes it so. */
Test(order_reach, a_free_input_is_what_the_answer_says)
{
	struct order_model *m = order_model_new();
	uint32_t x = order_object(m, ORDER_OBJECT_CELL, "x", 32, 0), a = order_thread(m, "0");
	uint32_t b = order_thread(m, "1"), read;
	term_id input = order_input(m, 32, 3), seven = term_const(&m->terms, 32, 7);
	struct order_goal goal = { b, 1, UINT32_MAX, false };
	struct order_question q = { &goal, 1, TERM_NONE };
	struct order_budget budget = { .seconds = 20 };
	struct order_reached got;
	struct order_reach *r;

	order_write(m, a, x, input);
	read = order_event(m, b, ORDER_READ, x);
	r = order_reach_open(m);
	for (int i = 0; i < 2; i++) { /* what was recorded, and something else */
		q.condition = term_binary(&m->terms, TERM_EQ, order_value(m, read),
					  i ? seven : term_const(&m->terms, 32, 3));
		cr_assert_null(order_reach_ask(r, &q, &budget, &got));
		cr_assert(i || got.status == ORDER_SAT);
		order_reached_deinit(&got);
	}
	order_reach_close(r);
	order_model_free(m);
}
