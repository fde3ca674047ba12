/* cc/instrument/hooks.c - the builder that all variants insert their hooks with.
 *
 * No block is ever split (the C API cannot repair phis): everything is inserted between two
 * instructions of one block. What needs branches of its own is a piece of assembly (bits.c,
 * shadow.c, places.c) or a small local function that is always inlined (path.c). */
#include "cc/instrument/hooks.h"

#include "cc/analyse/calls.h"
#include "cc/program.h"

#include <string.h>

void hooks_init(struct hooks *h, struct program *p, int v)
{
	memset(h, 0, sizeof(*h));
	h->p = p;
	h->c = p->context;
	h->m = p->module;
	h->b = LLVMCreateBuilderInContext(h->c);
	h->i32 = LLVMInt32TypeInContext(h->c);
	h->i64 = LLVMInt64TypeInContext(h->c);
	h->none = LLVMVoidTypeInContext(h->c);
	h->variant = v;
	h->call_site = LLVMAddGlobal(h->m, h->i32, "plait_call_site");
	LLVMSetThreadLocalMode(h->call_site,
			       p->library ? LLVMInitialExecTLSModel : LLVMLocalExecTLSModel);
	h->bits = (struct bits){ p->context, v == PLAIT_VARIANT_FULL, program_is_open(p) };
	h->shadow = (struct shadow){ p->context, p->library };
	if (program_is_open(p)) {
		h->module_base =
			LLVMAddGlobal(h->m, h->i32, p->unit ? p->unit : "plait_module_base");
		LLVMSetVisibility(h->module_base, LLVMHiddenVisibility);
	}
}

LLVMTypeRef hooks_int_type(struct hooks *h, unsigned bytes)
{
	return LLVMIntTypeInContext(h->c, bytes * 8);
}

/* Call an external hook; its type is read off the arguments. */
LLVMValueRef hooks_call(struct hooks *h, const char *name, LLVMTypeRef ret, unsigned n,
			LLVMValueRef *args)
{
	LLVMTypeRef types[8], type;
	LLVMValueRef f = LLVMGetNamedFunction(h->m, name);

	for (unsigned i = 0; i < n; i++)
		types[i] = LLVMTypeOf(args[i]);
	type = LLVMFunctionType(ret, types, n, 0);
	if (!f) {
		f = LLVMAddFunction(h->m, name, type);
		function_add_attribute(f, "nounwind");
	}
	return LLVMBuildCall2(h->b, type, f, args, n, "");
}

LLVMValueRef hooks_constant(struct hooks *h, uint64_t v)
{
	return LLVMConstInt(h->i32, v, 0);
}

/* Libraries and units add where their numbers begin. */
LLVMValueRef hooks_site(struct hooks *h, uint32_t site)
{
	if (!program_is_open(h->p))
		return hooks_constant(h, site);
	return LLVMBuildAdd(h->b, LLVMBuildLoad2(h->b, h->i32, h->module_base, ""),
			    hooks_constant(h, site), "");
}

/* Before `at`, with its source position. */
void hooks_stand_before(struct hooks *h, LLVMValueRef at)
{
	LLVMPositionBuilderBefore(h->b, at);
}

bool hooks_stand_after(struct hooks *h, LLVMValueRef call)
{
	LLVMValueRef behind = call_behind(call);

	if (!behind)
		return false;
	LLVMPositionBuilderBefore(h->b, behind);
	LLVMSetCurrentDebugLocation2(h->b, LLVMInstructionGetDebugLoc(call));
	return true;
}

/* Value of any scalar type <-> integer of n bytes. */
LLVMValueRef hooks_to_int(struct hooks *h, LLVMValueRef v, unsigned n)
{
	LLVMTypeRef t = LLVMTypeOf(v), want = hooks_int_type(h, n);

	if (t == want)
		return v;
	if (LLVMGetTypeKind(t) == LLVMPointerTypeKind)
		return LLVMBuildPtrToInt(h->b, v, want, "");
	if (LLVMGetTypeKind(t) == LLVMIntegerTypeKind)
		return LLVMBuildZExtOrBitCast(h->b, v, want, "");
	return LLVMBuildBitCast(h->b, v, want, "");
}

LLVMValueRef hooks_from_int(struct hooks *h, LLVMValueRef v, LLVMTypeRef want)
{
	LLVMTypeRef t = LLVMTypeOf(v);

	if (t == want)
		return v;
	if (LLVMGetTypeKind(want) == LLVMPointerTypeKind)
		return LLVMBuildIntToPtr(h->b, v, want, "");
	if (LLVMGetTypeKind(want) == LLVMIntegerTypeKind)
		return LLVMBuildTruncOrBitCast(h->b, v, want, "");
	return LLVMBuildBitCast(h->b, v, want, "");
}

unsigned hooks_bytes(struct hooks *h, LLVMTypeRef t)
{
	return (unsigned)LLVMStoreSizeOfType(h->p->layout, t);
}

void hooks_replace(LLVMValueRef old, LLVMValueRef new)
{
	LLVMReplaceAllUsesWith(old, new);
	LLVMInstructionEraseFromParent(old);
}

void hooks_set_call_site(struct hooks *h, LLVMValueRef call, uint32_t site)
{
	LLVMPositionBuilderBefore(h->b, call);
	LLVMBuildStore(h->b, hooks_site(h, site), h->call_site);
}

void hooks_deinit(struct hooks *h)
{
	LLVMDisposeBuilder(h->b);
}
