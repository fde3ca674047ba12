/* cc/expand/copies.c - a struct copy of a few words is as many loads and stores.
 *
 * They have constant offsets, so each is an access of its own field. memmove loads everything
 * first: its two sides may overlap. */
#include "cc/analyse/calls.h"
#include "cc/expand/inside.h"
#include "cc/program.h"

#include <string.h>

enum { MAX_BYTES = 64, MAX_WORDS = 16 };

static unsigned word_size(uint64_t left)
{
	return left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

static LLVMValueRef address(struct expand *x, LLVMValueRef base, uint64_t off)
{
	LLVMContextRef c = x->p->context;
	LLVMValueRef index = LLVMConstInt(LLVMInt64TypeInContext(c), off, 0);

	if (!off)
		return base;
	return LLVMBuildInBoundsGEP2(x->b, LLVMInt8TypeInContext(c), base, &index, 1, "");
}

static LLVMValueRef load(struct expand *x, LLVMValueRef call, uint64_t off, unsigned bytes)
{
	LLVMTypeRef t = LLVMIntTypeInContext(x->p->context, bytes * 8);
	LLVMValueRef v = LLVMBuildLoad2(x->b, t, address(x, LLVMGetOperand(call, 1), off), "");

	LLVMSetAlignment(v, 1);
	return v;
}

static void store(struct expand *x, LLVMValueRef call, uint64_t off, LLVMValueRef v)
{
	LLVMValueRef s = LLVMBuildStore(x->b, v, address(x, LLVMGetOperand(call, 0), off));

	LLVMSetAlignment(s, 1);
}

static void copy(struct expand *x, LLVMValueRef call, uint64_t n, bool first_all)
{
	LLVMValueRef values[MAX_WORDS];
	unsigned k = 0;

	for (uint64_t off = 0; off < n; off += word_size(n - off)) {
		values[k] = load(x, call, off, word_size(n - off));
		if (!first_all)
			store(x, call, off, values[k]);
		k++;
	}
	k = 0;
	for (uint64_t off = 0; first_all && off < n; off += word_size(n - off))
		store(x, call, off, values[k++]);
}

static void fill(struct expand *x, LLVMValueRef call, uint64_t n, uint64_t byte)
{
	for (uint64_t off = 0; off < n; off += word_size(n - off)) {
		LLVMTypeRef t = LLVMIntTypeInContext(x->p->context, word_size(n - off) * 8);

		store(x, call, off, LLVMConstInt(t, byte * 0x0101010101010101ull, 0));
	}
}

bool copies_expand(struct expand *x, LLVMValueRef call)
{
	bool copies = call_classify(call) == CALL_MEMCPY;
	LLVMValueRef n = LLVMGetOperand(call, 2), byte = LLVMGetOperand(call, 1);

	if (!LLVMIsAConstantInt(n) || LLVMConstIntGetZExtValue(n) > MAX_BYTES ||
	    (!copies && !LLVMIsAConstantInt(byte)))
		return false;
	LLVMPositionBuilderBefore(x->b, call);
	if (copies)
		copy(x, call, LLVMConstIntGetZExtValue(n),
		     strncmp(value_name(direct_callee(call)), "llvm.memmove", 12) == 0);
	else
		fill(x, call, LLVMConstIntGetZExtValue(n), LLVMConstIntGetZExtValue(byte) & 255);
	LLVMInstructionEraseFromParent(call);
	return true;
}

void copies_split(struct expand *x, LLVMValueRef access)
{
	bool is_store = LLVMIsAStoreInst(access) != NULL;
	LLVMValueRef p = LLVMGetOperand(access, is_store), half[2];
	LLVMTypeRef i64 = LLVMInt64TypeInContext(x->p->context);
	LLVMTypeRef i128 = LLVMIntTypeInContext(x->p->context, 128);
	LLVMValueRef up = LLVMConstInt(i128, 64, 0);

	LLVMPositionBuilderBefore(x->b, access);
	LLVMSetCurrentDebugLocation2(x->b, LLVMInstructionGetDebugLoc(access));
	for (unsigned k = 0; k < 2; k++) {
		LLVMValueRef at = address(x, p, k * 8), v = LLVMGetOperand(access, 0);

		if (is_store) {
			v = k ? LLVMBuildLShr(x->b, v, up, "") : v;
			half[k] = LLVMBuildStore(x->b, LLVMBuildTrunc(x->b, v, i64, ""), at);
		} else {
			half[k] = LLVMBuildLoad2(x->b, i64, at, "");
		}
		LLVMSetAlignment(half[k],
				 LLVMGetAlignment(access) < 8 ? LLVMGetAlignment(access) : 8);
		LLVMSetVolatile(half[k], LLVMGetVolatile(access));
	}
	if (!is_store) {
		LLVMValueRef low = LLVMBuildZExt(x->b, half[0], i128, "");
		LLVMValueRef high =
			LLVMBuildShl(x->b, LLVMBuildZExt(x->b, half[1], i128, ""), up, "");

		LLVMReplaceAllUsesWith(access, LLVMBuildOr(x->b, high, low, ""));
	}
	LLVMInstructionEraseFromParent(access);
}
