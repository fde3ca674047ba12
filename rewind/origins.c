/* rewind/origins.c - see origins.h.
 *
 * Control has come
 *   - inside a function: by its jumps (rewind/code.c);
 *   - at its first instruction: from the caller. The return address is on the stack, so there is one;
 *   - behind a call: by the callee's returns. A call that rewind/summaries.def describes is skipped.
 * Dead frames need no code of their own: a return reads its address below the stack pointer, where
 * the dump still has it, so a callee that did not run there contradicts the dump. */
#include "rewind/origins.h"

#include "base/mem.h"
#include "rewind/targets.h"

static void add_piece(struct origins *c, struct piece p)
{
	if (c->n < MOST_WAYS)
		c->data[c->n++] = p;
	else
		c->complete = false;
}

static void add_way(struct origins *c, const struct way *w, uint64_t to)
{
	const struct block *b = &w->function->blocks.data[w->block];

	add_piece(c, (struct piece){ .function = w->function,
				     .first = b->first,
				     .n = b->n,
				     .way = w->kind,
				     .exit = w->exit,
				     .to = to });
}

/* The block that ends with the call `i`, as a piece. */
static struct piece calling_piece(const struct function *f, const struct insn *i, uint64_t to)
{
	const struct block *b = function_block(f, i->address);

	return (struct piece){
		.function = f, .first = b->first, .n = b->n, .way = WAY_CALL, .exit = -1, .to = to
	};
}

/* The callee's last deed may be to jump to an imported function, which then returns in its place. */
static void from_tail_calls(struct tree *t, const struct function *callee, uint64_t at,
			    struct origins *c)
{
	struct code *code = t->h->code;

	for (size_t i = 0; i < callee->blocks.len; i++) {
		const struct block *b = &callee->blocks.data[i];
		const struct insn *last = &callee->insns.data[b->first + b->n - 1];
		const struct lift_op *end = block_end(callee, b);
		struct piece p = { .function = callee,
				   .first = b->first,
				   .n = b->n,
				   .way = WAY_SKIPPED,
				   .exit = -1,
				   .to = at };
		const char *name;

		if (end->kind != LIFT_NEXT || end->w != LIFT_JUMP || end->a ||
		    (end->imm >= callee->low && end->imm < callee->high))
			continue;
		name = code_import(code, callee, last);
		p.effect = name ? effect_of(&t->h->arena, name, code_behind_stub(code, end->imm))
				: NULL;
		if (p.effect)
			add_piece(c, p);
		else if (name)
			c->complete = false;
	}
}

/* `at` lies behind a call: what was called? */
static void from_callee(struct tree *t, const struct node *n, const struct function *f,
			const struct insn *call, uint64_t at, struct origins *c)
{
	struct code *code = t->h->code;
	const char *why, *name = code_import(code, f, call);
	uint64_t target = code_target(code, f, call);
	const struct function *callee;
	struct ways ways = { 0 };
	const struct function *unknown = NULL;
	struct piece p;

	if (!target) {
		target = target_guess(t, n, f, call, at);
		c->complete &= target == 0; /* it may have been another one */
		name = target ? code_imported(code, target) : NULL;
	}
	if (target)
		target = code_behind_stub(code, target);
	if (name) {
		p = calling_piece(f, call, at);
		p.way = WAY_SKIPPED;
		p.effect = effect_of(&t->h->arena, name, target);
		if (p.effect) {
			add_piece(c, p);
			return;
		}
	}
	callee = target ? code_function(code, target, &why) : NULL;
	if (!callee) {
		c->complete = false;
		c->why = target ? "a call of code that cannot be read"
				: "a call through a pointer that is not known";
		return;
	}
	from_tail_calls(t, callee, at, c);
	code_returns(callee, &ways);
	if (callee->incomplete)
		unknown = callee;
	for (size_t i = 0; i < callee->partners.len; i++) {
		const struct function *g = code_function(code, callee->partners.data[i], &why);

		if (g && g != callee) {
			code_returns(g, &ways);
			from_tail_calls(t, g, at, c);
		} else if (!g)
			c->complete = false;
		if (g && g->incomplete)
			unknown = g;
	}
	c->complete &= !unknown;
	for (size_t i = 0; i < ways.len; i++)
		add_way(c, &ways.data[i], at);
	if (!c->n)
		c->why = !unknown ? "a call that never returns"
			 : unknown->wide
				 ? "a call of a function with AVX-512 instructions, which are "
				   "not known"
				 : "a call of a function with instructions that are not known";
	vec_deinit(&ways);
}

