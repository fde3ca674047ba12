/* sym/ir/call.c - lowering of calls: the program's functions, the machine's own, LLVM's intrinsics,
 * and the few pieces of inline assembly that mean something simple.
 *
 * Variable arguments: the caller stores them one after another, eight bytes each, in a fresh object
 * and passes its address as a last, hidden argument. va_start points the va_list's overflow area at
 * it and says that all argument registers are used up, so clang's own va_arg code reads from there.
 */
#include "sym/ir/lower.h"

#include <stdio.h>
#include <string.h>

static const char *const builtin_names[] = {
#define BUILTIN(id, name) name,
#include "sym/ir/builtins.def"
#undef BUILTIN
};

/* The C library's name of each fmath function: "sqrt", and "sqrtf" for float. */
static const char *const fmath_names[] = {
#define FMATH(id, c1, c2) #id,
#include "sym/ir/fmath.def"
#undef FMATH
};

static int lower_case_equal(const char *upper, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!upper[i] || (upper[i] | 32) != s[i])
			return 0;
	return upper[n] == '\0';
}

static int find_fmath(const char *s, size_t n)
{
	for (int i = 0; i < FM_COUNT; i++)
		if (lower_case_equal(fmath_names[i], s, n))
			return i;
	if (n == 4 && !memcmp(s, "fmin", 4))
		return FM_MINNUM;
	if (n == 4 && !memcmp(s, "fmax", 4))
		return FM_MAXNUM;
	return -1;
}

int ir_builtin(const char *name)
{
	for (int i = 0; i < BI_COUNT; i++)
		if (!strcmp(builtin_names[i], name))
			return i;
	return -1;
}

const char *ir_builtin_name(enum builtin b)
{
	return builtin_names[b];
}

static void push_arg_list(struct lower *l, struct op *o, const int32_t *regs, uint32_t n)
{
	o->imm = l->ir->args.len | (uint64_t)n << 32;
	for (uint32_t i = 0; i < n; i++)
		vec_push(&l->ir->args, regs[i]);
}

/* --- intrinsics --- */

static void intrin(struct lower *l, LLVMValueRef i, enum opcode code, enum intrin which,
		   unsigned nargs)
{
	LLVMTypeRef type = scalar_type(LLVMTypeOf(LLVMGetOperand(i, 0)));
	int32_t r[3] = { 0 }, d = reg_of(l, i);
	unsigned n = lanes(LLVMTypeOf(LLVMGetOperand(i, 0)));

	for (unsigned k = 0; k < nargs; k++)
		r[k] = reg_of(l, LLVMGetOperand(i, k));
	if (bits_of(type) > 64 && which != IN_ISFPCLASS) {
		emit_unsupported(l, "an intrinsic on integers wider than 64 bits");
		return;
	}
	for (int32_t k = 0; k < (int32_t)n; k++) {
		bool scalar2 = which == IN_CTLZ || which == IN_CTTZ || which == IN_ABS ||
			       which == IN_ISFPCLASS;
		struct op *o = emit(l, code);

		if (code == OP_OVERFLOW && n > 1) {
			o->code = OP_FENCE;
			emit_unsupported(l, "arithmetic with overflow on vectors");
			return;
		}
		o->d = d + k;
		o->a = r[0] + k;
		o->b = nargs > 1 ? r[1] + (scalar2 ? 0 : k) : o->a;
		o->imm = (uint32_t)(r[2] + k);
		o->aux = (uint8_t)which;
		o->w = (uint8_t)bits_of(type);
	}
}

static void fmath(struct lower *l, LLVMValueRef i, enum fmath which, unsigned nargs)
{
	LLVMTypeRef type = scalar_type(LLVMTypeOf(LLVMGetOperand(i, 0)));
	int32_t r[3] = { 0 }, d = reg_of(l, i);

	if (bits_of(type) == 80 && which == FM_FABS) {
		int32_t a = reg_of(l, LLVMGetOperand(i, 0));
		struct op *o = emit(l, OP_LDCONV);

		o->d = d;
		o->a = a;
		o->aux = LD_ABS;
		return;
	}
	if (LLVMGetTypeKind(type) != LLVMFloatTypeKind &&
	    LLVMGetTypeKind(type) != LLVMDoubleTypeKind) {
		emit_unsupported(l, "mathematical function on long double");
		return;
	}
	for (unsigned k = 0; k < nargs; k++)
		r[k] = reg_of(l, LLVMGetOperand(i, k));
	for (int32_t k = 0; k < (int32_t)lanes(LLVMTypeOf(i)); k++) {
		struct op *o = emit(l, OP_FMATH);

		o->d = d + k;
		o->a = r[0] + k;
		o->b = nargs > 1 ? r[1] + k : o->a;
		o->imm = (uint32_t)(nargs > 2 ? r[2] + k : o->a);
		o->aux = (uint8_t)which;
		o->w = (uint8_t)bits_of(type);
	}
}

