/* order/model/term.c - hash-consed bit-vector terms: construction, folding, evaluation.
 *
 * Division by zero follows SMT-LIB (all ones; remainder is the dividend), so that our evaluator and
 * the Z3 reference agree on every input; a trace that divides by zero failed before it got here. */
#include "order/model/term.h"

#include "base/strbuf.h"

#include <inttypes.h>

static const uint8_t arity[] = {
#define TERM_OP(id, name, n) [TERM_##id] = n,
#include "order/model/term-ops.def"
#undef TERM_OP
};
static const char *const names[] = {
#define TERM_OP(id, name, n) [TERM_##id] = name,
#include "order/model/term-ops.def"
#undef TERM_OP
};

unsigned term_arity(const struct term *t)
{
	return arity[t->op];
}

uint64_t term_mask(unsigned width)
{
	return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

int64_t term_signed(uint64_t value, unsigned width)
{
	if (width >= 64)
		return (int64_t)value;
	uint64_t sign = UINT64_C(1) << (width - 1);
	return (int64_t)((value ^ sign) - sign);
}

void terms_deinit(struct terms *ts)
{
	free(ts->data);
	free(ts->next);
	map_deinit(&ts->index);
	memset(ts, 0, sizeof(*ts));
}

static bool same(const struct term *x, const struct term *y)
{
	return x->op == y->op && x->width == y->width && x->a == y->a && x->b == y->b &&
	       x->c == y->c && x->value == y->value;
}

static term_id intern(struct terms *ts, struct term t)
{
	uint64_t key = hash_u64(t.value + t.op * UINT64_C(0x9E3779B97F4A7C15) + t.width);

	key = hash_u64(key ^ ((uint64_t)t.a << 32 | t.b)) ^ t.c;
	uint64_t *head = map_put(&ts->index, key, TERM_NONE);
	for (term_id id = (term_id)*head; id != TERM_NONE; id = ts->next[id])
		if (same(&ts->data[id], &t))
			return id;
	term_id id = (term_id)ts->len;
	vec_push(ts, t);
	if (ts->cap > ts->next_cap) {
		ts->next = xreallocarray(ts->next, ts->cap, sizeof(*ts->next));
		ts->next_cap = ts->cap;
	}
	ts->next[id] = (term_id)*head;
	*head = id;
	return id;
}

void terms_copy(struct terms *to, const struct terms *from)
{
	for (size_t i = 0; i < from->len; i++) {
		term_id id = intern(to, from->data[i]);
		assert(id == i);
		(void)id;
	}
}

term_id term_const(struct terms *ts, unsigned width, uint64_t value)
{
	assert(width >= 1 && width <= 64);
	return intern(ts, (struct term){ .op = TERM_CONST,
					 .width = (uint8_t)width,
					 .value = value & term_mask(width) });
}

term_id term_symbol(struct terms *ts, unsigned width, uint32_t symbol)
{
	assert(width >= 1 && width <= 64);
	return intern(ts,
		      (struct term){ .op = TERM_SYMBOL, .width = (uint8_t)width, .value = symbol });
}

static uint64_t divide(const struct term *t, unsigned w, uint64_t a, uint64_t b)
{
	int64_t sa = term_signed(a, w), sb = term_signed(b, w);

	switch (t->op) {
	case TERM_UDIV:
		return b ? a / b : UINT64_MAX;
	case TERM_UREM:
		return b ? a % b : a;
	case TERM_SDIV:
		if (!b)
			return sa < 0 ? 1 : UINT64_MAX;
		return sb == -1 ? (uint64_t)0 - (uint64_t)sa : (uint64_t)(sa / sb);
	default:
		if (!b)
			return a;
		return sb == -1 ? 0 : (uint64_t)(sa % sb);
	}
}

uint64_t term_apply(const struct term *t, unsigned w, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t r = 0;

	switch ((enum term_op)t->op) {
	case TERM_CONST:
	case TERM_SYMBOL:
	case TERM_NOPS:
		BUG("term_apply on a leaf");
	case TERM_NEG:
		r = (uint64_t)0 - a;
		break;
	case TERM_NOT:
		r = ~a;
		break;
	case TERM_ZEXT:
		r = a;
		break;
	case TERM_SEXT:
		r = (uint64_t)term_signed(a, w);
		break;
	case TERM_EXTRACT:
		r = a >> t->value;
		break;
	case TERM_ADD:
		r = a + b;
		break;
	case TERM_SUB:
		r = a - b;
		break;
	case TERM_MUL:
		r = a * b;
		break;
	case TERM_UDIV:
	case TERM_SDIV:
	case TERM_UREM:
	case TERM_SREM:
		r = divide(t, w, a, b);
		break;
	case TERM_AND:
		r = a & b;
		break;
	case TERM_OR:
		r = a | b;
		break;
	case TERM_XOR:
		r = a ^ b;
		break;
	case TERM_SHL:
		r = b >= w ? 0 : a << b;
		break;
	case TERM_LSHR:
		r = b >= w ? 0 : a >> b;
		break;
	case TERM_ASHR:
		r = (uint64_t)(term_signed(a, w) >> (b >= w ? w - 1 : b));
		break;
	case TERM_CONCAT: /* b is the low part; its width is ours minus a's */
		r = a << (t->width - w) | b;
		break;
	case TERM_EQ:
		r = a == b;
		break;
	case TERM_NE:
		r = a != b;
		break;
	case TERM_ULT:
		r = a < b;
		break;
	case TERM_ULE:
		r = a <= b;
		break;
	case TERM_SLT:
		r = term_signed(a, w) < term_signed(b, w);
		break;
	case TERM_SLE:
		r = term_signed(a, w) <= term_signed(b, w);
		break;
	case TERM_ITE:
		r = a ? b : c;
		break;
	}
	return r & term_mask(t->width);
}

static bool is_const(const struct terms *ts, term_id id, uint64_t *value)
{
	const struct term *t = term_get(ts, id);

	*value = t->value;
	return t->op == TERM_CONST;
}

term_id term_build(struct terms *ts, struct term t)
{
	uint64_t v[3] = { 0 };
	unsigned n = arity[t.op];
	term_id operand[3] = { t.a, t.b, t.c };
	bool all = true;

	for (unsigned i = 0; i < n; i++)
		all &= is_const(ts, operand[i], &v[i]);
	if (n && all)
		return term_const(ts, t.width,
				  term_apply(&t, ts->data[t.a].width, v[0], v[1], v[2]));
	return intern(ts, t);
}

term_id term_unary(struct terms *ts, enum term_op op, term_id a)
{
	assert(arity[op] == 1);
	return term_build(
		ts, (struct term){ .op = (uint8_t)op, .width = term_get(ts, a)->width, .a = a });
}

static bool compares(enum term_op op)
{
	return op >= TERM_EQ && op <= TERM_SLE;
}

term_id term_binary(struct terms *ts, enum term_op op, term_id a, term_id b)
{
	unsigned w = term_get(ts, a)->width;
	uint64_t k;

	assert(arity[op] == 2);
	assert(op == TERM_CONCAT || w == term_get(ts, b)->width);
	if ((op == TERM_ADD || op == TERM_SUB || op == TERM_OR || op == TERM_XOR) &&
	    is_const(ts, b, &k) && k == 0)
		return a;
	if (op == TERM_ADD && is_const(ts, a, &k) && k == 0)
		return b;
	if (w == 1 && op == TERM_AND && is_const(ts, b, &k))
		return k ? a : b;
	if (w == 1 && op == TERM_AND && is_const(ts, a, &k))
		return k ? b : a;
	if (compares(op))
		w = 1;
	else if (op == TERM_CONCAT)
		w += term_get(ts, b)->width;
	assert(w <= 64);
	return term_build(ts,
			  (struct term){ .op = (uint8_t)op, .width = (uint8_t)w, .a = a, .b = b });
}

term_id term_ite(struct terms *ts, term_id cond, term_id then, term_id otherwise)
{
	uint64_t k;

	assert(term_get(ts, cond)->width == 1);
	assert(term_get(ts, then)->width == term_get(ts, otherwise)->width);
	if (is_const(ts, cond, &k))
		return k ? then : otherwise;
	if (then == otherwise)
		return then;
	return term_build(ts, (struct term){ .op = TERM_ITE,
					     .width = term_get(ts, then)->width,
					     .a = cond,
					     .b = then,
					     .c = otherwise });
}

static term_id resize(struct terms *ts, enum term_op op, term_id a, unsigned low, unsigned width)
{
	unsigned old = term_get(ts, a)->width;

	assert(op == TERM_EXTRACT ? low + width <= old : width >= old);
	if (width == old)
		return a;
	return term_build(
		ts,
		(struct term){ .op = (uint8_t)op, .width = (uint8_t)width, .a = a, .value = low });
}

term_id term_zext(struct terms *ts, term_id a, unsigned width)
{
	return resize(ts, TERM_ZEXT, a, 0, width);
}

term_id term_sext(struct terms *ts, term_id a, unsigned width)
{
	return resize(ts, TERM_SEXT, a, 0, width);
}

term_id term_extract(struct terms *ts, term_id a, unsigned low, unsigned width)
{
	return resize(ts, TERM_EXTRACT, a, low, width);
}

term_id term_not(struct terms *ts, term_id a)
{
	const struct term *t = term_get(ts, a);

	assert(t->width == 1);
	switch (t->op) {
	case TERM_NOT:
		return t->a;
	case TERM_EQ:
		return term_binary(ts, TERM_NE, t->a, t->b);
	case TERM_NE:
		return term_binary(ts, TERM_EQ, t->a, t->b);
	case TERM_ULT:
		return term_binary(ts, TERM_ULE, t->b, t->a);
	case TERM_ULE:
		return term_binary(ts, TERM_ULT, t->b, t->a);
	case TERM_SLT:
		return term_binary(ts, TERM_SLE, t->b, t->a);
	case TERM_SLE:
		return term_binary(ts, TERM_SLT, t->b, t->a);
	default:
		return term_unary(ts, TERM_NOT, a);
	}
}

/* Visit every node below id once, operands first. Chains may be as deep as the trace is long, so
 * the stack is ours. */
static void postorder(const struct terms *ts, term_id id, void (*fn)(void *ctx, term_id id),
		      void *ctx)
{
	struct map seen = { 0 };
	VEC(term_id) stack = { 0 };

	vec_push(&stack, id);
	while (stack.len) {
		term_id x = *vec_last(&stack);
		uint64_t *state = map_put(&seen, x, 0);
		if (*state) {
			stack.len--;
			if (*state == 1) {
				fn(ctx, x);
				*map_find(&seen, x) = 2;
			}
			continue;
		}
		*state = 1;
		const struct term *t = &ts->data[x];
		term_id operand[3] = { t->a, t->b, t->c };
		for (unsigned i = 0; i < arity[t->op]; i++)
			if (!map_find(&seen, operand[i]))
				vec_push(&stack, operand[i]);
	}
	vec_deinit(&stack);
	map_deinit(&seen);
}

struct evaluation {
	const struct terms *ts;
	const uint64_t *values;
	struct map result;
};

static void eval_node(void *ctx, term_id id)
{
	struct evaluation *ev = ctx;
	const struct term *t = &ev->ts->data[id];
	term_id operand[3] = { t->a, t->b, t->c };
	uint64_t v[3] = { 0 }, r;

	for (unsigned i = 0; i < arity[t->op]; i++)
		v[i] = *map_find(&ev->result, operand[i]);
	if (t->op == TERM_CONST)
		r = t->value;
	else if (t->op == TERM_SYMBOL)
		r = ev->values[t->value] & term_mask(t->width);
	else
		r = term_apply(t, ev->ts->data[t->a].width, v[0], v[1], v[2]);
	map_put(&ev->result, id, r);
}

uint64_t term_eval(const struct terms *ts, term_id id, const uint64_t *values)
{
	struct evaluation ev = { .ts = ts, .values = values };

	postorder(ts, id, eval_node, &ev);
	uint64_t r = *map_find(&ev.result, id);
	map_deinit(&ev.result);
	return r;
}

struct symbol_walk {
	const struct terms *ts;
	void (*fn)(void *ctx, uint32_t symbol);
	void *ctx;
};

static void walk_node(void *ctx, term_id id)
{
	struct symbol_walk *w = ctx;

	if (w->ts->data[id].op == TERM_SYMBOL)
		w->fn(w->ctx, (uint32_t)w->ts->data[id].value);
}

void term_each_symbol(const struct terms *ts, term_id id, void (*fn)(void *ctx, uint32_t symbol),
		      void *ctx)
{
	struct symbol_walk w = { ts, fn, ctx };

	postorder(ts, id, walk_node, &w);
}

struct term_linear term_linear(const struct terms *ts, term_id id)
{
	struct term_linear r = { .ok = true };
	uint64_t mask = term_mask(term_get(ts, id)->width);

	for (;;) {
		const struct term *t = term_get(ts, id);
		uint64_t k;

		if (t->op == TERM_CONST) {
			r.offset = (r.offset + t->value) & mask;
			return r;
		}
		if (t->op == TERM_SYMBOL) {
			r.has_symbol = true;
			r.symbol = (uint32_t)t->value;
			return r;
		}
		if (t->op == TERM_ADD && is_const(ts, t->b, &k)) {
			r.offset = (r.offset + k) & mask;
			id = t->a;
		} else if (t->op == TERM_ADD && is_const(ts, t->a, &k)) {
			r.offset = (r.offset + k) & mask;
			id = t->b;
		} else if (t->op == TERM_SUB && is_const(ts, t->b, &k)) {
			r.offset = (r.offset - k) & mask;
			id = t->a;
		} else {
			return (struct term_linear){ .ok = false };
		}
	}
}

void term_print(const struct terms *ts, term_id id, struct strbuf *out)
{
	const struct term *t = term_get(ts, id);

	switch (t->op) {
	case TERM_CONST:
		strbuf_addf(out, "%" PRId64, term_signed(t->value, t->width == 1 ? 64 : t->width));
		return;
	case TERM_SYMBOL:
		strbuf_addf(out, "r%" PRIu64, t->value);
		return;
	default:
		break;
	}
	if (arity[t->op] == 2) {
		strbuf_addf(out, "(");
		term_print(ts, t->a, out);
		strbuf_addf(out, " %s ", names[t->op]);
		term_print(ts, t->b, out);
		strbuf_addf(out, ")");
		return;
	}
	strbuf_addf(out, "%s(", names[t->op]);
	term_print(ts, t->a, out);
	if (arity[t->op] == 3) {
		strbuf_addf(out, ", ");
		term_print(ts, t->b, out);
		strbuf_addf(out, ", ");
		term_print(ts, t->c, out);
	}
	strbuf_addf(out, ")");
}
