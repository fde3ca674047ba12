/* sym/ir/lower.h - private to ir*.c: one function on its way from LLVM to operations. */
#ifndef SYM_IR_LOWER_H
#define SYM_IR_LOWER_H

#include "sym/ir/llvm.h"

struct fixup {
	uint32_t op;
	uint8_t part; /* 0: low half of imm, 1: high half, 2: entry `index` of a switch table */
	uint32_t index;
	LLVMBasicBlockRef from, to;
};

struct lower {
	struct ir *ir;
	struct function *f;
	VEC(struct op) ops;
	VEC(struct op_src) src;
	VEC(uint64_t) consts; /* register -1 - i */
	struct map const_regs, value_regs, block_starts;
	struct map locals; /* allocas that are registers: the one that would hold the address */
	VEC(struct fixup) fixups;
	VEC(struct unwind) unwinds;
	struct op_src at; /* where the instruction being lowered came from */
	int32_t nregs;
	uint32_t block_op; /* first operation of the current block */
	int32_t rest;	   /* variadic: the register that holds the address of the rest */
};

struct op *emit(struct lower *l, enum opcode code);
/* An operation that stops the run with this message; the text is copied. */
void emit_unsupported(struct lower *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void emit_mov(struct lower *l, int32_t d, int32_t a);
int32_t new_regs(struct lower *l, uint32_t n);
int32_t const_reg(struct lower *l, uint64_t value);
/* The first register of an operand or of an instruction's result. */
int32_t reg_of(struct lower *l, LLVMValueRef v);
/* d.. = [address in a] and back, part by part. */
void emit_load(struct lower *l, LLVMTypeRef type, int32_t d, int32_t a);
void emit_store(struct lower *l, LLVMTypeRef type, int32_t value, int32_t a);

/* Which local variables of the function become registers (locals.c), and whether this is one. */
void locals_find(struct lower *l, LLVMValueRef fn);
bool locals_has(struct lower *l, LLVMValueRef address);

void lower_load(struct lower *l, LLVMValueRef i);
void lower_store(struct lower *l, LLVMValueRef i);
void lower_address(struct lower *l, LLVMValueRef i);
void lower_alloca(struct lower *l, LLVMValueRef i);
void lower_cmpxchg(struct lower *l, LLVMValueRef i);
void lower_rmw(struct lower *l, LLVMValueRef i);
void lower_aggregate(struct lower *l, LLVMValueRef i, bool insert);
void lower_element(struct lower *l, LLVMValueRef i, bool insert);
void lower_shuffle(struct lower *l, LLVMValueRef i);
void lower_select(struct lower *l, LLVMValueRef i);
void lower_arith(struct lower *l, LLVMValueRef i);
void lower_cast(struct lower *l, LLVMValueRef i);
void lower_icmp(struct lower *l, LLVMValueRef i);
void lower_fcmp(struct lower *l, LLVMValueRef i);
void lower_call(struct lower *l, LLVMValueRef i);
void lower_branch(struct lower *l, LLVMValueRef i);
void lower_switch(struct lower *l, LLVMValueRef i);
void lower_indirect(struct lower *l, LLVMValueRef i);
void lower_ret(struct lower *l, LLVMValueRef i);
void lower_invoke(struct lower *l, LLVMValueRef i);
void lower_landing(struct lower *l, LLVMValueRef i);
void lower_resume(struct lower *l, LLVMValueRef i);
/* The moves of an edge, then the jump. Returns the first operation, or UINT32_MAX when the edge
 * needs no moves and the branch can go straight to the block (never when `always`). */
uint32_t emit_edge(struct lower *l, LLVMBasicBlockRef from, LLVMBasicBlockRef to, bool always);
/* A comparison that only the branch at the end of its own block uses: part of that branch. */
bool fuses(LLVMValueRef cmp);

static inline bool is_vector(LLVMValueRef v)
{
	return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind;
}
static inline LLVMTypeRef scalar_type(LLVMTypeRef t)
{
	return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
}
static inline unsigned lanes(LLVMTypeRef t)
{
	return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetVectorSize(t) : 1;
}
/* Bits of a scalar type; pointers have 64. */
static inline unsigned bits_of(LLVMTypeRef t)
{
	switch (LLVMGetTypeKind(t)) {
	case LLVMIntegerTypeKind:
		return LLVMGetIntTypeWidth(t);
	case LLVMFloatTypeKind:
		return 32;
	case LLVMX86_FP80TypeKind:
		return 80;
	default:
		return 64;
	}
}

#endif
