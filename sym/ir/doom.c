/* sym/ir/doom.c - how near to a failure is this place of a function?
 *
 * A call that does not come back (abort, a failed assertion, exit) is followed by an operation that
 * is never executed. From a place, straight ahead and over a few branches, the nearest such
 * operation is looked for: its distance says which side of a decision to try first. It decides
 * nothing else, so a short look will do: no calls are entered.
 *
 * Likewise, which sites lie ahead on one side and not on the other: what it writes tells whether the
 * side can help a failure elsewhere. Here calls are entered, as far as they were lowered. */
#include "sym/ir/ir.h"

enum { FAR_AHEAD = 200, BRANCHES = 3 };

static unsigned nearer(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned look(const struct function *f, uint32_t pc, unsigned branches)
{
	for (unsigned i = 0; i < FAR_AHEAD && pc < f->nops; i++) {
		const struct op *o = &f->ops[pc];

		if (o->code == OP_UNREACHABLE)
			return 0;
		if (o->code == OP_RET || o->code == OP_SWITCH || o->code == OP_UNSUPPORTED ||
		    o->code == OP_RESUME)
			break;
		if (o->code >= OP_BR && o->code <= OP_BRSLEN) {
			unsigned best;

			if (!branches)
				break;
			best = nearer(look(f, (uint32_t)o->imm, branches - 1),
				      look(f, (uint32_t)(o->imm >> 32), branches - 1));
			return best == IR_NO_DOOM ? best : best + 1;
		}
		pc = o->code == OP_JMP || o->code == OP_MOVJ ? (uint32_t)o->imm : pc + 1;
	}
	return IR_NO_DOOM;
}

unsigned ir_doom(const struct function *f, uint32_t pc, bool taken)
{
	const struct op *o = &f->ops[pc];

	if (o->code < OP_BR || o->code > OP_BRSLEN)
		return IR_NO_DOOM;
	return look(f, taken ? (uint32_t)o->imm : (uint32_t)(o->imm >> 32), BRANCHES);
}

/* ---- what lies ahead ---- */

enum { DEEP = 3 };

struct ahead {
	const struct ir *ir;
	uint64_t (*mask)(void *arg, uint32_t site);
	void *arg;
};

static uint64_t sites_ahead(const struct ahead *a, const struct function *f, uint32_t pc,
			    unsigned branches, unsigned calls)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < FAR_AHEAD && pc < f->nops && f->sites; i++) {
		const struct op *o = &f->ops[pc];

		if (f->sites[pc])
			mask |= a->mask(a->arg, f->sites[pc]);
		if (o->code == OP_CALL && calls && a->ir->functions.data[o->b]->lowered)
			mask |= sites_ahead(a, a->ir->functions.data[o->b], 0, BRANCHES, calls - 1);
		if (o->code == OP_RET || o->code == OP_SWITCH || o->code == OP_UNREACHABLE ||
		    o->code == OP_UNSUPPORTED || o->code == OP_RESUME)
			break;
		if (o->code >= OP_BR && o->code <= OP_BRSLEN) {
			if (branches)
				mask |= sites_ahead(a, f, (uint32_t)o->imm, branches - 1, calls) |
					sites_ahead(a, f, (uint32_t)(o->imm >> 32), branches - 1,
						    calls);
			break;
		}
		pc = o->code == OP_JMP || o->code == OP_MOVJ ? (uint32_t)o->imm : pc + 1;
	}
	return mask;
}

uint64_t ir_only_ahead(const struct ir *ir, const struct function *f, uint32_t pc, bool taken,
		       uint64_t (*mask)(void *arg, uint32_t site), void *arg)
{
	struct ahead a = { ir, mask, arg };
	const struct op *o = &f->ops[pc];
	uint64_t yes, no;

	if (o->code < OP_BR || o->code > OP_BRSLEN)
		return 0;
	yes = sites_ahead(&a, f, (uint32_t)o->imm, BRANCHES, DEEP);
	no = sites_ahead(&a, f, (uint32_t)(o->imm >> 32), BRANCHES, DEEP);
	return taken ? yes & ~no : no & ~yes;
}
