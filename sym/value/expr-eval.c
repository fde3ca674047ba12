/* sym/value/expr-eval.c - what an expression is worth under an assignment, which symbols it depends on,
 * and how it looks. Recursion is bounded by an explicit stack: expressions built by a long loop are
 * deeper than ours would be. */
#include "base/strbuf.h"
#include "sym/value/expr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double as_double(uint64_t v, unsigned w)
{
	float f;
	double d;
	uint32_t n = (uint32_t)v;

	if (w == 32) {
		memcpy(&f, &n, 4);
		return f;
	}
	memcpy(&d, &v, 8);
	return d;
}

static uint64_t from_double(double d, unsigned w)
{
	float f = (float)d;
	uint64_t v = 0;

	if (w == 32)
		memcpy(&v, &f, 4);
	else
		memcpy(&v, &d, 8);
	return v;
}

static bool compare(double a, double b, uint64_t pred)
{
	bool unordered = isnan(a) || isnan(b), yes = false;

	if (unordered)
		return pred & 8;
	if (pred & 1)
		yes |= a == b;
	if (pred & 2)
		yes |= a > b;
	if (pred & 4)
		yes |= a < b;
	return yes;
}

uint64_t expr_fold_fp(enum expr_op op, unsigned w, unsigned wa, uint64_t a, uint64_t b,
		      uint64_t imm)
{
	double x = as_double(a, wa), y = as_double(b, wa);
	float fx = (float)x, fy = (float)y;
	bool f = wa == 32;

	switch (op) {
	case EX_FADD:
		return from_double(f ? fx + fy : x + y, w);
	case EX_FSUB:
		return from_double(f ? fx - fy : x - y, w);
	case EX_FMUL:
		return from_double(f ? fx * fy : x * y, w);
	case EX_FDIV:
		return from_double(f ? fx / fy : x / y, w);
	case EX_FCMP:
		return compare(x, y, imm);
	case EX_FCAST:
		return from_double(x, w);
	case EX_FTOS:
		if (!(x >= -9223372036854775808.0 && x < 9223372036854775808.0))
			return (1ull << 63) & mask_of(w);
		return (uint64_t)(int64_t)x & mask_of(w);
	case EX_FTOU:
		if (!(x > -9223372036854775808.0 && x < 18446744073709551616.0))
			return (1ull << 63) & mask_of(w);
		return (x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x) & mask_of(w);
	case EX_STOF: {
		int64_t i = sext_of(a, wa);

		return w == 32 ? from_double((float)i, 32) : from_double((double)i, 64);
	}
	case EX_UTOF:
		return w == 32 ? from_double((float)a, 32) : from_double((double)a, 64);
	default:
		BUG("fold of floating-point operation %d", (int)op);
	}
}

void expr_eval_again(struct exprs *e)
{
	if (e->memo_cap < e->nodes.len) {
		uint32_t cap = (uint32_t)e->nodes.len * 2 + 1024;

		e->memo = xreallocarray(e->memo, cap, sizeof(*e->memo));
		e->memo_round = xreallocarray(e->memo_round, cap, sizeof(*e->memo_round));
		memset(e->memo_round + e->memo_cap, 0,
		       (cap - e->memo_cap) * sizeof(*e->memo_round));
		e->memo_cap = cap;
	}
}

void expr_eval_begin(struct exprs *e)
{
	expr_eval_again(e);
	if (++e->round == 0) {
		memset(e->memo_round, 0, e->memo_cap * sizeof(*e->memo_round));
		e->round = 1;
	}
}

static bool known(struct exprs *e, expr_id id)
{
	return !id || e->memo_round[id] == e->round;
}

/* Evaluate one node whose operands are known; false when it needs *more first (a snapshot's byte).
 */
