/* rewind/known.c - see known.h.
 *
 * Behind "if (!p)" the compiler knows that p is null, and so it does behind "q->p = NULL". An access through p there is one to
 * a fixed address: the instruction has no register that could be followed. What did tell the compiler? Something that every
 * way to the instruction goes through, in the same function: a comparison of 64 bits with 0 that came out equal, or a store
 * of 64 bits of 0. We collect these, going from each block to the last one that all ways to it go through. If there
 * is exactly one, it is that one; if there are several, nobody knows. A local variable that was set to NULL leaves neither, so
 * even the only one is no proof: what follows from it is likely, never certain. */
#include "rewind/known.h"

#include "rewind/fixed.h"
#include "rewind/reach.h"

enum { MOST_BEFORE = 64 };

/* One instruction that may have told it, and what it looked at: a LOAD or GET of its operations; NULL for a store. */
struct teller {
	const struct function *function;
	const struct insn *insn;
	const struct lift_op *looked_at;
};

/* What the temporary is made of: one register or one read, and zeroes. False: of something else. */
static bool find_leaf(const struct lift_op *ops, unsigned n, uint16_t temp,
		      const struct lift_op **leaf)
{
	const struct lift_op *d = trail_definition(ops, n, temp);

	if (!d || d->w != 64)
		return false;
	switch (d->kind) {
	case LIFT_CONST:
		return d->imm == 0;
	case LIFT_GET:
	case LIFT_LOAD:
		if (*leaf && *leaf != d && (d->kind == LIFT_LOAD || (*leaf)->imm != d->imm))
			return false;
		*leaf = d;
		return true;
	case LIFT_AND:
	case LIFT_SUB:
		return find_leaf(ops, n, d->a, leaf) && find_leaf(ops, n, d->b, leaf);
	default:
		return false;
	}
}

/* Does the instruction compare 64 bits with 0? What; NULL: it does not. */
static const struct lift_op *compared_with_0(const struct function *f, const struct insn *in)
{
	const struct lift_op *ops = insn_ops(f, in), *put, *equal, *leaf = NULL;

	put = trail_last_put(ops, in->nops, LIFT_ZF);
	equal = put ? trail_definition(ops, in->nops, put->a) : NULL;
	if (!equal || equal->kind != LIFT_EQ || !find_leaf(ops, in->nops, equal->a, &leaf) ||
	    !find_leaf(ops, in->nops, equal->b, &leaf))
		return NULL;
	return leaf;
}

static bool sets_flags(const struct function *f, const struct insn *in)
{
	return trail_last_put(insn_ops(f, in), in->nops, LIFT_ZF) != NULL;
}

static bool branches(const struct function *f, const struct insn *in)
{
	for (unsigned i = 0; i < in->nops; i++)
		if (insn_ops(f, in)[i].kind == LIFT_EXIT)
			return true;
	return false;
}

static bool is_0(const struct function *f, const struct insn *in, const struct lift_op *value)
{
	struct fixed reg;

	if (!value || value->kind != LIFT_GET || value->imm >= 16)
		return value && value->kind == LIFT_CONST && value->imm == 0;
	reg = fixed_at(f, in->address, (unsigned)value->imm);
	return reg.kind == FIXED_NUMBER && reg.number == 0;
}

static bool stores_0(const struct function *f, const struct insn *in)
{
	const struct lift_op *ops = insn_ops(f, in);

	for (unsigned i = 0; i < in->nops; i++) {
		if (ops[i].kind == LIFT_STORE && ops[i].w == 64 &&
		    is_0(f, in, trail_definition(ops, in->nops, ops[i].b)))
			return true;
	}
	return false;
}

/* The value that it looked at when it ran last; of a store, what lies there at the failure: what was overwritten since is not
 * what the compiler knew. False: it is not in the suffix, or the value is not known. *at: where. */
