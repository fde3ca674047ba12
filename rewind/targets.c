/* rewind/targets.c - see targets.h.
 *
 * Where the pointer lay it most often still lies behind the call. So the code before the call is run on the moment
 * behind it: first the call alone, then its block, then more and more of the code before that, also of the callers. An
 * allocator that is called through a table is found so: the caller names the table, and the table is still there. What
 * the code stores is seen by its later loads; a call on the way leaves the registers that callees keep. */
#include "rewind/targets.h"

#include "base/mem.h"
#include "rewind/compute.h"
#include "rewind/fixed.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 16, MOST_CALLERS = 4 };

/* ---- return addresses ---- */

/* By a return, or by a jump to a function that returned in its place. */
static bool leaves_function(const struct piece *p)
{
	const struct insn *last;
	const struct lift_op *end;

	if (p->way == WAY_LOOP)
		return false;
	last = &p->function->insns.data[p->first + p->n - 1];
	end = insn_ops(p->function, last) + last->nops - 1;
	return p->way == WAY_RETURN || (p->way == WAY_SKIPPED && end->w == LIFT_JUMP);
}

/* By the places of the frames (rewind/fixed.h). */
static bool return_address_of_frame(struct tree *t, const struct past *p, unsigned callers,
				    uint64_t *ret)
{
	uint64_t sp;
	const char *why;

	*ret = p->pc;
	if (!past_value(t->h, p, p->registers[LIFT_RSP], &sp))
		return false;
	for (unsigned i = 0; i <= callers; i++) {
		const struct function *f = code_function(t->h->code, *ret, &why);
		uint64_t number;

		if (!f || !fixed_stack(f, *ret, &number))
			return false;
		sp -= number; /* the frame's address: the stack pointer behind the return */
		if (!past_value(t->h, p, past_load(t->h, p, sp - 8, 64), ret))
			return false;
	}
	return true;
}

/* An open step has no state of its own yet, but if its pieces contain the return, that says it; else the function's
 * frame is still there behind them. */
bool target_return_address(struct tree *t, const struct node *n, unsigned callers, uint64_t *ret)
{
	unsigned inner = callers;

	if (n->past)
		return return_address_of_frame(t, n->past, callers, ret);
	for (uint32_t i = 0; i < n->nopen; i++) {
		if (n->open[i].way == WAY_CALL)
			inner++;
		if (leaves_function(&n->open[i]) && inner-- == 0) {
			*ret = n->open[i].to;
			return true;
		}
	}
	return return_address_of_frame(t, n->open_after, inner, ret);
}

/* ---- running ---- */

/* Instructions of one block, the first of them first. */
struct part {
	const struct function *function;
	uint32_t first, n;
	bool returned; /* it ends with a call that was left again */
};

struct stored {
	expr_id address, value;
	uint8_t w;
};

/* A small machine: registers, and what was stored, by the text of the address. */
struct machine {
	struct history *h;
	const struct past *p;
	expr_id registers[LIFT_REGISTERS];
	VEC(struct stored) stores;
	expr_id temps[LIFT_MAX_OPS + 1];
	expr_id next; /* where the last instruction leads; 0 = its code says it */
};

static bool callee_keeps(unsigned i)
{
	return i == LIFT_RBX || i == LIFT_RBP || i == LIFT_RSP || (i >= LIFT_R12 && i <= LIFT_R15);
}

static void forget_registers(struct machine *m)
{
	for (unsigned i = 0; i < LIFT_REGISTERS; i++)
		if (!callee_keeps(i))
			m->registers[i] = past_unknown(m->h, lift_register_width(i), "before");
}

static expr_id load(struct machine *m, expr_id address, uint8_t w)
{
	uint64_t at;

	address = past_simplify(m->h, m->p, address);
	for (size_t i = m->stores.len; i-- > 0;)
		if (m->stores.data[i].address == address && m->stores.data[i].w == w)
			return m->stores.data[i].value;
	if (past_value(m->h, m->p, address, &at) && past_readable(m->h, at, false))
		return past_load(m->h, m->p, at, w);
	return past_unknown(m->h, w, "load");
}

static void run_one(struct machine *m, const struct function *f, const struct insn *in)
{
	const struct lift_op *op = insn_ops(f, in), *end = op + in->nops;
	struct exprs *x = &m->h->exprs;

	m->next = 0;
	for (; op < end; op++)
		switch (op->kind) {
		case LIFT_CONST:
			m->temps[op->dst] = expr_const(x, op->w, op->imm);
			break;
		case LIFT_GET:
			m->temps[op->dst] = m->registers[op->imm];
			break;
		case LIFT_PUT:
			m->registers[op->imm] = m->temps[op->a];
			break;
		case LIFT_LOAD:
			m->temps[op->dst] = load(m, m->temps[op->a], op->w);
			break;
		case LIFT_STORE:
			vec_push(&m->stores,
				 ((struct stored){ past_simplify(m->h, m->p, m->temps[op->a]),
						   m->temps[op->b],
						   (uint8_t)expr_get(x, m->temps[op->b])->w }));
			break;
		case LIFT_OPAQUE:
			m->temps[op->dst] = past_unknown(m->h, op->w, "some value");
			break;
		case LIFT_NEXT:
			m->next = op->a ? m->temps[op->a] : 0;
			break;
		case LIFT_EXIT:
		case LIFT_REFUSE:
			break;
		default:
			m->temps[op->dst] = compute(x, op, m->temps);
		}
}

