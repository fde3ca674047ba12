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

/* The symbol of an equality with a constant, if every operation between the two can be turned back: at most one value
 * is left for it. As symbol + 1; 0 = there is none. */
static uint32_t pinned_by(const struct exprs *e, expr_id cond)
{
	const struct expr *x = expr_get(e, cond);

	if (x->op != EX_EQ || !expr_is_const(e, x->b))
		return 0;
	for (x = expr_get(e, x->a);; x = expr_get(e, x->a)) {
		if (x->op == EX_SYMBOL)
			return (uint32_t)x->imm + 1;
		if (x->op != EX_ZEXT && x->op != EX_SEXT &&
		    ((x->op != EX_ADD && x->op != EX_XOR) || !expr_is_const(e, x->b)))
			return 0;
	}
}

struct constraint *path_push(struct exprs *e, struct constraint *before, expr_id cond)
{
	struct constraint *c = xmalloc(sizeof(*c));

	*c = (struct constraint){ .refs = 1,
				  .count = before ? before->count + 1 : 1,
				  .cond = cond,
				  .pins = pinned_by(e, cond),
				  .before = before };
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

		if (!pin)
			return false;
		expr_eval_begin(e);
		if (!expr_eval(e, pin->cond, m ? m->values : NULL, m ? m->count : 0))
			return false;
	}
	return set;
}