/* At a function's first instruction: where it will return to. */
static bool return_address(struct tree *t, const struct node *n, uint64_t *ret)
{
	const struct past *p = n->past;
	uint64_t sp;

	if (!p)
		return target_return_address(t, n, 0, ret);
	return past_value(t->h, p, p->registers[LIFT_RSP], &sp) &&
	       past_value(t->h, p, past_load(t->h, p, sp, 64), ret);
}

/* `at` is the first instruction of a function: the return address says who called it. */
static void from_caller(struct tree *t, const struct node *node, uint64_t at, struct origins *c)
{
	struct code *code = t->h->code;
	const struct function *f = NULL;
	const struct insn *call;
	struct ways ways = { 0 };
	uint64_t back, target;
	uint32_t first, n;
	const char *why;
	bool complete;

	c->why = "the return address is not known";
	complete = c->complete;
	c->complete = false;
	if (!return_address(t, node, &back))
		return;
	call = code_call_before(code, back, &f);
	c->why = "no call lies before the return address";
	if (!call)
		return;
	target = code_target(code, f, call);
	c->complete = complete;
	if (!target || target == at) {
		add_piece(c, calling_piece(f, call, at));
		return;
	}
	/* through a stub of the linkage table, or by a jump of the function that was called */
	f = code_function(code, target, &why);
	c->why = "how the caller came here is not known";
	if (!f)
		return;
	if (code_behind_stub(code, target) == at && code_stub(code, target, &f, &first, &n)) {
		add_piece(c, (struct piece){ .function = f,
					     .first = first,
					     .n = n,
					     .way = WAY_JUMP,
					     .exit = -1,
					     .to = at });
		return;
	}
	if (!code_jumps_to(code, f, at, &ways))
		c->complete = false;
	for (size_t i = 0; i < ways.len; i++)
		add_way(c, &ways.data[i], at);
	vec_deinit(&ways);
}

/* Control is where no function lies. The return address names the call; either that went astray, or a jump through a
 * pointer with which the function that it called ended. */
static void from_wild_jump(struct tree *t, const struct node *n, uint64_t at, struct origins *c)
{
	struct code *code = t->h->code;
	const char *why = c->why;
	const struct function *f = NULL;
	const struct insn *call;
	uint64_t back, target;

	c->complete = false;
	if (!return_address(t, n, &back) || !(call = code_call_before(code, back, &f)))
		return;
	target = code_target(code, f, call);
	if (!target || target == at) {
		add_piece(c, calling_piece(f, call, at));
		c->complete = true;
		return;
	}
	f = code_function(code, code_behind_stub(code, target), &why);
	for (uint32_t i = 0; f && i < f->blocks.len; i++) {
		const struct lift_op *end = block_end(f, &f->blocks.data[i]);

		if (end->kind == LIFT_NEXT && end->w == LIFT_JUMP && end->a)
			add_way(c, &(struct way){ .function = f, .block = i, .exit = -1 }, at);
	}
}

bool piece_is_in_loop(struct tree *t, const struct loop *l, const struct piece *p)
{
	const struct function *f = p->function;
	const struct insn *call;

	if (p->way == WAY_RETURN) {
		call = code_call_before(t->h->code, p->to, &f);
		return call && loop_has(l, f, call->address);
	}
	return loop_has(l, f, f->insns.data[p->first].address);
}

/* A step that begins with all turns of a loop: what came before is outside the loop. */
static void leave_out_turns(struct tree *t, const struct loop *l, struct origins *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->n; i++)
		if (!piece_is_in_loop(t, l, &c->data[i]))
			c->data[n++] = c->data[i];
	c->n = n;
}

static bool does_nothing(const struct function *f, const struct insn *in)
{
	const struct lift_op *op = insn_ops(f, in), *end = op + in->nops;

	for (; op < end; op++)
		if (op->kind == LIFT_PUT || op->kind == LIFT_LOAD || op->kind == LIFT_STORE ||
		    op->kind == LIFT_EXIT || op->kind == LIFT_REFUSE ||
		    (op->kind == LIFT_NEXT && (op->a || op->imm != in->address + in->length)))
			return false;
	return true;
}