static bool value_then(const struct trail *t, const struct teller *k, struct cursor *at,
		       uint64_t *value)
{
	struct trail u = *t;
	const struct function *f;
	struct past *p;
	uint64_t address;

	do {
		if (!trail_back(&u))
			return false;
	} while (trail_insn(&u, &f) != k->insn);
	*at = u.at;
	if (!k->looked_at)
		return trail_stored_at(&u, &address) &&
		       past_value(t->h, t->r->start, past_load(t->h, t->r->start, address, 64),
				  value);
	p = step_inside(t->h, t->best, &u.at.node->step, trail_order(&u.at));
	return trail_evaluate(t, p, insn_ops(f, k->insn), k->insn->nops, k->looked_at->dst, value);
}

struct search {
	struct trail *t;
	struct teller found;
	struct cursor at;
	unsigned n; /* that can have told it */
};

static void consider(struct search *s, struct teller k)
{
	struct cursor at = { 0 };
	uint64_t value;

	if (value_then(s->t, &k, &at, &value) && value != 0)
		return;
	s->n++;
	s->found = k;
	s->at = at;
}

/* The last instruction of the block before its branch that sets flags, and the stores. */
static void look_into_block(struct search *s, const struct function *f, const struct block *b,
			    uint32_t n)
{
	bool branched = n == b->n && branches(f, &f->insns.data[b->first + n - 1]);

	for (uint32_t i = n; i-- > 0;) {
		const struct insn *in = &f->insns.data[b->first + i];
		const struct lift_op *leaf = branched ? compared_with_0(f, in) : NULL;

		if (leaf)
			consider(s, (struct teller){ f, in, leaf });
		if (stores_0(f, in))
			consider(s, (struct teller){ .function = f, .insn = in });
		branched &= !sets_flags(f, in);
	}
}

/* The only block from which control can come; false: there are several, or none. */
static bool only_way(struct trail *t, const struct function **f, const struct block **b)
{
	struct ways ways = { 0 };
	const struct function *g;
	const struct insn *call = code_call_before(t->h->code, (*b)->start, &g);
	bool only = code_jumps_to(t->h->code, *f, (*b)->start, &ways) && ways.len + !!call == 1;

	if (only && ways.len) {
		*f = ways.data[0].function;
		*b = &(*f)->blocks.data[ways.data[0].block];
	} else if (only) {
		only = g == *f;
		*b = only ? function_block(g, call->address) : NULL;
	}
	vec_deinit(&ways);
	return only;
}

/* Go to the block that every way to this one goes through last. Rarely executed parts of a function lie elsewhere and can be
 * entered in several places; there the only way to a block is asked for. */
static bool go_before(struct trail *t, struct reaches *r, const struct function **f,
		      const struct block **b)
{
	uint32_t before;

	if ((*f)->is_part)
		return only_way(t, f, b);
	if ((*b)->start == (*f)->low ||
	    !reach_block_before(r, *f, (uint32_t)(*b - (*f)->blocks.data), &before))
		return false;
	*b = &(*f)->blocks.data[before];
	return true;
}

static void find_tellers(struct search *s)
{
	struct trail *t = s->t;
	struct reaches *r = reaches_new(t->h);
	const char *why;
	uint64_t pc = t->r->start->pc;
	const struct function *f = code_function(t->h->code, pc, &why);
	const struct block *b = f ? function_block(f, pc) : NULL;
	uint32_t n = b ? (uint32_t)(function_insn(f, pc) - f->insns.data) - b->first : 0;

	if (b)
		look_into_block(s, f, b, n);
	for (unsigned i = 0; b && i < MOST_BEFORE && s->n < 2 && go_before(t, r, &f, &b); i++)
		look_into_block(s, f, b, b->n);
	reaches_free(r);
}

bool known_trace(struct trail *t)
{
	struct search s = { .t = t };
	struct link l = { .kind = LINK_KNOWN };

	find_tellers(&s);
	if (s.n != 1 || !s.at.node)
		return false;
	t->at = s.at;
	l.insn = s.found.insn->address;
	trail_add(t, l);
	return s.found.looked_at ? trail_to_operand(t) && trail_walk(t) : trail_to_store(t);
}