static bool eval_node(struct exprs *e, expr_id id, const uint64_t *values, uint32_t count,
		      expr_id *more)
{
	const struct expr *x = expr_get(e, id);
	uint64_t a = x->a ? e->memo[x->a] : 0, b = x->b ? e->memo[x->b] : 0,
		 c = x->c ? e->memo[x->c] : 0, v;
	unsigned wa = expr_get(e, x->a)->w;

	switch (x->op) {
	case EX_CONST:
		v = x->imm;
		break;
	case EX_SYMBOL:
		v = x->imm < count ? values[x->imm] & mask_of(x->w) : 0;
		break;
	case EX_ITE:
		v = a ? b : c;
		break;
	case EX_ZEXT:
		v = a;
		break;
	case EX_SEXT:
		v = (uint64_t)sext_of(a, wa) & mask_of(x->w);
		break;
	case EX_EXTRACT:
		v = (a >> x->imm) & mask_of(x->w);
		break;
	case EX_CONCAT:
		v = a << expr_get(e, x->b)->w | b;
		break;
	case EX_READ: {
		const struct snapshot *s = &e->snapshots.data[x->imm];

		if (a >= s->size) {
			v = 0;
		} else if (s->sym && s->sym[a]) {
			*more = s->sym[a];
			if (!known(e, *more))
				return false;
			v = e->memo[*more];
		} else {
			v = s->bytes[a];
		}
		break;
	}
	default:
		if (x->op >= EX_FADD)
			v = expr_fold_fp(x->op, x->w, wa, a, b, x->imm);
		else
			v = expr_fold(x->op, wa, a, b);
	}
	e->memo[id] = v;
	e->memo_round[id] = e->round;
	return true;
}

uint64_t expr_eval(struct exprs *e, expr_id id, const uint64_t *values, uint32_t count)
{
	VEC(expr_id) stack = { 0 };

	assert(e->round && e->memo_cap >= e->nodes.len);
	if (known(e, id))
		return e->memo[id];
	vec_push(&stack, id);
	while (stack.len) {
		expr_id cur = *vec_last(&stack), more = 0;
		const struct expr *x = expr_get(e, cur);
		size_t before = stack.len;

		if (!known(e, x->a))
			vec_push(&stack, x->a);
		if (!known(e, x->b))
			vec_push(&stack, x->b);
		if (!known(e, x->c))
			vec_push(&stack, x->c);
		if (stack.len != before)
			continue;
		if (eval_node(e, cur, values, count, &more))
			stack.len--;
		else
			vec_push(&stack, more);
	}
	vec_deinit(&stack);
	return e->memo[id];
}

/* --- symbol sets --- */

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Is one of the two sets the union of both? */
static uint32_t *merge(const uint32_t *a, const uint32_t *b)
{
	uint32_t n = a[0] + b[0], k = 0;
	uint32_t *u = xmalloc((n + 1) * sizeof(*u));

	memcpy(u + 1, a + 1, a[0] * sizeof(*u));
	memcpy(u + 1 + a[0], b + 1, b[0] * sizeof(*u));
	if (n)
		qsort(u + 1, n, sizeof(*u), by_number);
	for (uint32_t i = 0; i < n; i++)
		if (!k || u[k] != u[1 + i])
			u[++k] = u[1 + i];
	u[0] = k;
	return u;
}

static uint32_t join_sets(struct exprs *e, uint32_t x, uint32_t y)
{
	uint32_t *u;

	if (x == y || !y)
		return x;
	if (!x)
		return y;
	u = merge(e->sets.data[x], e->sets.data[y]);
	if (u[0] == e->sets.data[x][0] || u[0] == e->sets.data[y][0]) {
		uint32_t same = u[0] == e->sets.data[x][0] ? x : y;

		free(u);
		return same;
	}
	vec_push(&e->sets, u);
	return (uint32_t)e->sets.len - 1;
}

static uint32_t new_set(struct exprs *e, uint32_t n, uint32_t only)
{
	uint32_t *u = xmalloc(2 * sizeof(*u));

	u[0] = n;
	u[1] = only;
	vec_push(&e->sets, u);
	return (uint32_t)e->sets.len - 1;
}

static uint32_t snapshot_set(struct exprs *e, const struct snapshot *s, expr_id *missing)
{
	uint32_t set = 0;

	*missing = 0;
	for (uint32_t i = 0; s->sym && i < s->size; i++) {
		if (!s->sym[i])
			continue;
		if (!e->set_of.data[s->sym[i]]) {
			*missing = s->sym[i];
			return 0;
		}
		set = join_sets(e, set, e->set_of.data[s->sym[i]]);
	}
	return set;
}

