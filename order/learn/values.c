/* order/learn/values.c - why is a condition false? In terms of which read observed which write.
 *
 * Values are followed back only as far as needed. Each read of the condition starts as an unknown;
 * the latest unknown (in the witness) is replaced by what its source wrote, which is a constant or
 * "another read plus a constant", until the condition is false whatever the remaining unknowns are.
 * The sources used are the explanation. Where a write computed something else, or after many
 * replacements, a value atom stands for the rest: "read r returns v" follows, by clauses, from its
 * source and the values that went into it.
 *
 * All arithmetic is modulo 2^width: "x + 1 == x + 2" is false for every x, but "x < x + 1" is not
 * true for every x, so only equalities are decided between unknowns. */
#include "order/learn/learn.h"

#define MOST_STEPS 40

enum { EXACT, SHIFTED, ANYTHING };

struct abstract { /* EXACT: offset; SHIFTED: symbol + offset */
	uint8_t kind;
	uint32_t symbol;
	uint64_t offset;
};

struct learner_values {
	struct abstract *symbol; /* what each symbol of the condition is known as */
	struct abstract *memo;	 /* by term */
	uint32_t *memo_stamp, stamp;
	uint32_t *visited, visit; /* by read: value clauses made in this round */
	VEC(uint32_t) support, stack;
	struct lits clause;
};

void learner_values_init(struct learner *l)
{
	struct learner_values *x = l->values = xcalloc(1, sizeof(*x));

	x->symbol = xcalloc(l->p->nsymbols + 1, sizeof(*x->symbol));
	x->memo = xcalloc(l->p->terms.len + 1, sizeof(*x->memo));
	x->memo_stamp = xcalloc(l->p->terms.len + 1, sizeof(*x->memo_stamp));
	x->visited = xcalloc(l->p->ne + 1, sizeof(*x->visited));
}

void learner_values_deinit(struct learner *l)
{
	struct learner_values *x = l->values;

	free(x->symbol);
	free(x->memo);
	free(x->memo_stamp);
	free(x->visited);
	vec_deinit(&x->support);
	vec_deinit(&x->stack);
	vec_deinit(&x->clause);
	free(x);
}

/* ---- abstract evaluation ---- */

static struct abstract exact(uint64_t v)
{
	return (struct abstract){ EXACT, 0, v };
}

static struct abstract combine(const struct learner *l, const struct term *t,
			       const struct abstract *v)
{
	const struct abstract *a = &v[0], *b = &v[1];
	uint64_t mask = term_mask(t->width);
	bool same = a->kind == SHIFTED && b->kind == SHIFTED && a->symbol == b->symbol;
	unsigned n = term_arity(t);

	if (a->kind == EXACT && (n < 2 || b->kind == EXACT) && (n < 3 || v[2].kind == EXACT))
		return exact(term_apply(t, l->p->terms.data[t->a].width, a->offset, b->offset,
					v[2].offset));
	switch (t->op) {
	case TERM_ADD:
		if (a->kind == SHIFTED && b->kind == EXACT)
			return (struct abstract){ SHIFTED, a->symbol,
						  (a->offset + b->offset) & mask };
		if (a->kind == EXACT && b->kind == SHIFTED)
			return (struct abstract){ SHIFTED, b->symbol,
						  (a->offset + b->offset) & mask };
		break;
	case TERM_SUB:
		if (a->kind == SHIFTED && b->kind == EXACT)
			return (struct abstract){ SHIFTED, a->symbol,
						  (a->offset - b->offset) & mask };
		if (same)
			return exact((a->offset - b->offset) & mask);
		break;
	case TERM_EQ:
	case TERM_NE:
		if (same)
			return exact((a->offset == b->offset) == (t->op == TERM_EQ));
		break;
	case TERM_AND:
		if ((a->kind == EXACT && !a->offset) || (b->kind == EXACT && !b->offset))
			return exact(0);
		break;
	case TERM_OR:
		if ((a->kind == EXACT && a->offset == mask) ||
		    (b->kind == EXACT && b->offset == mask))
			return exact(mask);
		break;
	case TERM_ITE:
		if (a->kind == EXACT)
			return a->offset ? v[1] : v[2];
		break;
	default:
		break;
	}
	return (struct abstract){ .kind = ANYTHING };
}

/* Operands have smaller ids, so a stack of our own is enough for deep terms. */
static struct abstract abstract_eval(struct learner *l, term_id root)
{
	struct learner_values *x = l->values;
	const struct terms *ts = &l->p->terms;

	x->stamp++;
	x->stack.len = 0;
	vec_push(&x->stack, root);
	while (x->stack.len) {
		term_id id = *vec_last(&x->stack);
		const struct term *t = &ts->data[id];
		term_id operand[3] = { t->a, t->b, t->c };
		struct abstract v[3] = { 0 };
		bool ready = true;

		for (unsigned i = 0; i < term_arity(t); i++) {
			if (x->memo_stamp[operand[i]] != x->stamp) {
				vec_push(&x->stack, operand[i]);
				ready = false;
			} else {
				v[i] = x->memo[operand[i]];
			}
		}
		if (!ready)
			continue;
		x->stack.len--;
		x->memo_stamp[id] = x->stamp;
		if (t->op == TERM_CONST)
			x->memo[id] = exact(t->value);
		else if (t->op == TERM_SYMBOL)
			x->memo[id] = x->symbol[t->value];
		else
			x->memo[id] = combine(l, t, v);
	}
	return x->memo[root];
}

/* ---- value atoms ---- */