/* Does the block do nothing, and does nobody jump or return to it? Compilers fill the gaps between blocks so. */
static bool is_filler(struct tree *t, const struct way *w)
{
	const struct function *f = w->function, *caller;
	const struct block *b = &f->blocks.data[w->block];
	struct ways ways = { 0 };
	bool unused;

	if (b->start == f->low || code_call_before(t->h->code, b->start, &caller))
		return false;
	for (uint32_t i = 0; i < b->n; i++)
		if (!does_nothing(f, &f->insns.data[b->first + i]))
			return false;
	unused = code_jumps_to(t->h->code, f, b->start, &ways) && !ways.len;
	vec_deinit(&ways);
	return unused;
}

/* Every way to the node's address. */
static void find_all_candidates(struct tree *t, const struct node *n, struct origins *c)
{
	uint64_t at = n->pc;
	const struct function *f, *before = NULL;
	const struct block *b;
	const struct insn *call;
	struct ways ways = { 0 };

	*c = (struct origins){ .complete = true };
	f = code_function(t->h->code, at, &c->why);
	if (!f &&
	    !n->parent) { /* a jump to where no code is: it was a call, or came from what was called */
		from_wild_jump(t, n, at, c);
		return;
	}
	if (!f) {
		c->complete = false;
		return;
	}
	b = function_block(f, at);
	if (b && b->start < at && function_insn(f, at)) { /* in the middle: the dump's own block */
		uint32_t before = (uint32_t)(function_insn(f, at) - f->insns.data) - b->first;

		add_piece(c, (struct piece){ .function = f,
					     .first = b->first,
					     .n = before,
					     .way = WAY_JUMP,
					     .exit = -1,
					     .to = at });
		return;
	}
	if (!code_jumps_to(t->h->code, f, at, &ways))
		c->complete = false;
	for (size_t i = 0; i < ways.len; i++)
		if (!is_filler(t, &ways.data[i]))
			add_way(c, &ways.data[i], at);
	vec_deinit(&ways);
	call = code_call_before(t->h->code, at, &before);
	if (call && before == f)
		from_callee(t, n, f, call, at, c);
	if (at == f->low || !c->n)
		if (!c->why || at == f->low)
			from_caller(t, n, at, c);
}

struct piece piece_of_loop(const struct loop *l, uint64_t to)
{
	return (struct piece){ .function = l->function,
			       .first = l->function->blocks.data[l->header].first,
			       .way = WAY_LOOP,
			       .exit = -1,
			       .to = to,
			       .loop = l };
}

/* The outermost loop that the piece leaves by going to the address; NULL when it leaves none. */
static const struct loop *loop_left(struct tree *t, const struct piece *p, uint64_t to)
{
	const char *why;
	const struct function *f = code_function(t->h->code, to, &why);

	for (size_t i = 0; f && i < f->loops.len; i++) {
		const struct loop *l = &f->loops.data[i];

		if (piece_is_in_loop(t, l, p) && !loop_has(l, f, to))
			return l;
	}
	return NULL;
}

/* Loops before a loop are taken as a whole, too. */
static void put_loops(struct tree *t, uint64_t to, struct origins *c)
{
	const struct loop *done[MOST_WAYS];
	unsigned n = 0, ndone = 0;

	for (unsigned i = 0; i < c->n; i++) {
		const struct loop *l = loop_left(t, &c->data[i], to);
		bool seen = false;

		for (unsigned k = 0; k < ndone; k++)
			seen |= done[k] == l;
		if (l && seen)
			continue;
		if (l)
			done[ndone++] = l;
		c->data[n++] = l ? piece_of_loop(l, to) : c->data[i];
	}
	c->n = n;
}

void origins_find(struct tree *t, const struct node *n, struct origins *c)
{
	find_all_candidates(t, n, c);
	if (n->nopen && n->open[0].way == WAY_LOOP)
		leave_out_turns(t, n->open[0].loop, c);
	if (n->shortcut)
		put_loops(t, n->pc, c);
}
