/* sym/value/solver-bytes.c - questions about one byte.
 *
 * Programs ask the same few things of every byte of their input: is it a dash, a digit, the end? So
 * each condition is first said of no byte in particular (the symbol is replaced by one that stands
 * for all), and the set of values for which it holds is computed once: 256 evaluations, 32 bytes. A
 * question is then the intersection of the sets of its conditions. */
#include "sym/value/solver-bytes.h"

#define TOO_DEEP 12 /* nobody asks that of a byte */

void byte_sets_init(struct byte_sets *b, struct exprs *e)
{
	*b = (struct byte_sets){ .e = e };
}

void byte_sets_begin(struct byte_sets *b)
{
	if (!b->any)
		b->any = expr_symbol(b->e, 8, "any byte", &b->any_symbol);
}

void byte_sets_deinit(struct byte_sets *b)
{
	map_deinit(&b->renamed);
	map_deinit(&b->known);
	vec_deinit(&b->sets);
}

static expr_id rename_in(struct byte_sets *b, expr_id id);

static expr_id rebuild(struct byte_sets *b, const struct expr *x)
{
	expr_id a = rename_in(b, x->a), y = x->b ? rename_in(b, x->b) : 0;

	switch (x->op) {
	case EX_ITE:
		return expr_ite(b->e, a, y, rename_in(b, x->c));
	case EX_ZEXT:
		return expr_zext(b->e, a, x->w);
	case EX_SEXT:
		return expr_sext(b->e, a, x->w);
	case EX_EXTRACT:
		return expr_extract(b->e, a, (unsigned)x->imm, x->w);
	case EX_CONCAT:
		return expr_concat(b->e, a, y);
	case EX_READ:
		return expr_read(b->e, (uint32_t)x->imm, a);
	default:
		return expr_binary(b->e, x->op, a, y);
	}
}

static expr_id rename_in(struct byte_sets *b, expr_id id)
{
	const struct expr x = *expr_get(b->e, id); /* nodes move when others are made */
	uint64_t *known = map_find(&b->renamed, id);
	expr_id to;

	if (x.op == EX_CONST)
		return id;
	if (x.op == EX_SYMBOL)
		return b->any;
	if (known)
		return (expr_id)*known;
	to = rebuild(b, &x);
	*map_put(&b->renamed, id, 0) = to;
	return to;
}

/* Bytes of the program that were looked up at an unknown place may depend on the symbol, too. */
static bool is_plain(const struct byte_sets *b, expr_id id)
{
	const struct expr *x = expr_get(b->e, id);

	if (x->op == EX_CONST || x->op == EX_SYMBOL)
		return true;
	if (x->depth > TOO_DEEP || x->op >= EX_FADD ||
	    (x->op == EX_READ && b->e->snapshots.data[x->imm].sym))
		return false;
	return is_plain(b, x->a) && (!x->b || is_plain(b, x->b)) && (!x->c || is_plain(b, x->c));
}

static void try_out(struct byte_sets *b, expr_id cond, uint32_t symbol, struct byte_set *ret)
{
	uint64_t *values = xcalloc(symbol + 1, sizeof(*values));

	*ret = (struct byte_set){ 0 };
	for (uint64_t v = 0; v < 256; v++) {
		values[symbol] = v;
		expr_eval_begin(b->e);
		if (expr_eval(b->e, cond, values, symbol + 1))
			ret->bits[v / 64] |= 1ull << v % 64;
	}
	free(values);
}

static struct byte_set set_of(struct byte_sets *b, expr_id cond, bool *cached)
{
	struct byte_set set;
	uint64_t *known;

	if (!is_plain(b, cond)) {
		*cached = false;
		try_out(b, cond, expr_symbols(b->e, cond)[1], &set);
		return set;
	}
	cond = rename_in(b, cond);
	known = map_find(&b->known, cond);
	if (known)
		return b->sets.data[*known];
	*cached = false;
	try_out(b, cond, b->any_symbol, &set);
	map_put(&b->known, cond, b->sets.len);
	vec_push(&b->sets, set);
	return set;
}

struct byte_set byte_sets_set(struct byte_sets *b, expr_id cond)
{
	bool cached;

	return set_of(b, cond, &cached);
}

enum answer byte_sets_check(struct byte_sets *b, const expr_id *conds, size_t n, uint64_t *value,
			    bool *cached)
{
	struct byte_set all = { { ~0ull, ~0ull, ~0ull, ~0ull } };

	*cached = true;
	for (size_t i = 0; i < n; i++) {
		struct byte_set set = set_of(b, conds[i], cached);

		for (int k = 0; k < 4; k++)
			all.bits[k] &= set.bits[k];
	}
	for (uint64_t v = 0; v < 256; v++) {
		*value = (v + 'a') & 255; /* readable inputs first */
		if (all.bits[*value / 64] >> *value % 64 & 1)
			return ANSWER_YES;
	}
	return ANSWER_NO;
}
