#include "sym/value/expr.h"
#include "sym/machine/memory.h"
#include "sym/value/solver.h"
#include "sym/value/solver-bytes.h"
#include "sym/value/solver-local.h"
#include "sym/machine/state.h"
#include "sym/sym.h"

#include <criterion/criterion.h>

Test(sym_expr, equal_expressions_are_one)
{
	struct exprs e;
	exprs_init(&e);
	expr_id x = expr_symbol(&e, 32, "x", NULL), y = expr_symbol(&e, 32, "y", NULL);

	cr_assert_eq(expr_binary(&e, EX_ADD, x, y), expr_binary(&e, EX_ADD, y, x));
	cr_assert_eq(expr_binary(&e, EX_SUB, x, x), expr_const(&e, 32, 0));
	cr_assert_eq(expr_extract(&e, expr_zext(&e, x, 64), 0, 32), x);
	cr_assert_eq(expr_concat(&e, expr_extract(&e, x, 16, 16), expr_extract(&e, x, 0, 16)), x);
	cr_assert_eq(expr_not(&e, expr_not(&e, expr_binary(&e, EX_EQ, x, y))),
		     expr_binary(&e, EX_EQ, x, y));
	exprs_deinit(&e);
}

/* Every simplification must keep the value: build at random, compare with the plain operation. */
Test(sym_expr, folding_agrees_with_evaluation)
{
	struct exprs e;
	exprs_init(&e);
	uint64_t seed = 42, values[4];
	expr_id pool[64];
	uint64_t want[64];
	unsigned widths[64];

	for (int round = 0; round < 400; round++) {
		int n = 0;

		for (int i = 0; i < 4; i++) {
			seed = seed * 6364136223846793005ull + 1;
			values[i] = (seed >> 40) & (round & 1 ? 0xff : 0x3);
			widths[n] = 8;
			want[n] = values[i];
			pool[n++] =
				round == 0 ? expr_symbol(&e, 8, "s", NULL) : e.symbol_exprs.data[i];
		}
		while (n < 60) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			int a = (int)(seed >> 33) % n, b = (int)(seed >> 13 & 0xffff) % n,
			    op = (int)(seed >> 50) % 24;
			unsigned w = widths[a];
			uint64_t va = want[a], vb = want[b];
			expr_id xa = pool[a], xb = pool[b];

			if (seed & 64) { /* a constant operand */
				vb = (seed >> 20) & mask_of(w) & (seed & 128 ? 3 : ~0ull);
				xb = expr_const(&e, w, vb);
			} else if (widths[b] != w) {
				vb = widths[b] > w ? vb & mask_of(w) : vb;
				xb = widths[b] > w ? expr_extract(&e, xb, 0, w)
						   : expr_zext(&e, xb, w);
			}
			if (op < 18) {
				enum expr_op o = (enum expr_op)(EX_ADD + op);

				pool[n] = expr_binary(&e, o, xa, xb);
				want[n] = expr_fold(o, w, va, vb);
				widths[n] = o >= EX_EQ ? 1 : w;
			} else if (op < 20 && w < 64) {
				widths[n] = MIN(64u, w * 2);
				pool[n] = op & 1 ? expr_zext(&e, xa, widths[n])
						 : expr_sext(&e, xa, widths[n]);
				want[n] =
					op & 1 ? va : (uint64_t)sext_of(va, w) & mask_of(widths[n]);
			} else if (op < 22 && w > 1) {
				unsigned low = (unsigned)(seed >> 8) % w;

				widths[n] = w - low;
				pool[n] = expr_extract(&e, xa, low, w - low);
				want[n] = va >> low;
			} else if (w <= 32) {
				widths[n] = 2 * w;
				pool[n] = expr_concat(&e, xa, xb);
				want[n] = va << w | vb;
			} else {
				expr_id c = expr_binary(&e, EX_EQ, xa, xb);

				widths[n] = w;
				pool[n] = expr_ite(&e, c, xa, xb);
				want[n] = va == vb ? va : vb;
			}
			expr_eval_begin(&e);
			cr_assert_eq(expr_eval(&e, pool[n], values, 4), want[n],
				     "round %d, expression %d, operation %d", round, n, op);
			cr_assert_eq(expr_get(&e, pool[n])->w, widths[n]);
			n++;
		}
	}
	exprs_deinit(&e);
}

