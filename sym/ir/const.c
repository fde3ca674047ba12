/* sym/ir/const.c - types as registers and bytes, constants as numbers and bytes.
 *
 * Every object's and function's address is known at load time (ir.h), so a constant expression
 * over addresses is just a number, and a global's initial value is just bytes. */
#include "sym/ir/llvm.h"

#include <dlfcn.h>
#include <string.h>

uint64_t type_size(struct ir *ir, LLVMTypeRef type)
{
	return LLVMABISizeOfType(ir->layout, type);
}

static void add_part(struct parts *out, uint64_t offset, unsigned w, bool fp)
{
	vec_push(out, ((struct part){ .offset = offset, .w = (uint8_t)w, .is_fp = fp }));
}

bool type_parts(struct ir *ir, LLVMTypeRef type, uint64_t base, struct parts *out)
{
	unsigned w, n;
	LLVMTypeRef elem;
	uint64_t step;

	switch (LLVMGetTypeKind(type)) {
	case LLVMIntegerTypeKind:
		w = LLVMGetIntTypeWidth(type);
		if (w > 128)
			return false;
		add_part(out, base, MIN(w, 64), false);
		if (w > 64)
			add_part(out, base + 8, w - 64, false);
		return true;
	case LLVMPointerTypeKind:
		add_part(out, base, 64, false);
		return true;
	case LLVMFloatTypeKind:
		add_part(out, base, 32, true);
		return true;
	case LLVMDoubleTypeKind:
		add_part(out, base, 64, true);
		return true;
	case LLVMX86_FP80TypeKind:
		add_part(out, base, 64, false);
		add_part(out, base + 8, 16, false);
		return true;
	case LLVMStructTypeKind:
		n = LLVMCountStructElementTypes(type);
		for (unsigned i = 0; i < n; i++)
			if (!type_parts(ir, LLVMStructGetTypeAtIndex(type, i),
					base + LLVMOffsetOfElement(ir->layout, type, i), out))
				return false;
		return true;
	case LLVMArrayTypeKind:
		n = (unsigned)LLVMGetArrayLength2(type);
		elem = LLVMGetElementType(type);
		step = type_size(ir, elem);
		break;
	case LLVMVectorTypeKind:
		n = LLVMGetVectorSize(type);
		elem = LLVMGetElementType(type);
		step = LLVMSizeOfTypeInBits(ir->layout, elem) / 8;
		if (LLVMSizeOfTypeInBits(ir->layout, elem) % 8)
			step = 0; /* vectors of bits: registers only, never memory */
		break;
	default:
		return false;
	}
	if (n > 4096)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (!type_parts(ir, elem, base + i * step, out))
			return false;
	return true;
}

uint32_t type_regs(struct ir *ir, LLVMTypeRef type)
{
	struct parts parts = { 0 };
	uint32_t n;

	if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
		return 0;
	n = type_parts(ir, type, 0, &parts) ? (uint32_t)parts.len : 1;
	vec_deinit(&parts);
	return n;
}

/* A weak reference that nothing defines: its address is null. What the C library has counts as
 * defined. */
static bool is_absent(LLVMValueRef v)
{
	size_t len;
	const char *name = LLVMGetValueName2(v, &len);

	return LLVMIsDeclaration(v) && LLVMGetLinkage(v) == LLVMExternalWeakLinkage &&
	       ir_builtin(name) < 0 && !dlsym(RTLD_DEFAULT, name);
}

uint64_t block_address(uint32_t function, uint32_t block)
{
	return FUNC_TAG | 1ull << 60 | (uint64_t)function << 24 | block;
}

uint32_t block_number(LLVMBasicBlockRef bb)
{
	uint32_t n = 0;

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(LLVMGetBasicBlockParent(bb)); b != bb;
	     b = LLVMGetNextBasicBlock(b))
		n++;
	return n;
}

struct function *ir_function_of(struct ir *ir, LLVMValueRef fn)
{
	uint64_t *i = map_find(&ir->by_llvm, (uintptr_t)fn);

	return i ? ir->functions.data[*i] : NULL;
}