static void memory_call(struct lower *l, LLVMValueRef i, enum opcode code)
{
	int32_t d = reg_of(l, LLVMGetOperand(i, 0)), a = reg_of(l, LLVMGetOperand(i, 1)),
		b = reg_of(l, LLVMGetOperand(i, 2));
	struct op *o = emit(l, code);

	o->d = d;
	o->a = a;
	o->b = b;
}

/* llvm.vector.reduce.*: fold the lanes. */
static bool reduce(struct lower *l, LLVMValueRef i, const char *how)
{
	static const struct {
		const char *name;
		enum opcode code;
		int intrin;
	} table[] = { { "add.", OP_ADDN, -1 },		{ "mul.", OP_MULN, -1 },
		      { "and.", OP_AND, -1 },		{ "or.", OP_OR, -1 },
		      { "xor.", OP_XOR, -1 },		{ "smax.", OP_INTRIN2, IN_SMAX },
		      { "smin.", OP_INTRIN2, IN_SMIN }, { "umax.", OP_INTRIN2, IN_UMAX },
		      { "umin.", OP_INTRIN2, IN_UMIN } };
	LLVMValueRef v = LLVMGetOperand(i, 0);
	int32_t a = reg_of(l, v), d = reg_of(l, i);

	for (size_t t = 0; t < ARRAY_SIZE(table); t++) {
		if (strncmp(how, table[t].name, strlen(table[t].name)))
			continue;
		emit_mov(l, d, a);
		for (int32_t k = 1; k < (int32_t)lanes(LLVMTypeOf(v)); k++) {
			struct op *o = emit(l, table[t].code);

			o->d = d;
			o->a = d;
			o->b = a + k;
			o->aux = (uint8_t)(table[t].intrin < 0 ? 0 : table[t].intrin);
			o->w = (uint8_t)bits_of(LLVMTypeOf(i));
		}
		return true;
	}
	return false;
}

static const struct {
	const char *name;
	enum opcode code;
	enum intrin which;
	unsigned nargs;
} intrinsics[] = {
	{ "ctpop.", OP_INTRIN2, IN_CTPOP, 1 },
	{ "ctlz.", OP_INTRIN2, IN_CTLZ, 2 },
	{ "cttz.", OP_INTRIN2, IN_CTTZ, 2 },
	{ "bswap.", OP_INTRIN2, IN_BSWAP, 1 },
	{ "bitreverse.", OP_INTRIN2, IN_BITREVERSE, 1 },
	{ "abs.", OP_INTRIN2, IN_ABS, 2 },
	{ "smin.", OP_INTRIN2, IN_SMIN, 2 },
	{ "smax.", OP_INTRIN2, IN_SMAX, 2 },
	{ "umin.", OP_INTRIN2, IN_UMIN, 2 },
	{ "umax.", OP_INTRIN2, IN_UMAX, 2 },
	{ "uadd.sat.", OP_INTRIN2, IN_UADDSAT, 2 },
	{ "usub.sat.", OP_INTRIN2, IN_USUBSAT, 2 },
	{ "sadd.sat.", OP_INTRIN2, IN_SADDSAT, 2 },
	{ "ssub.sat.", OP_INTRIN2, IN_SSUBSAT, 2 },
	{ "fshl.", OP_INTRIN3, IN_FSHL, 3 },
	{ "fshr.", OP_INTRIN3, IN_FSHR, 3 },
	{ "sadd.with.overflow.", OP_OVERFLOW, IN_SADDO, 2 },
	{ "uadd.with.overflow.", OP_OVERFLOW, IN_UADDO, 2 },
	{ "ssub.with.overflow.", OP_OVERFLOW, IN_SSUBO, 2 },
	{ "usub.with.overflow.", OP_OVERFLOW, IN_USUBO, 2 },
	{ "smul.with.overflow.", OP_OVERFLOW, IN_SMULO, 2 },
	{ "umul.with.overflow.", OP_OVERFLOW, IN_UMULO, 2 },
	{ "is.fpclass.", OP_INTRIN2, IN_ISFPCLASS, 2 },
};