/* The set of a condition is right for every byte that it is asked of, and computed once. */
Test(sym_solver, sets_of_bytes_agree_with_trying)
{
	struct exprs e;
	struct byte_sets b;
	uint64_t seed = 7, value, values[64];
	uint32_t symbol[2];
	unsigned hits = 0;

	exprs_init(&e);
	byte_sets_init(&b, &e);
	byte_sets_begin(&b);
	expr_id byte[2] = { expr_symbol(&e, 8, "p", &symbol[0]),
			    expr_symbol(&e, 8, "q", &symbol[1]) };

	for (int round = 0; round < 300; round++) {
		expr_id conds[2][2];
		bool cached, possible = false;

		for (int k = 0; k < 2; k++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			for (int i = 0; i < 2; i++) {
				expr_id x =
					expr_binary(&e, (seed >> 40) & 1 ? EX_ADD : EX_AND, byte[i],
						    expr_const(&e, 8, (seed >> 20) & 0x7f));

				x = expr_binary(&e, EX_EQ + (seed >> 50) % 5, expr_zext(&e, x, 32),
						expr_const(&e, 32, (seed >> 30) & 0xff));
				conds[i][k] = (seed >> 41) & 1 ? expr_not(&e, x) : x;
			}
		}
		for (int i = 0; i < 2; i++) {
			enum answer answer = byte_sets_check(&b, conds[i], 2, &value, &cached);

			hits += cached;
			cr_assert(i == 0 || cached, "the second byte is answered by the first");
			for (uint64_t v = 0; v < 256 && !possible; v++) {
				values[symbol[0]] = values[symbol[1]] = v;
				expr_eval_begin(&e);
				possible = expr_eval(&e, conds[i][0], values, 64) &&
					   expr_eval(&e, conds[i][1], values, 64);
			}
			cr_assert_eq(answer, possible ? ANSWER_YES : ANSWER_NO);
			if (!possible)
				continue;
			values[symbol[0]] = values[symbol[1]] = value;
			expr_eval_begin(&e);
			cr_assert(expr_eval(&e, conds[i][0], values, 64));
			cr_assert(expr_eval(&e, conds[i][1], values, 64));
		}
	}
	cr_assert_geq(hits, 300);
	byte_sets_deinit(&b);
	exprs_deinit(&e);
}

/* The hash of a memory depends on what is in it, not on how it came there. */
Test(sym_memory, hash_is_of_the_contents)
{
	struct memory m, c;
	uint64_t before[2], now[2], other[2];

	memory_init(&m);
	for (int i = 0; i < 100; i++)
		memory_new(&m, OBJ_HEAP, 16);
	memory_hash(&m, before);
	memory_copy(&c, &m);
	memory_own(&c, 50)->bytes[3] = 1;
	memory_hash(&c, other);
	cr_assert(before[0] != other[0] && before[1] != other[1]);
	memory_hash(&m, now);
	cr_assert(before[0] == now[0] && before[1] == now[1], "the original has not changed");
	memory_own(&c, 50)->bytes[3] = 0;
	memory_hash(&c, now);
	cr_assert(before[0] == now[0] && before[1] == now[1], "what was undone is the same");
	memory_own(&m, 50)->bytes[3] = 1;
	memory_hash(&m, now);
	cr_assert(other[0] == now[0] && other[1] == now[1], "the same change elsewhere");
	memory_release(&m, 51);
	memory_hash(&m, now);
	cr_assert(other[0] != now[0], "a freed object is another state");
	memory_deinit(&c);
	memory_deinit(&m);
}

Test(sym_memory, a_copy_does_not_see_later_writes)
{
	struct memory a, b;
	memory_init(&a);
	uint32_t ids[2000];

	for (int i = 0; i < 2000; i++) {
		struct object *o = memory_new(&a, OBJ_HEAP, 8);

		o->bytes[0] = (uint8_t)i;
		ids[i] = o->id;
	}
	memory_copy(&b, &a);
	memory_own(&b, ids[7])->bytes[0] = 99;
	memory_release(&a, ids[8]);
	cr_assert_eq(memory_find(&a, ids[7])->bytes[0], 7);
	cr_assert_eq(memory_find(&b, ids[7])->bytes[0], 99);
	cr_assert(memory_find(&a, ids[8])->freed);
	cr_assert_not(memory_find(&b, ids[8])->freed);
	memory_deinit(&a);
	cr_assert_eq(memory_find(&b, ids[1999])->bytes[0], (uint8_t)1999);
	memory_deinit(&b);
}