static bool const_gep(struct ir *ir, LLVMValueRef c, uint64_t *ret, const char **why)
{
	LLVMTypeRef type = LLVMGetGEPSourceElementType(c);
	unsigned n = (unsigned)LLVMGetNumOperands(c);
	uint64_t index;

	if (!const_u64(ir, LLVMGetOperand(c, 0), ret, why))
		return false;
	for (unsigned i = 1; i < n; i++) {
		LLVMValueRef op = LLVMGetOperand(c, i);

		if (!const_u64(ir, op, &index, why))
			return false;
		if (LLVMGetTypeKind(LLVMTypeOf(op)) == LLVMIntegerTypeKind &&
		    LLVMGetIntTypeWidth(LLVMTypeOf(op)) == 32)
			index = (uint64_t)(int64_t)(int32_t)index;
		if (i == 1) {
			*ret += index * type_size(ir, type);
		} else if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
			*ret += LLVMOffsetOfElement(ir->layout, type, (unsigned)index);
			type = LLVMStructGetTypeAtIndex(type, (unsigned)index);
		} else {
			type = LLVMGetElementType(type);
			*ret += index * type_size(ir, type);
		}
	}
	return true;
}

/* The difference of two objects' addresses, as in an entry of a relative lookup table. (That of two
 * labels is a small number.) */
static bool is_difference(LLVMValueRef c)
{
	LLVMValueRef from;

	if (LLVMGetValueKind(c) != LLVMConstantExprValueKind || LLVMGetConstOpcode(c) != LLVMSub)
		return false;
	from = LLVMGetOperand(c, 0);
	return LLVMGetValueKind(from) == LLVMConstantExprValueKind &&
	       LLVMGetConstOpcode(from) == LLVMPtrToInt &&
	       LLVMGetValueKind(LLVMGetOperand(from, 0)) != LLVMBlockAddressValueKind;
}

static bool const_expr(struct ir *ir, LLVMValueRef c, uint64_t *ret, const char **why)
{
	uint64_t a = 0, b = 0;

	switch (LLVMGetConstOpcode(c)) {
	case LLVMGetElementPtr:
		return const_gep(ir, c, ret, why);
	case LLVMBitCast:
	case LLVMIntToPtr:
	case LLVMPtrToInt:
	case LLVMAddrSpaceCast:
		return const_u64(ir, LLVMGetOperand(c, 0), ret, why);
	case LLVMTrunc:
		if (is_difference(LLVMGetOperand(c, 0))) {
			LLVMValueRef target = LLVMGetOperand(LLVMGetOperand(c, 0), 0);

			if (!const_u64(ir, target, &a, why))
				return false;
			*ret = RELATIVE_TAG | ir->relatives.len;
			vec_push(&ir->relatives, a);
			return true;
		}
		if (!const_u64(ir, LLVMGetOperand(c, 0), &a, why))
			return false;
		*ret = a & (~0ull >> (64 - LLVMGetIntTypeWidth(LLVMTypeOf(c))));
		return true;
	case LLVMAdd:
	case LLVMSub:
	case LLVMXor:
		if (!const_u64(ir, LLVMGetOperand(c, 0), &a, why) ||
		    !const_u64(ir, LLVMGetOperand(c, 1), &b, why))
			return false;
		*ret = LLVMGetConstOpcode(c) == LLVMAdd	  ? a + b
		       : LLVMGetConstOpcode(c) == LLVMSub ? a - b
							  : a ^ b;
		return true;
	default:
		*why = "a constant expression that is not address arithmetic";
		return false;
	}
}