/* Intrinsics that do nothing a run can see. */
static bool is_silent(const char *name)
{
	static const char *const silent[] = {
		"dbg.",		  "lifetime.",	"assume",     "experimental.noalias",
		"donothing",	  "prefetch",	"invariant.", "va_end",
		"var.annotation", "sideeffect", "pseudoprobe"
	};

	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		if (!strncmp(name, silent[i], strlen(silent[i])))
			return true;
	return false;
}

static void result_is(struct lower *l, LLVMValueRef i, int32_t r)
{
	int32_t d = reg_of(l, i);

	for (uint32_t k = 0; k < type_regs(l->ir, LLVMTypeOf(i)); k++)
		emit_mov(l, d + (int32_t)k, r + (int32_t)k);
}

/* Intrinsics whose result is their first operand: hints for the optimiser, and addresses that need
 * no work here. */
static bool forwards_operand(const char *name)
{
	static const char *const names[] = {
		"expect",     "launder",	"strip.inv",	      "ssa.copy",
		"annotation", "ptr.annotation", "threadlocal.address"
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* d = code(first operand, second operand) */
static struct op *emit_binary(struct lower *l, enum opcode code, int32_t d, LLVMValueRef i)
{
	int32_t a = reg_of(l, LLVMGetOperand(i, 0)), b = reg_of(l, LLVMGetOperand(i, 1));
	struct op *o = emit(l, code);

	o->d = d;
	o->a = a;
	o->b = b;
	return o;
}

/* A table of 32-bit differences of addresses: load one, then undo the difference. */
static void load_relative(struct lower *l, LLVMValueRef i)
{
	int32_t d = reg_of(l, i), t = new_regs(l, 1);
	struct op *o = emit_binary(l, OP_LOADX32, t, i);

	o->imm = 1; /* scale */
	o->w = 32;
	o = emit(l, OP_RELATIVE);
	o->d = d;
	o->a = t;
}

/* lrint: round, then convert. */
static void round_to_integer(struct lower *l, LLVMValueRef i)
{
	int32_t d = reg_of(l, i), t = new_regs(l, 1), a = reg_of(l, LLVMGetOperand(i, 0));
	uint8_t w = (uint8_t)bits_of(LLVMTypeOf(LLVMGetOperand(i, 0)));
	struct op *o = emit(l, OP_FMATH);

	o->d = t;
	o->a = o->b = a;
	o->imm = (uint32_t)a;
	o->aux = FM_RINT;
	o->w = w;
	o = emit(l, OP_FPTOSI);
	o->d = d;
	o->a = t;
	o->w = w;
	o->aux = 64;
}

/* Stack pointers and variable arguments. */
static bool stack_intrinsic(struct lower *l, LLVMValueRef i, const char *name)
{
	struct op *o;
	int32_t r;

	if (!strncmp(name, "stacksave", 9)) {
		r = reg_of(l, i);
		emit(l, OP_STACKSAVE)->d = r;
	} else if (!strncmp(name, "stackrestore", 12)) {
		r = reg_of(l, LLVMGetOperand(i, 0));
		emit(l, OP_STACKRESTORE)->a = r;
	} else if (!strncmp(name, "va_start", 8)) {
		r = reg_of(l, LLVMGetOperand(i, 0));
		o = emit(l, OP_VASTART);
		o->a = r;
		o->b = l->rest;
	} else if (!strncmp(name, "va_copy", 7)) {
		int32_t d = reg_of(l, LLVMGetOperand(i, 0)), a = reg_of(l, LLVMGetOperand(i, 1)),
			n = const_reg(l, 24);

		o = emit(l, OP_MEMCPY);
		o->d = d;
		o->a = a;
		o->b = n;
	} else if (!strncmp(name, "returnaddress", 13) || !strncmp(name, "frameaddress", 12)) {
		emit_unsupported(l, "the address of a stack frame or of the calling code");
	} else {
		return false;
	}
	return true;
}

static bool other_intrinsic(struct lower *l, LLVMValueRef i, const char *name)
{
	if (forwards_operand(name)) {
		result_is(l, i, reg_of(l, LLVMGetOperand(i, 0)));
	} else if (!strncmp(name, "ptrmask", 7)) {
		emit_binary(l, OP_AND, reg_of(l, i), i)->w = 64;
	} else if (!strncmp(name, "objectsize", 10)) { /* -1 or 0: "unknown" */
		uint64_t min = LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1));

		result_is(l, i, const_reg(l, min ? 0 : ~0ull >> (64 - bits_of(LLVMTypeOf(i)))));
	} else if (!strncmp(name, "eh.typeid.for", 13)) {
		const char *why;
		uint64_t type;

		if (!const_u64(l->ir, LLVMGetOperand(i, 0), &type, &why))
			return false;
		result_is(l, i, const_reg(l, ir_type_number(l->ir, type)));
	} else if (!strncmp(name, "is.constant", 11)) {
		result_is(l, i, const_reg(l, 0));
	} else if (!strncmp(name, "trap", 4) || !strncmp(name, "ubsantrap", 9) ||
		   !strncmp(name, "debugtrap", 9)) {
		emit(l, OP_BUILTIN)->b = BI_ABORT;
	} else if (!strncmp(name, "load.relative.", 14)) {
		load_relative(l, i);
	} else if (!strncmp(name, "vector.reduce.", 14)) {
		return reduce(l, i, name + 14);
	} else if (!strncmp(name, "lrint.", 6) || !strncmp(name, "llrint.", 7)) {
		round_to_integer(l, i);
	} else {
		return stack_intrinsic(l, i, name);
	}
	return true;
}

