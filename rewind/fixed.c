/* rewind/fixed.c - see fixed.h.
 *
 * Optimised code computes addresses before a loop and drops them behind it; code with a frame pointer
 * drops that when it returns. Walking back, both are gone. But they are the same in every run, as a
 * number or relative to the frame, and the code itself says so: constants are propagated along
 * all jumps of the function until nothing changes. Nothing is assumed about memory, nor about
 * registers that calls may change. */
#include "rewind/fixed.h"

#include "base/mem.h"
#include "rewind/code.h"
#include "sym/value/expr.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 64 };

static struct fixed join(struct fixed a, struct fixed b)
{
	if (a.kind == FIXED_NOT_REACHED)
		return b;
	if (b.kind == FIXED_NOT_REACHED)
		return a;
	if (a.kind == b.kind && a.number == b.number)
		return a;
	return (struct fixed){ FIXED_NO, 0 };
}

static struct fixed add(struct fixed a, struct fixed b, bool minus)
{
	uint64_t n = minus ? a.number - b.number : a.number + b.number;

	if (a.kind == FIXED_NUMBER && b.kind == FIXED_NUMBER)
		return (struct fixed){ FIXED_NUMBER, n };
	if (a.kind == FIXED_FRAME && b.kind == FIXED_NUMBER)
		return (struct fixed){ FIXED_FRAME, n };
	if (a.kind == FIXED_NUMBER && b.kind == FIXED_FRAME && !minus)
		return (struct fixed){ FIXED_FRAME, n };
	return (struct fixed){ FIXED_NO, 0 };
}

static struct fixed compute(const struct lift_op *op, struct fixed a, struct fixed b)
{
	static const uint8_t ops[LIFT_KINDS] = {
#define X(NAME) [LIFT_##NAME] = EX_##NAME,
#include "lift/lifted.def"
#undef X
	};
	uint64_t n;

	if ((op->kind == LIFT_ADD || op->kind == LIFT_SUB) && op->w == 64)
		return add(a, b, op->kind == LIFT_SUB);
	if (a.kind != FIXED_NUMBER)
		return (struct fixed){ FIXED_NO, 0 };
	if (op->kind == LIFT_ZEXT)
		return a;
	if (op->kind == LIFT_EXTRACT)
		return (struct fixed){ FIXED_NUMBER, a.number >> op->imm & mask_of(op->w) };
	if (b.kind != FIXED_NUMBER || op->kind == LIFT_ITE || op->kind == LIFT_SEXT ||
	    op->kind == LIFT_CONCAT || (op->kind >= LIFT_EQ && op->kind <= LIFT_SLE))
		return (struct fixed){ FIXED_NO, 0 };
	n = expr_fold(ops[op->kind], op->w, a.number, b.number);
	return (struct fixed){ FIXED_NUMBER, n };
}

static void run_insn(const struct function *f, const struct insn *in, struct fixed *regs,
		     struct fixed *temps)
{
	const struct lift_op *ops = insn_ops(f, in);

	for (unsigned i = 0; i < in->nops; i++) {
		const struct lift_op *op = &ops[i];

		switch (op->kind) {
		case LIFT_CONST:
			temps[op->dst] = (struct fixed){ FIXED_NUMBER, op->imm };
			break;
		case LIFT_GET:
			temps[op->dst] =
				op->imm < 16 ? regs[op->imm] : (struct fixed){ FIXED_NO, 0 };
			break;
		case LIFT_PUT:
			if (op->imm < 16)
				regs[op->imm] = temps[op->a];
			break;
		case LIFT_LOAD:
		case LIFT_OPAQUE:
			temps[op->dst] = (struct fixed){ FIXED_NO, 0 };
			break;
		case LIFT_STORE:
		case LIFT_EXIT:
		case LIFT_NEXT:
			break;
		case LIFT_REFUSE:
			for (unsigned k = 0; k < 16; k++)
				regs[k] = (struct fixed){ FIXED_NO, 0 };
			break;
		default:
			temps[op->dst] = compute(op, temps[op->a], temps[op->b]);
		}
	}
}

static bool flow_into(struct fixed_block *to, const struct fixed *regs)
{
	bool changed = false;

	for (unsigned i = 0; i < 16; i++) {
		struct fixed j = join(to->before[i], regs[i]);

		changed |= j.kind != to->before[i].kind || j.number != to->before[i].number;
		to->before[i] = j;
	}
	return changed;
}

static bool flow_to(const struct function *f, struct fixed_block *all, uint64_t address,
		    const struct fixed *regs)
{
	const struct block *b = function_block(f, address);

	return b && b->start == address && flow_into(&all[b - f->blocks.data], regs);
}