bool const_u64(struct ir *ir, LLVMValueRef c, uint64_t *ret, const char **why)
{
	uint64_t *i;

	*ret = 0;
	switch (LLVMGetValueKind(c)) {
	case LLVMConstantIntValueKind:
		*ret = LLVMConstIntGetZExtValue(c);
		return true;
	case LLVMConstantFPValueKind: {
		bool f = LLVMGetTypeKind(LLVMTypeOf(c)) == LLVMFloatTypeKind;
		LLVMTypeRef t = f ? LLVMInt32TypeInContext(ir->context)
				  : LLVMInt64TypeInContext(ir->context);

		*ret = LLVMConstIntGetZExtValue(LLVMConstBitCast(c, t));
		return true;
	}
	case LLVMConstantPointerNullValueKind:
	case LLVMUndefValueValueKind:
	case LLVMPoisonValueValueKind:
	case LLVMConstantAggregateZeroValueKind:
		return true;
	case LLVMFunctionValueKind:
		i = map_find(&ir->by_llvm, (uintptr_t)c);
		*ret = is_absent(c) ? 0 : function_address((uint32_t)*i);
		return true;
	case LLVMGlobalVariableValueKind:
		i = map_find(&ir->by_llvm, (uintptr_t)c);
		if (ir->globals.data[*i].tls) {
			*why = "the address of a thread-local variable in a constant";
			return false;
		}
		*ret = is_absent(c) ? 0 : ir->globals.data[*i].address;
		return true;
	case LLVMGlobalAliasValueKind:
		return const_u64(ir, LLVMAliasGetAliasee(c), ret, why);
	case LLVMBlockAddressValueKind: {
		LLVMValueRef fn = LLVMGetBlockAddressFunction(c);

		i = map_find(&ir->by_llvm, (uintptr_t)fn);
		*ret = block_address((uint32_t)*i, block_number(LLVMGetBlockAddressBasicBlock(c)));
		return true;
	}
	case LLVMConstantExprValueKind:
		return const_expr(ir, c, ret, why);
	default:
		*why = "an unusual constant (ifunc, target-specific)";
		return false;
	}
}

/* LLVM-C has no way to read an integer beyond 64 bits but to print it. */
static unsigned __int128 wide_int(LLVMValueRef c)
{
	char *text = LLVMPrintValueToString(c), *p = strchr(text, ' ');
	unsigned __int128 v = 0;
	bool negative = false;

	if (p && p[1] == '-') {
		negative = true;
		p++;
	}
	for (p = p ? p + 1 : text; *p >= '0' && *p <= '9'; p++)
		v = v * 10 + (unsigned)(*p - '0');
	LLVMDisposeMessage(text);
	return negative ? -v : v;
}

static bool const_elements(struct ir *ir, LLVMValueRef c, uint8_t *out, const char **why)
{
	LLVMTypeRef type = LLVMTypeOf(c);
	LLVMTypeKind kind = LLVMGetTypeKind(type);
	unsigned n = kind == LLVMStructTypeKind	 ? LLVMCountStructElementTypes(type)
		     : kind == LLVMArrayTypeKind ? (unsigned)LLVMGetArrayLength2(type)
						 : LLVMGetVectorSize(type);
	size_t len;

	if (LLVMGetValueKind(c) == LLVMConstantDataArrayValueKind && LLVMIsConstantString(c)) {
		const char *text = LLVMGetAsString(c, &len);

		memcpy(out, text, len);
		return true;
	}
	for (unsigned i = 0; i < n; i++) {
		LLVMValueRef e = LLVMGetAggregateElement(c, i);
		uint64_t at = kind == LLVMStructTypeKind ? LLVMOffsetOfElement(ir->layout, type, i)
							 : i * type_size(ir, LLVMTypeOf(e));

		if (!const_bytes(ir, e, out + at, why))
			return false;
	}
	return true;
}

bool const_bytes(struct ir *ir, LLVMValueRef c, uint8_t *out, const char **why)
{
	LLVMTypeRef type = LLVMTypeOf(c);
	LLVMTypeKind kind = LLVMGetTypeKind(type);
	uint64_t v;

	if (LLVMIsNull(c) || LLVMIsUndef(c) || LLVMIsPoison(c))
		return true;
	if (kind == LLVMX86_FP80TypeKind)
		c = LLVMConstBitCast(c, LLVMIntTypeInContext(ir->context, 80));
	if (kind == LLVMX86_FP80TypeKind ||
	    (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) > 64)) {
		unsigned __int128 wide = wide_int(c);

		memcpy(out, &wide, kind == LLVMX86_FP80TypeKind ? 10 : 16);
		return true;
	}
	if (kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind || kind == LLVMVectorTypeKind)
		return const_elements(ir, c, out, why);
	if (!const_u64(ir, c, &v, why))
		return false;
	memcpy(out, &v, MIN(type_size(ir, type), 8));
	return true;
}