static void lower_intrinsic(struct lower *l, LLVMValueRef i, const char *full)
{
	const char *name = full + 5, *dot;
	int which;

	if (is_silent(name))
		return;
	if (!strncmp(name, "memcpy.", 7)) {
		memory_call(l, i, OP_MEMCPY);
		return;
	}
	if (!strncmp(name, "memmove.", 8)) {
		memory_call(l, i, OP_MEMMOVE);
		return;
	}
	if (!strncmp(name, "memset.", 7)) {
		memory_call(l, i, OP_MEMSET);
		return;
	}
	for (size_t k = 0; k < ARRAY_SIZE(intrinsics); k++) {
		if (strncmp(name, intrinsics[k].name, strlen(intrinsics[k].name)))
			continue;
		intrin(l, i, intrinsics[k].code, intrinsics[k].which, intrinsics[k].nargs);
		return;
	}
	dot = strchr(name, '.');
	which = dot ? find_fmath(name, (size_t)(dot - name)) : -1;
	if (which >= 0) {
		fmath(l, i, (enum fmath)which, LLVMGetNumArgOperands(i));
		return;
	}
	if (!other_intrinsic(l, i, name))
		emit_unsupported(l, "the LLVM intrinsic %s", full);
}

/* --- inline assembly --- */

static void lower_asm(struct lower *l, LLVMValueRef i, LLVMValueRef callee)
{
	size_t len, clen;
	const char *text = LLVMGetInlineAsmAsmString(callee, &len);
	const char *constraints = LLVMGetInlineAsmConstraintString(callee, &clen);
	bool is_void = LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVoidTypeKind;
	struct op *o;

	if (!len && is_void) {
		emit(l, OP_FENCE);
	} else if (!len && clen >= 4 && !strncmp(constraints, "=r,0", 4)) {
		result_is(l, i, reg_of(l, LLVMGetOperand(i, 0)));
	} else if (is_void && (!strcmp(text, "pause") || !strcmp(text, "rep; nop") ||
			       !strcmp(text, "rep;nop"))) {
		int32_t d = new_regs(l, 1);

		o = emit(l, OP_BUILTIN);
		o->d = d;
		o->b = BI_YIELD;
	} else if (is_void && (!strcmp(text, "mfence") || !strcmp(text, "lfence") ||
			       !strcmp(text, "sfence") || !strcmp(text, "nop"))) {
		emit(l, OP_FENCE);
	} else {
		emit_unsupported(l,
				 "inline assembly \"%.*s\"; compile the portable C version of this "
				 "code, or exclude it",
				 (int)MIN(len, 60), text);
	}
}

/* --- calls --- */

