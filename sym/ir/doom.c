/* sym/ir/doom.c - how near to a failure is this place of a function?
 *
 * A call that does not come back (abort, a failed assertion, exit) is followed by an operation that
 * is never executed. From a place, straight ahead and over a few branches, the nearest such
 * operation is looked for: its distance says which side of a decision to try first. It decides
 * nothing else, so a short look will do: no calls are entered. */
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
