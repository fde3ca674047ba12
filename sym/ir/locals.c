/* sym/ir/locals.c - local variables whose address nobody has, as registers.
 *
 * Code built with -O0 keeps its variables in memory, also those that are dead. Two states that
 * differ only in a dead variable then look different, and a search over states meets each of them
 * once per value: where -O2 has half a million states, -O0 has several million. A variable that is
 * only loaded and stored, as a whole, can live in a register of its function, and live.c knows when
 * nobody will read that again. Registers may be written many times, so no phi nodes are needed.
 *
 * Only for those who ask (ir->locals): a dump or a recording has such variables in memory. */
#include "sym/ir/lower.h"

#include <string.h>

/* One register, and the same bits in it as in memory. */
static bool fits_register(LLVMTypeRef t)
{
	switch (LLVMGetTypeKind(t)) {
	case LLVMIntegerTypeKind:
		return bits_of(t) == 8 || bits_of(t) == 16 || bits_of(t) == 32 || bits_of(t) == 64;
	case LLVMPointerTypeKind:
	case LLVMFloatTypeKind:
	case LLVMDoubleTypeKind:
		return true;
	default:
		return false;
	}
}

static bool is_plain_use(LLVMValueRef user, LLVMValueRef variable, LLVMTypeRef type)
{
	if (LLVMIsALoadInst(user))
		return LLVMTypeOf(user) == type;
	return LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != variable &&
	       LLVMTypeOf(LLVMGetOperand(user, 0)) == type;
}

static bool is_only_used_plainly(LLVMValueRef variable)
{
	LLVMTypeRef type = LLVMGetAllocatedType(variable);

	for (LLVMUseRef u = LLVMGetFirstUse(variable); u; u = LLVMGetNextUse(u))
		if (!is_plain_use(LLVMGetUser(u), variable, type))
			return false;
	return true;
}

/* After a jump back, memory keeps what was stored since; registers would not. */
static bool may_jump_back(LLVMValueRef fn)
{
	unsigned twice = LLVMGetEnumAttributeKindForName("returns_twice", 13);

	for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
		for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i;
		     i = LLVMGetNextInstruction(i)) {
			LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;

			if (callee && LLVMIsAFunction(callee) &&
			    LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, twice))
				return true;
		}
	return false;
}

/* In the first block an alloca makes one object per call of the function, as a register does. */
static void find_in_block(struct lower *l, LLVMBasicBlockRef first)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(first); i; i = LLVMGetNextInstruction(i)) {
		LLVMValueRef count = LLVMIsAAllocaInst(i) ? LLVMGetOperand(i, 0) : NULL;

		if (count && LLVMIsAConstantInt(count) && LLVMConstIntGetZExtValue(count) == 1 &&
		    fits_register(LLVMGetAllocatedType(i)) && is_only_used_plainly(i))
			map_put(&l->locals, (uintptr_t)i, 1);
	}
}

void locals_find(struct lower *l, LLVMValueRef fn)
{
	if (l->ir->locals && LLVMGetFirstBasicBlock(fn) && !may_jump_back(fn))
		find_in_block(l, LLVMGetFirstBasicBlock(fn));
}

bool locals_has(struct lower *l, LLVMValueRef address)
{
	return map_find(&l->locals, (uintptr_t)address) != NULL;
}
