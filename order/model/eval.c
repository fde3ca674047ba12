/* order/model/eval.c - memoising evaluation of terms; see eval.h. */
#include "order/model/eval.h"

#define SYMBOL_TAG (UINT64_C(1) << 32)

void eval_init(struct eval *ev, const struct terms *terms, size_t symbols)
{
	*ev = (struct eval){ .terms = terms };
	ev->value = xcalloc(terms->len + 1, sizeof(*ev->value));
	ev->known = xcalloc(terms->len + 1, 1);
	ev->symbol = xcalloc(symbols + 1, sizeof(*ev->symbol));
	ev->symbol_known = xcalloc(symbols + 1, 1);
}

void eval_deinit(struct eval *ev)
{
	free(ev->value);
	free(ev->known);
	free(ev->symbol);
	free(ev->symbol_known);
	vec_deinit(&ev->trail);
	vec_deinit(&ev->stack);
}

void eval_set(struct eval *ev, uint32_t symbol, uint64_t value)
{
	assert(!ev->symbol_known[symbol]);
	ev->symbol[symbol] = value;
	ev->symbol_known[symbol] = 1;
	vec_push(&ev->trail, symbol | SYMBOL_TAG);
}

void eval_undo(struct eval *ev, size_t mark)
{
	while (ev->trail.len > mark) {
		uint64_t x = vec_pop(&ev->trail);
		if (x & SYMBOL_TAG)
			ev->symbol_known[(uint32_t)x] = 0;
		else
			ev->known[x] = 0;
	}
}

static bool leaf(struct eval *ev, const struct term *t, uint64_t *ret)
{
	if (t->op == TERM_CONST) {
		*ret = t->value;
		return true;
	}
	*ret = ev->symbol[t->value];
	return ev->symbol_known[t->value];
}

/* Operands are usually known or leaves: try them before taking out the stack. */
static bool operand(struct eval *ev, term_id id, uint64_t *ret, bool *pending)
{
	const struct term *t = &ev->terms->data[id];

	if (t->op <= TERM_SYMBOL)
		return leaf(ev, t, ret);
	if (ev->known[id]) {
		*ret = ev->value[id];
		return true;
	}
	*pending = true;
	vec_push(&ev->stack, id);
	return true;
}

static bool compute(struct eval *ev, term_id id)
{
	const struct term *t = &ev->terms->data[id];
	uint64_t v[3] = { 0 };
	bool pending = false, ok = true;
	unsigned n = term_arity(t);

	ok = operand(ev, t->a, &v[0], &pending);
	if (ok && n > 1)
		ok = operand(ev, t->b, &v[1], &pending);
	if (ok && n > 2)
		ok = operand(ev, t->c, &v[2], &pending);
	if (!ok || pending)
		return ok;
	ev->value[id] = term_apply(t, ev->terms->data[t->a].width, v[0], v[1], v[2]);
	ev->known[id] = 1;
	vec_push(&ev->trail, id);
	return true;
}

bool eval_get(struct eval *ev, term_id id, uint64_t *ret)
{
	const struct term *t = &ev->terms->data[id];

	if (t->op <= TERM_SYMBOL)
		return leaf(ev, t, ret);
	size_t base = ev->stack.len;
	if (!ev->known[id])
		vec_push(&ev->stack, id);
	while (ev->stack.len > base) {
		term_id x = *vec_last(&ev->stack);
		if (!ev->known[x] && !compute(ev, x)) {
			ev->stack.len = base;
			return false;
		}
		if (ev->known[x] && *vec_last(&ev->stack) == x)
			ev->stack.len--;
	}
	*ret = ev->value[id];
	return true;
}
