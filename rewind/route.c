/* rewind/route.c - see route.h.
 *
 * Only taken branches are recorded, so a moment whose address is not where the next record leads was reached by going
 * straight on. A call that is not entered (rewind/summaries.def) leaves many records: the return to the moment, all of
 * the callee's, the call. A call through a stub of the linkage table leaves two, and is one piece. */
#include "rewind/route.h"

#include "crumbs/crumbs.h"
#include "rewind/origins.h"

bool route_goes_on(const struct route *r, uint32_t passed)
{
	return r && passed < r->n;
}

static const struct insn *last_insn(const struct piece *p)
{
	return &p->function->insns.data[p->first + p->n - 1];
}

/* The records of a call that has returned, from its return on. Behind it the same call may have been made again, by what
 * it called. */
static uint32_t over_call(const struct route *r, uint32_t passed, uint64_t call, uint64_t back)
{
	unsigned open = 0;

	for (; passed < r->n; passed++) {
		open += r->branches[passed].to == back;
		if (r->branches[passed].from == call && --open == 0)
			return passed + 1;
	}
	return r->n; /* it began before the oldest record */
}

bool route_allows(const struct route *r, uint32_t passed, uint64_t at, const struct piece *p,
		  uint32_t *ret)
{
	const struct crumb_branch *b;
	const struct insn *last;

	*ret = passed;
	if (!route_goes_on(r, passed))
		return true;
	if (p->way == WAY_LOOP)
		return false;
	b = &r->branches[passed];
	last = last_insn(p);
	if (b->to != at) /* straight on */
		return p->way == WAY_JUMP && last->address + last->length == at;
	if (p->way == WAY_SKIPPED) {
		*ret = over_call(r, passed, last->address, at);
		return true;
	}
	*ret = passed + 1;
	if (b->from == last->address)
		return true;
	*ret = passed + 2;
	return p->way == WAY_CALL && passed + 1 < r->n && b[1].from == last->address;
}

bool piece_between(struct code *c, uint64_t from, uint64_t to, struct piece *ret)
{
	const char *why;
	const struct function *f = code_function(c, from, &why);
	const struct block *b = f ? function_block(f, from) : NULL;
	const struct insn *last = f ? function_insn(f, from) : NULL;
	const struct lift_op *ops, *end;
	int16_t exit = 0;

	if (!b || !last)
		return false;
	*ret = (struct piece){ .function = f,
			       .first = b->first,
			       .n = (uint32_t)(last - f->insns.data) - b->first + 1,
			       .way = WAY_JUMP,
			       .exit = -1,
			       .to = to };
	ops = insn_ops(f, last);
	end = ops + last->nops - 1;
	for (const struct lift_op *op = ops; op <= end; op++) {
		if (op->kind != LIFT_EXIT)
			continue;
		if (op->imm == to && ret->exit < 0)
			ret->exit = exit;
		exit++;
	}
	if (ret->exit < 0 && end->kind == LIFT_NEXT && end->w == LIFT_CALL)
		ret->way = WAY_CALL;
	if (ret->exit < 0 && end->kind == LIFT_NEXT && end->w == LIFT_RETURN)
		ret->way = WAY_RETURN;
	return true;
}

/* A piece behind which `passed` records lie begins no earlier than where the next one leads. */
static void route_clip(const struct route *r, uint32_t passed, struct piece *p)
{
	const struct insn *first = route_goes_on(r, passed)
					   ? function_insn(p->function, r->branches[passed].to)
					   : NULL;
	uint32_t n = first ? (uint32_t)(first - p->function->insns.data) : 0;

	if (first && n > p->first && n < p->first + p->n) {
		p->n -= n - p->first;
		p->first = n;
	}
}

/* The piece that ends with the next record, if that leads to `at`. */
static bool route_piece(const struct route *r, uint32_t passed, uint64_t at, struct piece *ret)
{
	return route_goes_on(r, passed) && r->branches[passed].to == at &&
	       piece_between(r->code, r->branches[passed].from, at, ret);
}

void route_filter(const struct route *r, uint32_t passed, uint64_t at, struct origins *c)
{
	unsigned kept = 0;
	uint32_t after;
	struct piece p;

	if (!route_goes_on(r, passed))
		return;
	for (unsigned i = 0; i < c->n; i++)
		if (route_allows(r, passed, at, &c->data[i], &after)) {
			route_clip(r, after, &c->data[i]);
			c->data[kept++] = c->data[i];
		}
	if (!kept && route_piece(r, passed, at, &p)) {
		route_clip(r, passed + 1, &p);
		c->data[kept++] = p;
	}
	if (!kept)
		c->why = "the branch records lead to code that cannot be read";
	c->n = kept;
	c->complete = kept > 0;
}

/* Can control go on behind the instruction? A jump back may be lifted as one that is not taken and leads on. */
static bool goes_on(const struct function *f, const struct insn *i)
{
	const struct lift_op *ops = insn_ops(f, i), *last = ops + i->nops - 1;
	uint64_t next = i->address + i->length;

	for (const struct lift_op *op = ops; op <= last; op++)
		if (op->kind == LIFT_EXIT && op->imm == next)
			return true;
	return last->kind != LIFT_NEXT || last->w == LIFT_SYSCALL ||
	       (!last->a && last->imm == next);
}

/* Can control go straight on from one address to another? */
static bool is_straight(struct code *c, uint64_t from, uint64_t to)
{
	const char *why;
	const struct function *f = code_function(c, from, &why);
	const struct insn *i = f ? function_insn(f, from) : NULL, *end;

	if (from == to)
		return true;
	for (end = f ? f->insns.data + f->insns.len : NULL; i && i < end && i->address < to; i++)
		if (!goes_on(f, i))
			return false;
	return i && i < end && i->address == to;
}

bool route_init(struct route *r, struct code *code, const struct crumb_branch *branches, size_t n,
		uint64_t pc, bool at_call)
{
	*r = (struct route){ .code = code, .branches = branches, .n = (uint32_t)n };
	if (!at_call)
		return n && is_straight(code, branches[0].to, pc);
	while (r->first < r->n && branches[r->first].from != pc)
		r->first++;
	return r->first++ < r->n;
}