static lit value_lit(struct learner *l, uint32_t r)
{
	return lit_pos(learner_atom(l, ATOM_VALUE, r, 0, l->seen[r], true));
}

static bool certain(const struct learner *l, uint32_t r)
{
	return l->f->pinned[r] && l->f->pin[r] == l->seen[r];
}

struct value_clause {
	struct learner *l;
	struct lits clause;
	VEC(uint32_t) todo;
};

static void value_operand(void *ctx, uint32_t symbol)
{
	struct value_clause *vc = ctx;
	struct learner *l = vc->l;
	uint32_t q = l->p->reader[symbol];

	if (q == NONE || certain(l, q))
		return;
	vec_push(&vc->clause, lit_not(value_lit(l, q)));
	vec_push(&vc->todo, q);
}

/* Clauses by which the sources of the witness imply that r returns what it returns. */
static void justify_value(struct learner *l, uint32_t r)
{
	struct learner_values *x = l->values;
	struct value_clause vc = { .l = l };

	vec_push(&vc.todo, r);
	while (vc.todo.len) {
		uint32_t q = vec_pop(&vc.todo), w = l->source[q];
		if (x->visited[q] == x->visit || certain(l, q))
			continue;
		x->visited[q] = x->visit;
		lit is = value_lit(l, q);
		if (sat_value(&l->sat, is) > 0)
			continue;
		vc.clause.len = 0;
		vec_push(&vc.clause, lit_not(source_lit(l, q, w)));
		if (w != INITIAL && !l->f->fixed[w])
			term_each_symbol(&l->p->terms, l->p->ev[w].value, value_operand, &vc);
		vec_push(&vc.clause, is);
		sat_add(&l->sat, vc.clause.data, vc.clause.len);
		l->lemmas++;
	}
	vec_deinit(&vc.clause);
	vec_deinit(&vc.todo);
}

/* ---- explanations ---- */

static void start_symbol(void *ctx, uint32_t symbol)
{
	struct learner *l = ctx;
	struct learner_values *x = l->values;
	uint32_t r = l->p->reader[symbol];

	if (r == NONE) {
		x->symbol[symbol] = exact(l->p->input[symbol]);
		return;
	}
	vec_push(&x->support, symbol);
	if (certain(l, r))
		x->symbol[symbol] = exact(l->seen[r]);
	else
		x->symbol[symbol] = (struct abstract){ SHIFTED, symbol, 0 };
}

/* The unknown read that comes last in the witness. */
static uint32_t latest_unknown(const struct learner *l)
{
	const struct learner_values *x = l->values;
	uint32_t best = NONE;

	for (size_t i = 0; i < x->support.len; i++) {
		const struct abstract *a = &x->symbol[x->support.data[i]];
		if (a->kind != SHIFTED)
			continue;
		if (best == NONE ||
		    l->topology.pos[l->p->reader[a->symbol]] > l->topology.pos[l->p->reader[best]])
			best = a->symbol;
	}
	return best;
}

/* What the source of r wrote, in terms of one earlier unknown. False: too complicated. */
static bool written_value(const struct learner *l, uint32_t w, uint32_t cell, struct abstract *ret)
{
	if (w == INITIAL) {
		*ret = exact(l->p->initial[cell]);
		return true;
	}
	if (l->f->fixed[w]) {
		*ret = exact(l->f->fixed_value[w]);
		return true;
	}
	struct term_linear t = term_linear(&l->p->terms, l->p->ev[w].value);
	if (!t.ok)
		return false;
	*ret = exact(t.offset);
	if (!t.has_symbol)
		return true;
	uint32_t q = l->p->reader[t.symbol];
	if (q == NONE)
		ret->offset += l->p->input[t.symbol];
	else if (certain(l, q))
		ret->offset += l->seen[q];
	else
		*ret = (struct abstract){ SHIFTED, t.symbol, t.offset };
	ret->offset &= term_mask(l->p->cell_width[cell]);
	return true;
}

static void replace(struct learner *l, uint32_t symbol, struct abstract by)
{
	struct learner_values *x = l->values;
	uint64_t mask = term_mask(l->p->cell_width[l->p->ev[l->p->reader[symbol]].cell]);

	for (size_t i = 0; i < x->support.len; i++) {
		struct abstract *a = &x->symbol[x->support.data[i]];
		if (a->kind == SHIFTED && a->symbol == symbol)
			*a = (struct abstract){ by.kind, by.symbol,
						(a->offset + by.offset) & mask };
	}
}

void explain_condition(struct learner *l, uint32_t condition)
{
	struct learner_values *x = l->values;
	term_id term = l->p->conditions.data[condition].term;
	struct abstract by;

	x->support.len = x->clause.len = 0;
	x->visit++;
	term_each_symbol(&l->p->terms, term, start_symbol, l);
	for (unsigned step = 0; abstract_eval(l, term).kind != EXACT; step++) {
		uint32_t symbol = latest_unknown(l), r;
		assert(symbol != NONE);
		r = l->p->reader[symbol];
		if (step < MOST_STEPS && written_value(l, l->source[r], l->p->ev[r].cell, &by)) {
			vec_push(&x->clause, lit_not(source_lit(l, r, l->source[r])));
		} else {
			justify_value(l, r);
			vec_push(&x->clause, lit_not(value_lit(l, r)));
			by = exact(l->seen[r]);
		}
		replace(l, symbol, by);
	}
	sat_add(&l->sat, x->clause.data, x->clause.len);
	l->lemmas++;
}