/* Where the last instruction of the last part leads. sp: the stack pointer before the first one; 0 = not known. */
static uint64_t run(struct machine *m, const struct part *parts, size_t n)
{
	uint64_t target = 0;

	vec_clear(&m->stores);
	for (size_t i = 0; i < n; i++) {
		const struct part *p = &parts[i];

		for (uint32_t k = 0; k < p->n; k++)
			run_one(m, p->function, &p->function->insns.data[p->first + k]);
		if (!p->returned)
			continue;
		forget_registers(m);
		m->registers[LIFT_RSP] = expr_binary(&m->h->exprs, EX_ADD, m->registers[LIFT_RSP],
						     expr_const(&m->h->exprs, 64, 8));
	}
	return m->next && past_value(m->h, m->p, m->next, &target) ? target : 0;
}

/* ---- the code before ---- */

static struct part upto(const struct function *f, const struct insn *last)
{
	const struct block *b = function_block(f, last->address);

	return (struct part){ .function = f,
			      .first = b->first,
			      .n = (uint32_t)(last - f->insns.data) - b->first + 1 };
}

/* The block that jumps to this place: the nearest one before it, so that loops are left out. */
static bool jump_before(struct tree *t, const struct function *f, uint64_t at, struct part *ret)
{
	struct ways ways = { 0 };
	const struct way *best = NULL;

	code_jumps_to(t->h->code, f, at, &ways);
	for (size_t i = 0; i < ways.len; i++) {
		const struct way *w = &ways.data[i];
		uint64_t start = w->function->blocks.data[w->block].start;

		if (w->function == f && start < at &&
		    (!best || start > f->blocks.data[best->block].start))
			best = w;
	}
	if (best)
		*ret = (struct part){ .function = f,
				      .first = f->blocks.data[best->block].first,
				      .n = f->blocks.data[best->block].n };
	vec_deinit(&ways);
	return best != NULL;
}

/* What ran before this part; *callers counts the functions that were left that way. */
static bool before(struct tree *t, const struct node *n, const struct part *p, unsigned *callers,
		   struct part *ret)
{
	const struct function *f = p->function, *g = NULL;
	uint64_t at = f->insns.data[p->first].address, back;
	const struct insn *call;

	if (at == f->low) {
		if (*callers == MOST_CALLERS || !target_return_address(t, n, (*callers)++, &back))
			return false;
		call = code_call_before(t->h->code, back, &g);
		if (call)
			*ret = upto(g, call);
		return call != NULL;
	}
	if (jump_before(t, f, at, ret))
		return true;
	call = code_call_before(t->h->code, at, &g);
	if (!call || g != f)
		return false;
	*ret = upto(f, call);
	ret->returned = true;
	return true;
}

static bool is_code(struct tree *t, uint64_t at)
{
	const char *why;
	const struct function *f = at ? code_function(t->h->code, at, &why) : NULL;

	return (f && f->low == at) || (at && code_behind_stub(t->h->code, at) != at) ||
	       (at && code_imported(t->h->code, at));
}

/* The stack pointer before a part of this function, where the state is the one behind the call. */
static expr_id stack_before(struct machine *m, const struct part *p, uint64_t at)
{
	uint64_t sp, here, there;

	if (past_value(m->h, m->p, m->p->registers[LIFT_RSP], &sp) &&
	    fixed_stack(p->function, at, &here) &&
	    fixed_stack(p->function, p->function->insns.data[p->first].address, &there))
		return expr_const(&m->h->exprs, 64, sp - here + there);
	return past_unknown(m->h, 64, "before");
}

uint64_t target_guess(struct tree *t, const struct node *n, const struct function *f,
		      const struct insn *call, uint64_t at)
{
	struct machine *m = xcalloc(1, sizeof(*m));
	struct part parts[MOST_PARTS], *first = &parts[MOST_PARTS - 1];
	unsigned callers = 0;
	uint64_t target;

	*m = (struct machine){ .h = t->h, .p = n->past ? n->past : n->open_after };
	*first = (struct part){ .function = f, .first = (uint32_t)(call - f->insns.data), .n = 1 };
	for (;;) {
		memcpy(m->registers, m->p->registers, sizeof(m->registers));
		forget_registers(m);
		if (callers || !n->past) /* of another frame, or of a later moment */
			for (unsigned i = 0; i < 16; i++)
				m->registers[i] = past_unknown(t->h, 64, "before");
		else
			m->registers[LIFT_RSP] = stack_before(m, first, at);
		target = run(m, first, (size_t)(parts + MOST_PARTS - first));
		if (is_code(t, target) || first == parts)
			break;
		target = 0;
		if (first->n == 1 && first == &parts[MOST_PARTS - 1] &&
		    upto(f, call).n > 1) { /* all of its block */
			*first = upto(f, call);
			continue;
		}
		if (!before(t, n, first, &callers, first - 1))
			break;
		first--;
	}
	vec_deinit(&m->stores);
	free(m);
	return is_code(t, target) ? target : 0;
}