const uint32_t *expr_symbols(struct exprs *e, expr_id id)
{
	VEC(expr_id) stack = { 0 };

	if (e->sets.len == 1)
		new_set(e, 0, 0); /* set 1 is empty */
	while (e->set_of.len < e->nodes.len)
		vec_push(&e->set_of, 0);
	if (!e->set_of.data[id])
		vec_push(&stack, id);
	while (stack.len) {
		expr_id cur = *vec_last(&stack), kids[3], missing = 0;
		const struct expr *x = expr_get(e, cur);
		uint32_t set = 1;
		size_t before = stack.len;

		kids[0] = x->a;
		kids[1] = x->b;
		kids[2] = x->c;
		for (int k = 0; k < 3; k++)
			if (kids[k] && !e->set_of.data[kids[k]])
				vec_push(&stack, kids[k]);
		if (stack.len != before)
			continue;
		if (x->op == EX_SYMBOL)
			set = new_set(e, 1, (uint32_t)x->imm);
		for (int k = 0; k < 3; k++)
			if (kids[k])
				set = join_sets(e, e->set_of.data[kids[k]], set);
		if (x->op == EX_READ) {
			uint32_t more = snapshot_set(e, &e->snapshots.data[x->imm], &missing);

			if (missing) {
				vec_push(&stack, missing);
				continue;
			}
			set = join_sets(e, set, more);
		}
		e->set_of.data[cur] = set;
		stack.len--;
	}
	vec_deinit(&stack);
	return e->sets.data[e->set_of.data[id]];
}

/* --- printing --- */

static const char *const op_text[] = {
	[EX_ADD] = "+",	  [EX_SUB] = "-",    [EX_MUL] = "*",	 [EX_UDIV] = "/u", [EX_SDIV] = "/",
	[EX_UREM] = "%u", [EX_SREM] = "%",   [EX_AND] = "&",	 [EX_OR] = "|",	   [EX_XOR] = "^",
	[EX_SHL] = "<<",  [EX_LSHR] = ">>u", [EX_ASHR] = ">>",	 [EX_EQ] = "==",   [EX_ULT] = "<u",
	[EX_ULE] = "<=u", [EX_SLT] = "<",    [EX_SLE] = "<=",	 [EX_FADD] = "+f", [EX_FSUB] = "-f",
	[EX_FMUL] = "*f", [EX_FDIV] = "/f",  [EX_FCMP] = "cmpf",
};

static void print(struct exprs *e, expr_id id, struct strbuf *out, int depth)
{
	const struct expr *x = expr_get(e, id);

	if (depth > 12) {
		strbuf_adds(out, "...");
		return;
	}
	switch (x->op) {
	case EX_CONST:
		strbuf_addf(out, "%lld",
			    (long long)(x->w == 1 ? (int64_t)x->imm : sext_of(x->imm, x->w)));
		return;
	case EX_SYMBOL:
		strbuf_adds(out, e->symbols.data[x->imm].name);
		return;
	case EX_ITE:
		strbuf_adds(out, "(");
		print(e, x->a, out, depth + 1);
		strbuf_adds(out, " ? ");
		print(e, x->b, out, depth + 1);
		strbuf_adds(out, " : ");
		print(e, x->c, out, depth + 1);
		strbuf_adds(out, ")");
		return;
	case EX_ZEXT:
	case EX_SEXT:
	case EX_FCAST:
	case EX_FTOS:
	case EX_FTOU:
	case EX_STOF:
	case EX_UTOF:
		strbuf_addf(out, "%s%u(",
			    x->op == EX_ZEXT   ? "u"
			    : x->op == EX_SEXT ? "s"
					       : "f",
			    x->w);
		print(e, x->a, out, depth + 1);
		strbuf_adds(out, ")");
		return;
	case EX_EXTRACT:
		print(e, x->a, out, depth + 1);
		strbuf_addf(out, "[%u:%u]", (unsigned)x->imm + x->w - 1, (unsigned)x->imm);
		return;
	case EX_CONCAT:
		strbuf_adds(out, "(");
		print(e, x->a, out, depth + 1);
		strbuf_adds(out, " . ");
		print(e, x->b, out, depth + 1);
		strbuf_adds(out, ")");
		return;
	case EX_READ:
		strbuf_addf(out, "array%u[", (unsigned)x->imm);
		print(e, x->a, out, depth + 1);
		strbuf_adds(out, "]");
		return;
	default:
		break;
	}
	if (x->op == EX_EQ && expr_get(e, x->a)->w == 1 && expr_is_const(e, x->b)) {
		strbuf_adds(out, "!");
		print(e, x->a, out, depth + 1);
		return;
	}
	strbuf_adds(out, "(");
	print(e, x->a, out, depth + 1);
	strbuf_addf(out, " %s ", op_text[x->op]);
	print(e, x->b, out, depth + 1);
	strbuf_adds(out, ")");
}

void expr_print(struct exprs *e, expr_id id, struct strbuf *out)
{
	print(e, id, out, 0);
}
