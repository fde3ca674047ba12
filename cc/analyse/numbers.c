/* cc/analyse/numbers.c - integers that never become addresses.
 *
 * The points-to analysis follows integers of pointer width, because clang copies small structs through
 * them. Most are lengths, counters and pieces of data, and to follow those joins what has nothing to
 * do with each other: a checksum reads every buffer of the program by words, and all that lies in any
 * of them would be one.
 *
 * An integer may be an address if it is made a pointer, stored, compared and exchanged in memory, put
 * into a struct, or handed to code that we do not know; and so may what it was computed from by the
 * operations that the analysis follows. We go from those uses back to where values come from: to
 * operands, from a parameter to the callers' arguments, from the result of a call to what the function
 * returns. What is not met is a number. */
#include "cc/analyse/numbers.h"

#include "cc/program.h"

#include <string.h>

struct todo VEC_FIELDS(LLVMValueRef);

static bool is_integer(LLVMTypeRef t)
{
	if (LLVMGetTypeKind(t) == LLVMVectorTypeKind)
		t = LLVMGetElementType(t);
	return LLVMGetTypeKind(t) != LLVMPointerTypeKind &&
	       LLVMGetTypeKind(t) != LLVMStructTypeKind && LLVMGetTypeKind(t) != LLVMArrayTypeKind;
}

static bool is_variable(LLVMValueRef v)
{
	return (LLVMIsAInstruction(v) || LLVMIsAArgument(v)) && is_integer(LLVMTypeOf(v));
}

bool numbers_has(struct pointsto *pt, LLVMValueRef v)
{
	return is_variable(v) && !map_find(&pt->addresses, (uint64_t)(uintptr_t)v);
}

static void add(struct pointsto *pt, struct todo *todo, LLVMValueRef v)
{
	if (!numbers_has(pt, v))
		return;
	map_put(&pt->addresses, (uint64_t)(uintptr_t)v, 1);
	vec_push(todo, v);
}

static void add_operands(struct pointsto *pt, struct todo *todo, LLVMValueRef i)
{
	for (int k = 0; k < LLVMGetNumOperands(i); k++)
		add(pt, todo, LLVMGetOperand(i, (unsigned)k));
}

/* Called by its own name, with a body that cannot be replaced: then parameters and results are known.
 * A function of LLVM's hands its arguments on as an instruction does. */
static bool is_known_call(LLVMValueRef call)
{
	LLVMValueRef f = LLVMGetCalledValue(call);

	if (!LLVMIsAFunction(f))
		return false;
	return strncmp(value_name(f), "llvm.", 5) == 0 ||
	       (!LLVMIsDeclaration(f) && !is_interposable(f) &&
		LLVMCountParams(f) == LLVMGetNumArgOperands(call));
}

/* Is it called by its name alone? Anybody else may do anything with what it returns. */
static bool is_only_called(LLVMValueRef f)
{
	if (!is_local(f) && LLVMGetVisibility(f) != LLVMHiddenVisibility)
		return false;
	for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u)) {
		LLVMValueRef user = LLVMGetUser(u);

		if (!is_call(user) || LLVMGetCalledValue(user) != f || !is_known_call(user))
			return false;
	}
	return true;
}

static void add_uses(struct pointsto *pt, struct todo *todo, LLVMValueRef f, LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMIntToPtr:
	case LLVMStore:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		add_operands(pt, todo, i);
		break;
	case LLVMInsertValue:
		add(pt, todo, LLVMGetOperand(i, 1));
		break;
	case LLVMCall:
	case LLVMInvoke:
	case LLVMCallBr:
		if (!is_known_call(i))
			add_operands(pt, todo, i);
		break;
	case LLVMRet:
		if (!is_only_called(f))
			add_operands(pt, todo, i);
		break;
	default:
		break;
	}
}

static void add_arguments(struct pointsto *pt, struct todo *todo, LLVMValueRef param)
{
	LLVMValueRef f = LLVMGetParamParent(param);
	unsigned k = 0;

	while (LLVMGetParam(f, k) != param)
		k++;
	for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u)) {
		LLVMValueRef user = LLVMGetUser(u);

		if (is_call(user) && LLVMGetCalledValue(user) == f && is_known_call(user))
			add(pt, todo, LLVMGetOperand(user, k));
	}
}

static void add_returned(struct pointsto *pt, struct todo *todo, LLVMValueRef f)
{
	for_each_block(b, f)
	{
		LLVMValueRef t = LLVMGetBasicBlockTerminator(b);

		if (t && LLVMIsAReturnInst(t))
			add_operands(pt, todo, t);
	}
}

/* v may be an address: what was it made of? The same operations as in pointsto.c. */
static void add_origins(struct pointsto *pt, struct todo *todo, LLVMValueRef v)
{
	if (LLVMIsAArgument(v)) {
		add_arguments(pt, todo, v);
		return;
	}
	switch (LLVMGetInstructionOpcode(v)) {
	case LLVMPHI:
	case LLVMSelect:
	case LLVMFreeze:
	case LLVMBitCast:
	case LLVMExtractElement:
	case LLVMInsertElement:
	case LLVMShuffleVector:
	case LLVMAdd:
	case LLVMSub:
	case LLVMAnd:
	case LLVMOr:
	case LLVMXor:
		add_operands(pt, todo, v);
		break;
	case LLVMCall:
	case LLVMInvoke:
		if (!is_known_call(v))
			break;
		if (LLVMIsDeclaration(LLVMGetCalledValue(v)))
			add_operands(pt, todo, v);
		else
			add_returned(pt, todo, LLVMGetCalledValue(v));
		break;
	default:
		break;
	}
}

void numbers_find(struct pointsto *pt)
{
	struct todo todo = { 0 };

	for (size_t k = 0; k < pt->p->fns.len; k++)
		for_each_block(b, pt->p->fns.data[k].f) for_each_instruction(i, b)
			add_uses(pt, &todo, pt->p->fns.data[k].f, i);
	while (todo.len) {
		LLVMValueRef v = vec_pop(&todo);

		add_origins(pt, &todo, v);
	}
	vec_deinit(&todo);
}