/* Behind a call: the stack pointer is back, what callees may change is not known. */
static bool flow_behind_call(const struct function *f, struct fixed_block *all,
			     const struct block *b)
{
	struct fixed regs[16];

	memcpy(regs, all[b - f->blocks.data].behind, sizeof(regs));
	for (unsigned i = 0; i < 16; i++)
		if (i != LIFT_RBX && i != LIFT_RBP && i != LIFT_RSP && i < LIFT_R12)
			regs[i] = (struct fixed){ FIXED_NO, 0 };
	regs[LIFT_RSP] = add(regs[LIFT_RSP], (struct fixed){ FIXED_NUMBER, 8 }, false);
	return flow_to(f, all, b->end, regs);
}

static bool flow_out(const struct function *f, struct fixed_block *all, const struct block *b)
{
	const struct insn *last = &f->insns.data[b->first + b->n - 1];
	const struct lift_op *ops = insn_ops(f, last), *end = block_end(f, b);
	const struct fixed *regs = all[b - f->blocks.data].behind;
	bool changed = false;

	for (unsigned i = 0; i < last->nops; i++)
		if (ops[i].kind == LIFT_EXIT)
			changed |= flow_to(f, all, ops[i].imm, regs);
	if (end->kind == LIFT_REFUSE)
		return flow_to(f, all, b->end, regs);
	if (end->w == LIFT_CALL)
		return flow_behind_call(f, all, b) || changed;
	if (end->w == LIFT_SYSCALL) {
		struct fixed none[16];

		for (unsigned i = 0; i < 16; i++)
			none[i] = i == LIFT_RSP ? regs[i] : (struct fixed){ FIXED_NO, 0 };
		return flow_to(f, all, end->imm, none) || changed;
	}
	if (end->w == LIFT_JUMP && !end->a)
		changed |= flow_to(f, all, end->imm, regs);
	for (size_t i = 0; end->w == LIFT_JUMP && end->a && i < f->indirect.len; i++)
		changed |= flow_to(f, all, f->indirect.data[i], regs);
	return changed;
}

struct fixed_block *fixed_find(const struct function *f, bool is_entry,
			       const struct fixed_entry *outside, uint32_t n)
{
	struct fixed_block *all = xcalloc(f->blocks.len + 1, sizeof(*all));
	struct fixed *temps = xcalloc(LIFT_MAX_OPS + 1, sizeof(*temps)), start[16];
	bool changed = true;

	for (unsigned i = 0; i < 16; i++)
		start[i] = (struct fixed){ FIXED_NO, 0 };
	for (uint32_t i = 0; i < n; i++) {
		start[LIFT_RSP] = outside[i].stack;
		flow_to(f, all, outside[i].address, start);
	}
	start[LIFT_RSP] = (struct fixed){ FIXED_FRAME, (uint64_t)-8 };
	if (is_entry)
		flow_to(f, all, f->low, start);
	for (int round = 0; changed && round < ROUNDS; round++) {
		changed = false;
		for (size_t i = 0; i < f->blocks.len; i++) {
			const struct block *b = &f->blocks.data[i];

			if (all[i].before[LIFT_RSP].kind == FIXED_NOT_REACHED)
				continue;
			memcpy(all[i].behind, all[i].before, sizeof(all[i].behind));
			for (uint32_t k = 0; k < b->n; k++)
				run_insn(f, &f->insns.data[b->first + k], all[i].behind, temps);
			changed |= flow_out(f, all, b);
		}
	}
	if (changed) /* not settled: nothing is known */
		memset(all, 0, (f->blocks.len + 1) * sizeof(*all));
	free(temps);
	return all;
}

struct fixed fixed_at(const struct function *f, uint64_t address, unsigned reg)
{
	const struct block *b = function_block(f, address);
	struct fixed regs[16], *temps;

	if (!b || !function_insn(f, address))
		return (struct fixed){ FIXED_NO, 0 };
	memcpy(regs, f->fixed[b - f->blocks.data].before, sizeof(regs));
	temps = xcalloc(LIFT_MAX_OPS + 1, sizeof(*temps));
	for (uint32_t k = 0; f->insns.data[b->first + k].address < address; k++)
		run_insn(f, &f->insns.data[b->first + k], regs, temps);
	free(temps);
	return regs[reg];
}

bool fixed_stack(const struct function *f, uint64_t address, uint64_t *ret)
{
	struct fixed sp = fixed_at(f, address, LIFT_RSP);

	*ret = sp.number;
	return sp.kind == FIXED_FRAME;
}
