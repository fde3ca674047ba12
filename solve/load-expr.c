#include "solve/load-expr.h"

#include "sym/value/expr.h"

enum { MAX_TABLE = 256 }; /* bytes of an object that a read at an unknown place may choose from */
enum { NOT_YET, DONE, IMPOSSIBLE };

void expr_terms_deinit(struct expr_terms *x)
{
	vec_deinit(&x->term_of);
	vec_deinit(&x->state);
	vec_deinit(&x->symbol_term);
}

void expr_terms_bind(struct expr_terms *x, uint32_t symbol, term_id term)
{
	while (x->symbol_term.len <= symbol)
		vec_push(&x->symbol_term, TERM_NONE);
	x->symbol_term.data[symbol] = term;
}

static const uint8_t binary_op[] = {
	[EX_ADD] = TERM_ADD,	   [EX_SUB] = TERM_SUB,	  [EX_MUL] = TERM_MUL,
	[EX_UDIV] = TERM_UDIV,	   [EX_SDIV] = TERM_SDIV, [EX_UREM] = TERM_UREM,
	[EX_SREM] = TERM_SREM,	   [EX_AND] = TERM_AND,	  [EX_OR] = TERM_OR,
	[EX_XOR] = TERM_XOR,	   [EX_SHL] = TERM_SHL,	  [EX_LSHR] = TERM_LSHR,
	[EX_ASHR] = TERM_ASHR,	   [EX_EQ] = TERM_EQ,	  [EX_ULT] = TERM_ULT,
	[EX_ULE] = TERM_ULE,	   [EX_SLT] = TERM_SLT,	  [EX_SLE] = TERM_SLE,
	[EX_CONCAT] = TERM_CONCAT,
};

static term_id term_at(const struct expr_terms *x, expr_id id)
{
	return x->term_of.data[id];
}

/* A byte of a table, chosen by the index: one comparison per byte. */
static term_id choose_byte(struct expr_terms *x, const struct expr *e)
{
	const struct snapshot *s = &x->exprs->snapshots.data[e->imm];
	term_id index = term_at(x, e->a), value = term_const(x->ts, 8, 0);

	if (s->size > MAX_TABLE)
		return TERM_NONE;
	for (uint32_t i = s->size; i-- > 0;) {
		bool symbolic = s->sym && s->sym[i];
		term_id byte =
			symbolic ? expr_term(x, s->sym[i]) : term_const(x->ts, 8, s->bytes[i]);

		if (byte == TERM_NONE)
			return TERM_NONE;
		value = term_ite(x->ts,
				 term_binary(x->ts, TERM_EQ, index,
					     term_const(x->ts, term_get(x->ts, index)->width, i)),
				 byte, value);
	}
	return value;
}

/* The operands have their terms. */
static term_id convert(struct expr_terms *x, const struct expr *e)
{
	switch (e->op) {
	case EX_CONST:
		return term_const(x->ts, e->w, e->imm);
	case EX_SYMBOL:
		return e->imm < x->symbol_term.len ? x->symbol_term.data[e->imm] : TERM_NONE;
	case EX_ITE:
		return term_ite(x->ts, term_at(x, e->a), term_at(x, e->b), term_at(x, e->c));
	case EX_ZEXT:
		return term_zext(x->ts, term_at(x, e->a), e->w);
	case EX_SEXT:
		return term_sext(x->ts, term_at(x, e->a), e->w);
	case EX_EXTRACT:
		return term_extract(x->ts, term_at(x, e->a), (unsigned)e->imm, e->w);
	case EX_READ:
		return choose_byte(x, e);
	default:
		if (e->op < ARRAY_SIZE(binary_op) && binary_op[e->op])
			return term_binary(x->ts, (enum term_op)binary_op[e->op], term_at(x, e->a),
					   term_at(x, e->b));
		return TERM_NONE;
	}
}

struct id_stack VEC_FIELDS(expr_id);

/* Operands that are still to be done go onto the stack. */
static bool push_operands(const struct expr_terms *x, const struct expr *e, struct id_stack *stack)
{
	const expr_id operand[] = { e->a, e->b, e->c };
	size_t before = stack->len;

	if (e->op == EX_CONST || e->op == EX_SYMBOL)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(operand); i++)
		if (operand[i] && x->state.data[operand[i]] == NOT_YET)
			vec_push(stack, operand[i]);
	return stack->len > before;
}

static bool has_operands(const struct expr_terms *x, const struct expr *e)
{
	const expr_id operand[] = { e->a, e->b, e->c };

	if (e->op == EX_CONST || e->op == EX_SYMBOL)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(operand); i++)
		if (operand[i] && x->state.data[operand[i]] != DONE)
			return false;
	return true;
}

term_id expr_term(struct expr_terms *x, uint32_t expr)
{
	struct id_stack stack = { 0 };

	while (x->state.len < x->exprs->nodes.len) {
		vec_push(&x->state, NOT_YET);
		vec_push(&x->term_of, TERM_NONE);
	}
	vec_push(&stack, expr);
	while (stack.len) {
		expr_id id = *vec_last(&stack);
		struct expr e = *expr_get(x->exprs, id);

		if (x->state.data[id] == NOT_YET) {
			term_id t;

			if (push_operands(x, &e, &stack))
				continue;
			t = has_operands(x, &e) ? convert(x, &e) : TERM_NONE;
			x->term_of.data[id] = t;
			x->state.data[id] = t == TERM_NONE ? IMPOSSIBLE : DONE;
		}
		stack.len--;
	}
	vec_deinit(&stack);
	return x->term_of.data[expr];
}
