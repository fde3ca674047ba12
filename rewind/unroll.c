/* rewind/unroll.c - see forward.h: all turns of a loop, as one part of a step.
 *
 * Walking back through a loop turn by turn, nobody knows how many turns there were: every one of them can have had another
 * before it. Forwards there is nothing to guess. As soon as the step contains the code that sets the loop's variables, each
 * branch is decided by what is known, and the loop runs as it ran: from its header, through calls, to where the state
 * after the step is. What was run becomes the step's pieces, and the equations between what comes out and the state after
 * are the same as for any step. A branch that is not decided makes the step longer: the code before may tell. */
#include "rewind/forward.h"

#include "debug/dump.h"

enum { MOST_PIECES = 2000, MOST_SKIPPED = 200 };

/* The code from an address on to the end of its block. */
static bool piece_at(struct run *r, uint64_t at, struct piece *ret)
{
	const struct function *f;
	const struct block *b;
	const char *why;
	uint32_t first, n;

	*ret = (struct piece){ .way = WAY_JUMP, .exit = -1 };
	if (code_stub(r->h->code, at, &f, &first, &n)) {
		ret->function = f;
		ret->first = first;
		ret->n = n;
		return true;
	}
	f = code_function(r->h->code, at, &why);
	b = f ? function_block(f, at) : NULL;
	if (!b || b->start != at)
		return false;
	ret->function = f;
	ret->first = b->first;
	ret->n = b->n;
	return true;
}

/* Can this be the state after the step? */
static bool has_arrived(struct run *r)
{
	for (unsigned i = 0; i <= LIFT_DF; i++) {
		uint64_t is, must;

		if (past_value(r->h, r->now, r->now->registers[i], &is) &&
		    past_value(r->h, r->now, r->after->registers[i], &must) && is != must)
			return false;
	}
	return true;
}

static bool has_stopped(const struct run *r)
{
	return r->why || r->undecided || r->strayed || r->refuted;
}

/* Does the address that this temporary holds come from a register that nobody knows? */
static bool is_unknown(struct run *r, const struct lift_op *ops, unsigned n, uint16_t temp)
{
	uint64_t v;

	for (unsigned i = 0; temp && i < n; i++)
		if (ops[i].dst == temp)
			return ops[i].kind == LIFT_GET
				       ? !past_value(r->h, r->now, r->now->registers[ops[i].imm],
						     &v)
				       : is_unknown(r, ops, i, ops[i].a) ||
						 is_unknown(r, ops, i, ops[i].b);
	return false;
}

/* The failing instruction lies in the loop: whether it fails in this turn already is only decided when its addresses are
 * known. */
static bool may_not_fail(struct run *r, const struct function *f, const struct insn *in)
{
	const struct lift_op *ops = insn_ops(f, in);

	for (unsigned i = 0; i < in->nops; i++)
		if ((ops[i].kind == LIFT_LOAD || ops[i].kind == LIFT_STORE) &&
		    is_unknown(r, ops, in->nops, ops[i].a))
			return true;
	return false;
}

/* Run a piece, or as much of it as lies before `to` if the loop is left there. True: it is. is_last: the step ends
 * there, too, so the state must be the one after it. */
static bool run_until(struct run *r, struct piece *p, const struct piece *loop, bool is_last)
{
	uint64_t to = loop->to;

	for (uint32_t k = 0; k < p->n && !has_stopped(r); k++) {
		const struct insn *in = &p->function->insns.data[p->first + k];

		if (in->address == to && (!is_last || has_arrived(r))) {
			r->undecided |= is_last && loop_has(loop->loop, p->function, to) &&
					may_not_fail(r, p->function, in);
			p->n = k;
			p->to = to;
			return true;
		}
		run_insn(r, p->function, in, k + 1 == p->n, p);
		r->order++;
	}
	return false;
}

/* The piece's end is a call of a function that a summary describes, or a jump to one: how it is left then. */
static void find_skipped(struct run *r, struct piece *p, const struct lift_op *end)
{
	const struct insn *last = &p->function->insns.data[p->first + p->n - 1];
	const char *name = code_import(r->h->code, p->function, last);
	uint64_t to = code_behind_stub(r->h->code, r->next);

	if (!name && end->a)
		name = code_imported(r->h->code, to);
	p->effect = name ? effect_of(&r->h->arena, name, to) : NULL;
	if (!p->effect)
		return;
	p->way = WAY_SKIPPED;
	p->to = last->address + last->length;
	if (end->w != LIFT_CALL &&
	    !past_value(r->h, r->now, run_load(r, r->now->registers[LIFT_RSP], 64), &p->to))
		r->undecided = true;
	r->next = p->to;
}

/* How the piece that was run is left; *depth counts the calls that have not returned. */
static void leave_piece(struct run *r, struct piece *p, unsigned *depth)
{
	const struct insn *last = &p->function->insns.data[p->first + p->n - 1];
	const struct lift_op *end = insn_ops(p->function, last) + last->nops - 1;
	bool is_call = end->w == LIFT_CALL, is_tail = false;

	p->exit = r->taken;
	p->to = r->next;
	if (p->exit >= 0)
		return;
	if (end->w == LIFT_TRAP) {
		r->why = "an instruction that traps";
		return;
	}
	if (end->w == LIFT_RETURN) {
		p->way = WAY_RETURN;
		r->strayed |= *depth == 0;
		--*depth;
		return;
	}
	is_tail = end->w == LIFT_JUMP && !end->a &&
		  (end->imm < p->function->low || end->imm >= p->function->high);
	if (is_call || is_tail)
		find_skipped(r, p, end);
	if (p->way == WAY_SKIPPED && is_tail) {
		r->strayed |= *depth == 0;
		--*depth;
	} else if (is_call && p->way != WAY_SKIPPED) {
		p->way = WAY_CALL;
		++*depth;
	}
}

void run_loop(struct run *r, const struct piece *loop)
{
	const struct loop *l = loop->loop;
	uint64_t at = l->function->blocks.data[l->header].start;
	unsigned depth = 0, skipped = 0;
	bool arrived = false;

	while (!has_stopped(r)) {
		struct piece p;

		if (r->path.len >= MOST_PIECES || skipped >= MOST_SKIPPED)
			r->strayed = r->too_long = true;
		else if (!piece_at(r, at, &p))
			r->why = "code that cannot be read";
		if (has_stopped(r))
			break;
		if (depth == 0 && at != loop->to && !loop_has(l, p.function, at)) {
			r->strayed = true;
			break;
		}
		r->deciding = true;
		r->taken = -1;
		arrived = run_until(r, &p, loop, loop == &r->pieces[r->npieces - 1]);
		r->deciding = false;
		if (arrived) {
			if (p.n)
				vec_push(&r->path, p);
			return;
		}
		if (has_stopped(r))
			break;
		leave_piece(r, &p, &depth);
		vec_push(&r->path, p);
		if (p.way == WAY_SKIPPED && !has_stopped(r)) {
			run_skip_call(r, &p);
			skipped++;
		}
		at = r->next;
	}
}