Test(sym_memory, stack_objects_leave_nothing_behind)
{
	struct memory m;
	memory_init(&m);

	for (int i = 0; i < 100000; i++)
		memory_release(&m, memory_new(&m, OBJ_STACK, 16)->id);
	cr_assert_null(memory_find(&m, 5));
	memory_deinit(&m);
}

Test(sym_solver, answers_and_models)
{
	struct sym_stats stats = { 0 };
	struct exprs e;
	exprs_init(&e);
	struct solver *s = solver_new(&e, &stats, 5000, NULL);
	expr_id x = expr_symbol(&e, 32, "x", NULL), y = expr_symbol(&e, 32, "y", NULL);
	expr_id sum = expr_binary(&e, EX_EQ, expr_binary(&e, EX_ADD, x, y),
				  expr_const(&e, 32, 1000)),
		less = expr_binary(&e, EX_ULT, x, expr_const(&e, 32, 10)),
		big = expr_binary(&e, EX_ULT, expr_const(&e, 32, 995), y), no;
	struct constraint path = { .refs = 1, .count = 1, .cond = sum };
	struct constraint path2 = { .refs = 1, .count = 2, .cond = less, .before = &path };
	struct model *m = NULL;

	cr_assert_eq(solver_check(s, &path2, big, NULL, &m), ANSWER_YES);
	cr_assert_eq((uint32_t)(m->values[0] + m->values[1]), 1000);
	cr_assert_lt(m->values[0], 10);
	model_unref(m);
	no = expr_binary(&e, EX_ULT, y, expr_const(&e, 32, 500));
	cr_assert_eq(solver_check(s, &path2, no, NULL, NULL), ANSWER_NO);
	cr_assert_eq(solver_check(s, &path2, no, NULL, NULL), ANSWER_NO);
	cr_assert_eq(stats.by_cache, 1);
	cr_assert_eq(stats.by_z3, 2);
	solver_free(s);
	exprs_deinit(&e);
}

/* An answer that was asked for without values is asked for with values later. */
Test(sym, solver_values_later)
{
	struct sym_stats stats = { 0 };
	struct exprs e;
	exprs_init(&e);
	struct solver *s = solver_new(&e, &stats, 5000, NULL);
	expr_id x = expr_symbol(&e, 32, "x", NULL), y = expr_symbol(&e, 32, "y", NULL);
	struct constraint sum = { .refs = 1,
				  .count = 1,
				  .cond = expr_binary(&e, EX_EQ, expr_binary(&e, EX_ADD, x, y),
						      expr_const(&e, 32, 1000)) };
	expr_id less = expr_binary(&e, EX_ULT, x, expr_const(&e, 32, 10));
	struct model *m = NULL;

	cr_assert_eq(solver_check(s, &sum, less, NULL, NULL), ANSWER_YES);
	cr_assert_eq(solver_check(s, &sum, less, NULL, NULL), ANSWER_YES);
	cr_assert_eq(stats.by_cache, 1);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(solver_check(s, &sum, less, NULL, &m), ANSWER_YES);
		cr_assert_eq((uint32_t)(m->values[0] + m->values[1]), 1000);
		cr_assert_lt(m->values[0], 10);
		model_unref(m);
	}
	cr_assert_eq(stats.by_cache, 2);
	solver_free(s);
	exprs_deinit(&e);
}

/* A condition on x that holds for the value v: mostly an equality that can be turned back, or one that cannot. */
static expr_id holds_for(struct exprs *e, expr_id x, uint64_t v, uint64_t *seed)
{
	static const enum expr_op ops[] = { EX_ADD, EX_XOR, EX_XOR, EX_AND, EX_MUL };
	uint64_t values[2] = { v, v };
	expr_id y = x;

	for (unsigned i = 0; i < 3; i++) {
		*seed = hash_u64(*seed + 1);
		if (*seed % 4 == 0 && expr_get(e, y)->w == 4)
			y = *seed / 4 % 2 ? expr_zext(e, y, 8) : expr_sext(e, y, 8);
		else
			y = expr_binary(e, ops[*seed / 8 % 5], y,
					expr_const(e, expr_get(e, y)->w, *seed >> 8));
	}
	expr_eval_begin(e);
	v = expr_eval(e, y, values, 2);
	return expr_binary(e, *seed / 64 % 4 ? EX_EQ : EX_ULE, y,
			   expr_const(e, expr_get(e, y)->w, v));
}

