/* sym/value/path.c - see path.h.
 *
 * Programs compare single characters: once a letter has been found equal to a constant, everything that depends on it
 * alone is decided, however many branches look at it again. */
#include "sym/value/path.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct model *model_new(uint32_t count)
{
	struct model *m = xcalloc(1, sizeof(*m) + count * sizeof(m->values[0]));

	m->refs = 1;
	m->count = count;
	return m;
}

void model_unref(struct model *m)
{
	if (m && !--m->refs)
		free(m);
}

/* One operation back: *v was the result of x. False when it cannot be, or when it does not say what came in. */
static bool turn_back(const struct exprs *e, const struct expr *x, uint64_t *v)
{
	unsigned w = expr_get(e, x->a)->w;
	uint64_t inner = *v & mask_of(w);

	switch (x->op) {
	case EX_ZEXT:
		*v ^= inner;
		break;
	case EX_SEXT:
		*v ^= (uint64_t)sext_of(inner, w) & mask_of(x->w);
		break;
	case EX_ADD:
	case EX_XOR:
		if (!expr_is_const(e, x->b))
			return false;
		*v = x->op == EX_XOR ? *v ^ expr_get(e, x->b)->imm
				     : (*v - expr_get(e, x->b)->imm) & mask_of(w);
		return true;
	default:
		return false;
	}
	if (*v)
		return false;
	*v = inner;
	return true;
}

/* The symbol of an equality with a constant, if every operation between the two can be turned back: then there is one
 * value for it. As symbol + 1; 0 = there is none. */
static uint32_t pinned_by(const struct exprs *e, expr_id cond, uint64_t *v)
{
	const struct expr *x = expr_get(e, cond);

	if (x->op != EX_EQ || !expr_is_const(e, x->b))
		return 0;
	*v = expr_get(e, x->b)->imm;
	for (x = expr_get(e, x->a); x->op != EX_SYMBOL; x = expr_get(e, x->a))
		if (!turn_back(e, x, v))
			return 0;
	return (uint32_t)x->imm + 1;
}

struct constraint *path_push(struct exprs *e, struct constraint *before, expr_id cond)
{
	struct constraint *c = xcalloc(1, sizeof(*c));

	*c = (struct constraint){
		.refs = 1, .count = before ? before->count + 1 : 1, .cond = cond, .before = before
	};
	c->pins = pinned_by(e, cond, &c->value);
	c->last_pin = c->pins ? c : before ? before->last_pin : NULL;
	return c;
}

static const struct constraint *find_pin(const struct constraint *path, uint32_t symbol)
{
	const struct constraint *c = path->last_pin;

	while (c && c->pins != symbol + 1)
		c = c->before ? c->before->last_pin : NULL;
	return c;
}

bool path_settles(struct exprs *e, const struct constraint *path, const struct model *m,
		  expr_id cond)
{
	const uint32_t *set = path && path->last_pin ? expr_symbols(e, cond) : NULL;

	for (uint32_t i = 1; set && i <= set[0]; i++) {
		const struct constraint *pin = find_pin(path, set[i]);

		if (!pin || pin->value != (m && set[i] < m->count ? m->values[set[i]] : 0))
			return false;
	}
	return set;
}
