/* sym/ir/eh.c - exceptions in the bitcode: calls that they may leave, and where they land.
 *
 * A call with an unwind edge becomes a call, the jump of its normal edge, and behind that the moves
 * and the jump of the other edge, which only unwinding reaches (unwind.c): a table says where it
 * begins. The landing pad itself takes over what unwinding has found out. */
#include "sym/ir/lower.h"

static bool is_call_op(const struct op *o)
{
	return o->code == OP_CALL || o->code == OP_CALLI || o->code == OP_BUILTIN;
}

uint32_t ir_type_number(struct ir *ir, uint64_t type)
{
	for (size_t i = 0; i < ir->types.len; i++)
		if (ir->types.data[i] == type)
			return (uint32_t)i + 1;
	vec_push(&ir->types, type);
	return (uint32_t)ir->types.len;
}

/* What the block's landing pad catches; false when there is none, or it cannot be said. */
static bool add_landing(struct lower *l, LLVMBasicBlockRef block, uint32_t *ret)
{
	LLVMValueRef pad = LLVMGetFirstInstruction(block);
	struct landing landing = { 0 };
	const char *why;

	while (pad && !LLVMIsALandingPadInst(pad))
		pad = LLVMGetNextInstruction(pad);
	if (!pad)
		return false;
	landing.cleanup = LLVMIsCleanup(pad);
	landing.types = arena_array(&l->ir->arena, uint64_t, LLVMGetNumClauses(pad) + 1);
	for (unsigned i = 0; i < LLVMGetNumClauses(pad); i++) {
		LLVMValueRef clause = LLVMGetClause(pad, i);

		if (LLVMGetTypeKind(LLVMTypeOf(clause)) == LLVMArrayTypeKind)
			landing.filters = true;
		else if (const_u64(l->ir, clause, &landing.types[landing.n], &why))
			landing.n++;
		else
			return false;
	}
	*ret = (uint32_t)l->ir->landings.len;
	vec_push(&l->ir->landings, landing);
	return true;
}

void lower_invoke(struct lower *l, LLVMValueRef i)
{
	LLVMBasicBlockRef here = LLVMGetInstructionParent(i), pad = LLVMGetUnwindDest(i);
	size_t first = l->ops.len, call;
	struct unwind u;

	lower_call(l, i);
	for (call = l->ops.len; call > first && !is_call_op(&l->ops.data[call - 1]);)
		call--;
	emit_edge(l, here, LLVMGetNormalDest(i), true);
	if (call == first || !add_landing(l, pad, &u.landing))
		return; /* nothing that could throw */
	u.call = (uint32_t)call - 1;
	u.to = (uint32_t)l->ops.len;
	emit_edge(l, here, pad, true);
	vec_push(&l->unwinds, u);
}

void lower_landing(struct lower *l, LLVMValueRef i)
{
	int32_t d = reg_of(l, i);

	emit(l, OP_LANDING)->d = d;
}

void lower_resume(struct lower *l, LLVMValueRef i)
{
	int32_t a = reg_of(l, LLVMGetOperand(i, 0));

	emit(l, OP_RESUME)->a = a;
}