/* Store the arguments from `first` on into a fresh object; returns the register of its address. */
static int32_t pack_rest(struct lower *l, LLVMValueRef i, unsigned first, unsigned n, int32_t *save)
{
	unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
	int32_t area = new_regs(l, 1);
	uint64_t at = 0;
	size_t alloca_at;
	struct op *o;

	*save = new_regs(l, 1);
	emit(l, OP_STACKSAVE)->d = *save;
	alloca_at = l->ops.len;
	emit(l, OP_ALLOCA)->d = area;
	for (unsigned k = first; k < n; k++) {
		LLVMValueRef v = LLVMGetOperand(i, k);
		LLVMAttributeRef a = LLVMGetCallSiteEnumAttribute(i, k + 1, byval);
		LLVMTypeRef type = LLVMTypeOf(v);
		int32_t r = reg_of(l, v), t = new_regs(l, 1), c;

		if (LLVMGetTypeKind(type) == LLVMX86_FP80TypeKind)
			at = (at + 15) & ~15ull;
		c = const_reg(l, at);
		o = emit(l, OP_ADD64);
		o->d = t;
		o->a = area;
		o->b = c;
		o->w = 64;
		if (a) {
			uint64_t size = type_size(l->ir, LLVMGetTypeAttributeValue(a));
			int32_t len = const_reg(l, size);

			o = emit(l, OP_MEMCPY);
			o->d = t;
			o->a = r;
			o->b = len;
			at += (size + 7) & ~7ull;
		} else {
			emit_store(l, type, r, t);
			at += (type_size(l->ir, type) + 7) & ~7ull;
		}
	}
	l->ops.data[alloca_at].imm = at;
	return area;
}

/* lrintf, sqrt, ... declared but not defined by program or models: run natively on concrete values.
 */
static bool math_call(struct lower *l, LLVMValueRef i, const char *name)
{
	size_t n = strlen(name);
	LLVMTypeRef type = LLVMTypeOf(i);
	int which;

	if (LLVMGetTypeKind(type) == LLVMFloatTypeKind && n > 1 && name[n - 1] == 'f')
		n--;
	else if (LLVMGetTypeKind(type) != LLVMDoubleTypeKind)
		return false;
	which = find_fmath(name, n);
	if (which < 0 || LLVMGetNumArgOperands(i) < 1)
		return false;
	fmath(l, i, (enum fmath)which, LLVMGetNumArgOperands(i));
	return true;
}

void lower_call(struct lower *l, LLVMValueRef i)
{
	LLVMValueRef callee = LLVMGetCalledValue(i);
	LLVMTypeRef type = LLVMGetCalledFunctionType(i);
	unsigned n = LLVMGetNumArgOperands(i), fixed = LLVMCountParamTypes(type);
	struct function *f;
	VEC(int32_t) regs = { 0 };
	int32_t d, save = 0, target = 0;
	bool rest;
	int builtin = -1;
	struct op *o;

	if (LLVMIsAInlineAsm(callee)) {
		lower_asm(l, i, callee);
		return;
	}
	if (LLVMIsAGlobalAlias(callee))
		callee = LLVMAliasGetAliasee(callee);
	f = LLVMIsAFunction(callee) ? ir_function_of(l->ir, callee) : NULL;
	if (f && !strncmp(f->name, "llvm.", 5)) {
		lower_intrinsic(l, i, f->name);
		return;
	}
	if (f && f->declared_only) {
		builtin = ir_builtin(f->name);
		if (builtin < 0 && math_call(l, i, f->name))
			return;
	}
	rest = LLVMIsFunctionVarArg(type) && builtin < 0 &&
	       !(f && !f->variadic && !f->declared_only);
	for (unsigned k = 0; k < n; k++) {
		LLVMValueRef v = LLVMGetOperand(i, k);
		int32_t r;

		if (rest && k >= fixed &&
		    LLVMGetCallSiteEnumAttribute(i, k + 1,
						 LLVMGetEnumAttributeKindForName("byval", 5)))
			continue;
		r = reg_of(l, v);
		for (uint32_t j = 0; j < type_regs(l->ir, LLVMTypeOf(v)); j++)
			vec_push(&regs, r + (int32_t)j);
	}
	if (rest) {
		int32_t area = pack_rest(l, i, fixed, n, &save);

		vec_push(&regs, area);
	}
	if (!f)
		target = reg_of(l, callee);
	d = LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVoidTypeKind ? 0 : reg_of(l, i);
	o = emit(l, builtin >= 0 ? OP_BUILTIN : f ? OP_CALL : OP_CALLI);
	o->d = d;
	o->a = target;
	o->b = builtin >= 0 ? builtin : f ? (int32_t)f->index : 0;
	o->aux = rest;
	o->w = (uint8_t)type_regs(l->ir, LLVMTypeOf(i)); /* registers of the result */
	push_arg_list(l, o, regs.data, (uint32_t)regs.len);
	if (rest)
		emit(l, OP_STACKRESTORE)->a = save;
	vec_deinit(&regs);
}
