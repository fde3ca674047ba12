/* cc/analyse/locals.c - see locals.h.
 *
 * A variable has a lock in it when its type has one of libc's types in it, by name. Of a spinlock, an int, we
 * know by its making. Optimised code says by intrinsics where variables begin and end, also those of functions
 * that were inlined; in unoptimised code they live as long as the function. An exception that nobody in the
 * function catches ends all of them; those that pass through it are not looked at. What alloca() gives is not looked
 * at, and what lives until main returns is taken to live as long as the process. */
#include "cc/analyse/locals.h"

#include "base/mem.h"

#include <string.h>

static bool is_lock_name(const char *name)
{
	static const char *const names[] = { "pthread_mutex_t",
					     "pthread_cond_t",
					     "pthread_rwlock_t",
					     "pthread_barrier_t",
					     "sem_t",
					     "mtx_t",
					     "cnd_t" };
	const char *dot = name ? strchr(name, '.') : NULL;

	for (size_t i = 0; dot && i < ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i]);

		/* linking numbers types of equal names */
		if (strncmp(dot + 1, names[i], n) == 0 && (!dot[1 + n] || dot[1 + n] == '.'))
			return true;
	}
	return false;
}

static bool has_lock(LLVMTypeRef t)
{
	unsigned n;

	if (LLVMGetTypeKind(t) == LLVMArrayTypeKind)
		return has_lock(LLVMGetElementType(t));
	if (LLVMGetTypeKind(t) != LLVMStructTypeKind)
		return false;
	if (is_lock_name(LLVMGetStructName(t)))
		return true;
	n = LLVMCountStructElementTypes(t);
	for (unsigned i = 0; i < n; i++)
		if (has_lock(LLVMStructGetTypeAtIndex(t, i)))
			return true;
	return false;
}

static bool is_marker(LLVMValueRef i, const char *name)
{
	LLVMValueRef f = LLVMIsACallInst(i) ? direct_callee(i) : NULL;

	return f && strncmp(value_name(f), name, strlen(name)) == 0;
}

static bool has_markers(LLVMValueRef local)
{
	for (LLVMUseRef u = LLVMGetFirstUse(local); u; u = LLVMGetNextUse(u))
		if (is_marker(LLVMGetUser(u), "llvm.lifetime.end"))
			return true;
	return false;
}

static bool is_spinlock(LLVMValueRef local)
{
	if (LLVMGetTypeKind(LLVMGetAllocatedType(local)) != LLVMIntegerTypeKind)
		return false;
	for (LLVMUseRef u = LLVMGetFirstUse(local); u; u = LLVMGetNextUse(u))
		if (is_marker(LLVMGetUser(u), "pthread_spin_init"))
			return true;
	return false;
}

static bool is_local_lock(LLVMValueRef v)
{
	return LLVMIsAAllocaInst(v) && LLVMIsAConstantInt(LLVMGetOperand(v, 0)) &&
	       (has_lock(LLVMGetAllocatedType(v)) || is_spinlock(v));
}

LLVMValueRef locals_of_marker(LLVMValueRef at)
{
	LLVMValueRef local;

	if (!is_marker(at, "llvm.lifetime."))
		return NULL;
	local = LLVMGetOperand(at, 1);
	return is_local_lock(local) ? local : NULL;
}

bool locals_ends(LLVMValueRef marker)
{
	return is_marker(marker, "llvm.lifetime.end");
}

/* An exception leaves the function that throws it here. */
static bool throws(LLVMValueRef call)
{
	return is_marker(call, "__cxa_throw") || is_marker(call, "__cxa_rethrow");
}

static LLVMBasicBlockRef entry_of(LLVMValueRef at)
{
	return LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(LLVMGetInstructionParent(at)));
}

LLVMValueRef locals_next(LLVMValueRef at, LLVMValueRef after)
{
	LLVMValueRef i =
		after ? LLVMGetNextInstruction(after) : LLVMGetFirstInstruction(entry_of(at));

	for (; i; i = LLVMGetNextInstruction(i))
		if (is_local_lock(i) && (throws(at) || !has_markers(i)))
			return i;
	return NULL;
}

LLVMValueRef locals_end(LLVMValueRef at)
{
	LLVMValueRef before = LLVMGetPreviousInstruction(at);
	LLVMOpcode opcode = LLVMGetInstructionOpcode(at);

	if (opcode == LLVMUnreachable && before && throws(before))
		return before;
	if (opcode != LLVMRet && opcode != LLVMResume)
		return NULL;
	return before && LLVMIsACallInst(before) &&
			       LLVMGetTailCallKind(before) == LLVMTailCallKindMustTail
		       ? before
		       : at;
}

LLVMValueRef locals_begin(LLVMValueRef f)
{
	LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f));

	while (LLVMIsAAllocaInst(i))
		i = LLVMGetNextInstruction(i);
	return i;
}

bool locals_is_last(LLVMValueRef at)
{
	LLVMValueRef i = at;

	for (;;) {
		LLVMOpcode opcode = LLVMGetInstructionOpcode(i);

		if (opcode == LLVMRet)
			return true;
		if (opcode == LLVMBr && !LLVMIsConditional(i))
			i = LLVMGetFirstInstruction(LLVMGetSuccessor(i, 0));
		else if (i == at || LLVMIsAPHINode(i) || LLVMIsALoadInst(i) || locals_ends(i))
			i = LLVMGetNextInstruction(i);
		else
			return false;
		if (i == at || !i)
			return false;
	}
}
