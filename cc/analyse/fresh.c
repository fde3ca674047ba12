/* cc/analyse/fresh.c - functions that return fresh memory, or null, and keep no pointer to it: a wrapper of
 * malloc is as good as malloc. The points-to analysis gives each of their calls an object of its
 * own. */
#include "cc/analyse/fresh.h"

#include "cc/program.h"
#include "cc/analyse/summaries.h"

#include <string.h>

static bool is_fresh_call(struct pointsto *pt, LLVMValueRef call)
{
	LLVMValueRef f = direct_callee(call);
	const struct summary *s;

	if (!f)
		return false;
	if (map_find(&pt->wrappers, (uint64_t)(uintptr_t)f))
		return true;
	s = LLVMIsDeclaration(f) ? summary_find(value_name(f)) : NULL;
	return s && s->result == RESULT_FRESH;
}

/* Is v fresh memory (or null) wherever it comes from, and not kept by this function? */
static bool is_fresh_value(struct pointsto *pt, LLVMValueRef v, int depth)
{
	if (depth > 8)
		return false;
	if (LLVMIsAConstantPointerNull(v) || LLVMIsUndef(v))
		return true;
	if (LLVMIsAPHINode(v)) {
		for (unsigned i = 0; i < LLVMCountIncoming(v); i++)
			if (LLVMGetIncomingValue(v, i) != v &&
			    !is_fresh_value(pt, LLVMGetIncomingValue(v, i), depth + 1))
				return false;
		return true;
	}
	if (LLVMIsASelectInst(v))
		return is_fresh_value(pt, LLVMGetOperand(v, 1), depth + 1) &&
		       is_fresh_value(pt, LLVMGetOperand(v, 2), depth + 1);
	if (LLVMIsAGetElementPtrInst(v))
		return is_fresh_value(pt, LLVMGetOperand(v, 0), depth + 1);
	if (LLVMIsACallInst(v) || LLVMIsAInvokeInst(v))
		return is_fresh_call(pt, v);
	return false;
}

/* Stored as a value or handed to one of our functions: somebody else may know it. */
static bool is_kept(LLVMValueRef v, int depth)
{
	if (depth > 8)
		return true;
	for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
		LLVMValueRef user = LLVMGetUser(u), f;

		if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == v)
			return true;
		if (LLVMIsAPHINode(user) || LLVMIsASelectInst(user) ||
		    LLVMIsAGetElementPtrInst(user)) {
			if (is_kept(user, depth + 1))
				return true;
		} else if (is_call(user)) {
			const struct summary *s;

			f = direct_callee(user);
			s = f && LLVMIsDeclaration(f) ? summary_find(value_name(f)) : NULL;
			if (!f || (strncmp(value_name(f), "llvm.", 5) != 0 && (!s || s->escapes)))
				return true;
		} else if (!LLVMIsALoadInst(user) && !LLVMIsAStoreInst(user) &&
			   !LLVMIsAICmpInst(user) && !LLVMIsAReturnInst(user)) {
			return true;
		}
	}
	return false;
}

static bool is_wrapper(struct pointsto *pt, LLVMValueRef f)
{
	bool any = false;

	if (LLVMGetTypeKind(LLVMGetReturnType(LLVMGlobalGetValueType(f))) != LLVMPointerTypeKind)
		return false;
	for_each_block(b, f)
	{
		LLVMValueRef t = LLVMGetBasicBlockTerminator(b), v;

		if (!t || !LLVMIsAReturnInst(t))
			continue;
		v = LLVMGetOperand(t, 0);
		if (!is_fresh_value(pt, v, 0) || is_kept(v, 0))
			return false;
		any |= !LLVMIsAConstantPointerNull(v);
	}
	return any;
}

void fresh_find(struct pointsto *pt)
{
	size_t before;

	do { /* wrappers of wrappers */
		before = pt->wrappers.len;
		for (size_t i = 0; i < pt->p->fns.len; i++) {
			LLVMValueRef f = pt->p->fns.data[i].f;

			if (!map_find(&pt->wrappers, (uint64_t)(uintptr_t)f) && is_wrapper(pt, f))
				map_put(&pt->wrappers, (uint64_t)(uintptr_t)f, 1);
		}
	} while (pt->wrappers.len != before);
}