/* Two symbols of four bits: what is called settled has the same value for all values of the path. */
Test(sym_path, settled_conditions_have_one_value)
{
	uint64_t seed = 5;
	unsigned settled = 0, open = 0;

	for (unsigned i = 0; i < 1500; i++) {
		struct exprs e;
		struct model *m = model_new(2);
		struct constraint *path = NULL;
		expr_id x[2], cond;
		uint64_t values[2], same;

		exprs_init(&e);
		for (unsigned k = 0; k < 2; k++) {
			x[k] = expr_symbol(&e, 4, k ? "y" : "x", NULL);
			seed = hash_u64(seed + 1);
			m->values[k] = seed % 16;
		}
		for (unsigned k = 0; k < 3; k++)
			path = path_push(&e, path,
					 holds_for(&e, x[k % 2], m->values[k % 2], &seed));
		cond = expr_binary(&e, EX_ULT, expr_binary(&e, EX_MUL, x[0], x[1]),
				   expr_const(&e, 4, seed >> 20));
		if (path_settles(&e, path, m, cond)) {
			settled++;
			expr_eval_begin(&e);
			same = expr_eval(&e, cond, m->values, 2);
			for (unsigned v = 0; v < 256; v++) {
				const struct constraint *c = path;

				values[0] = v % 16;
				values[1] = v / 16;
				expr_eval_begin(&e);
				while (c && expr_eval(&e, c->cond, values, 2))
					c = c->before;
				cr_assert(c || expr_eval(&e, cond, values, 2) == same, "case %u",
					  i);
			}
		} else {
			open++;
		}
		for (struct constraint *c = path, *before; c; c = before) {
			before = c->before;
			free(c);
		}
		model_unref(m);
		exprs_deinit(&e);
	}
	cr_assert_gt(settled, 100);
	cr_assert_gt(open, 100);
}

/* Questions over two bytes, one of them narrowed: an answer by trying is the truth. */
Test(sym_solver, values_tried_out_agree_with_all_values)
{
	struct exprs e;
	struct byte_sets b;
	uint64_t seed = 11;
	uint32_t symbol[2];
	unsigned yes = 0, no = 0;

	exprs_init(&e);
	byte_sets_init(&b, &e);
	byte_sets_begin(&b);
	expr_id p = expr_zext(&e, expr_symbol(&e, 8, "p", &symbol[0]), 32),
		q = expr_zext(&e, expr_symbol(&e, 8, "q", &symbol[1]), 32);

	for (int round = 0; round < 200; round++) {
		uint64_t values[8] = { 0 };
		bool possible = false;
		enum answer answer;
		expr_id conds[3];

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		conds[0] = expr_binary(&e, EX_ULT, p, expr_const(&e, 32, 1 + (seed >> 20) % 24));
		conds[1] = expr_binary(
			&e, EX_EQ,
			expr_binary(&e, EX_UREM,
				    expr_binary(&e, EX_ADD, q,
						expr_binary(&e, EX_MUL, p,
							    expr_const(&e, 32, (seed >> 30) % 31))),
				    expr_const(&e, 32, 31)),
			expr_const(&e, 32, (seed >> 40) % 31));
		conds[2] = expr_binary(&e, EX_ULT, expr_const(&e, 32, 200 + (seed >> 50) % 60), q);
		answer = local_check(&b, conds, 3, values, 8);
		for (unsigned v = 0; v < 65536 && !possible; v++) {
			uint64_t all[8] = { 0 };

			all[symbol[0]] = v & 255;
			all[symbol[1]] = v >> 8;
			expr_eval_begin(&e);
			possible = expr_eval(&e, conds[0], all, 8) &&
				   expr_eval(&e, conds[1], all, 8) &&
				   expr_eval(&e, conds[2], all, 8);
		}
		if (answer == ANSWER_YES) {
			expr_eval_begin(&e);
			for (int i = 0; i < 3; i++)
				cr_assert(expr_eval(&e, conds[i], values, 8), "round %d", round);
		}
		cr_assert(answer == ANSWER_UNKNOWN || (answer == ANSWER_YES) == possible,
			  "round %d: said %d, is %d", round, answer, possible);
		yes += answer == ANSWER_YES;
		no += answer == ANSWER_NO;
	}
	cr_assert(yes > 50 && no > 5, "%u yes, %u no", yes, no);
	byte_sets_deinit(&b);
	exprs_deinit(&e);
}
