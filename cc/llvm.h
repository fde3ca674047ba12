/* cc/llvm.h - the LLVM C API, and the few helpers that everybody here needs. */
#ifndef CC_LLVM_H
#define CC_LLVM_H

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Comdat.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline const char *value_name(LLVMValueRef v)
{
	size_t n;

	return LLVMGetValueName2(v, &n);
}

static inline bool is_local(LLVMValueRef global)
{
	LLVMLinkage l = LLVMGetLinkage(global);

	return l == LLVMInternalLinkage || l == LLVMPrivateLinkage;
}

/* May another definition win at link or load time? */
static inline bool is_interposable(LLVMValueRef global)
{
	LLVMLinkage l = LLVMGetLinkage(global);

	return l == LLVMWeakAnyLinkage || l == LLVMLinkOnceAnyLinkage || l == LLVMCommonLinkage ||
	       l == LLVMExternalWeakLinkage;
}

static inline bool has_section(LLVMValueRef global)
{
	const char *s = LLVMGetSection(global);

	return s && *s;
}

/* call, invoke or callbr */
static inline bool is_call(LLVMValueRef v)
{
	return LLVMIsACallInst(v) || LLVMIsAInvokeInst(v) || LLVMIsACallBrInst(v);
}

/* The function a call names directly, NULL for pointers and inline assembly. */
static inline LLVMValueRef direct_callee(LLVMValueRef call)
{
	LLVMValueRef f = LLVMGetCalledValue(call);

	return f && LLVMIsAFunction(f) ? f : NULL;
}

static inline void set_callee(LLVMValueRef call, LLVMValueRef f)
{
	LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, f);
}

/* C11's number: 0 relaxed, 2 acquire, 3 release, 4 both, 5 sequentially consistent. */
static inline unsigned order_number(LLVMAtomicOrdering o)
{
	switch (o) {
	case LLVMAtomicOrderingAcquire:
		return 2;
	case LLVMAtomicOrderingRelease:
		return 3;
	case LLVMAtomicOrderingAcquireRelease:
		return 4;
	case LLVMAtomicOrderingSequentiallyConsistent:
		return 5;
	default:
		return 0;
	}
}

#define FUNCTION_ATTRIBUTES ((LLVMAttributeIndex)LLVMAttributeFunctionIndex)

static inline unsigned attribute_kind(const char *name)
{
	return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

/* NULL when the function does not have it. */
static inline LLVMAttributeRef function_attribute(LLVMValueRef f, const char *name)
{
	return LLVMGetEnumAttributeAtIndex(f, FUNCTION_ATTRIBUTES, attribute_kind(name));
}

static inline void function_add_attribute(LLVMValueRef f, const char *name)
{
	LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(f));

	LLVMAddAttributeAtIndex(f, FUNCTION_ATTRIBUTES,
				LLVMCreateEnumAttribute(c, attribute_kind(name), 0));
}

static inline void function_remove_attribute(LLVMValueRef f, const char *name)
{
	LLVMRemoveEnumAttributeAtIndex(f, FUNCTION_ATTRIBUTES, attribute_kind(name));
}

static inline void call_add_attribute(LLVMContextRef c, LLVMValueRef call, const char *name,
				      uint64_t value)
{
	LLVMAddCallSiteAttribute(call, FUNCTION_ATTRIBUTES,
				 LLVMCreateEnumAttribute(c, attribute_kind(name), value));
}

#define for_each_function(f, m)                                                                    \
	for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
#define for_each_global(g, m)                                                                      \
	for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g))
#define for_each_block(b, f)                                                                       \
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
#define for_each_instruction(i, b)                                                                 \
	for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))

#endif
