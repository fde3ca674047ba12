/* sym/ir/aggregate.c - translate operations on values of several parts: structures, arrays, vectors,
 * and selects, which choose between whole values. */
#include "sym/ir/lower.h"

#include <stdlib.h>

/* Registers before element `index` of an aggregate. */
static uint32_t regs_before(struct lower *l, LLVMTypeRef type, unsigned index, LLVMTypeRef *elem)
{
	uint32_t n = 0;

	if (LLVMGetTypeKind(type) != LLVMStructTypeKind) {
		*elem = LLVMGetElementType(type);
		return index * type_regs(l->ir, *elem);
	}
	for (unsigned i = 0; i < index; i++)
		n += type_regs(l->ir, LLVMStructGetTypeAtIndex(type, i));
	*elem = LLVMStructGetTypeAtIndex(type, index);
	return n;
}

void lower_aggregate(struct lower *l, LLVMValueRef i, bool insert)
{
	LLVMValueRef agg = LLVMGetOperand(i, 0);
	LLVMTypeRef type = LLVMTypeOf(agg);
	const unsigned *path = LLVMGetIndices(i);
	int32_t a = reg_of(l, agg), d = reg_of(l, i), at = 0;
	uint32_t n = type_regs(l->ir, type);

	for (unsigned k = 0; k < LLVMGetNumIndices(i); k++) {
		LLVMTypeRef elem;

		at += (int32_t)regs_before(l, type, path[k], &elem);
		type = elem;
	}
	if (insert) {
		int32_t v = reg_of(l, LLVMGetOperand(i, 1));

		for (uint32_t k = 0; k < n; k++)
			emit_mov(l, d + (int32_t)k, a + (int32_t)k);
		for (uint32_t k = 0; k < type_regs(l->ir, type); k++)
			emit_mov(l, d + at + (int32_t)k, v + (int32_t)k);
	} else {
		for (uint32_t k = 0; k < type_regs(l->ir, type); k++)
			emit_mov(l, d + (int32_t)k, a + at + (int32_t)k);
	}
}

static void emit_select(struct lower *l, int32_t d, int32_t c, int32_t yes, int32_t no, unsigned w)
{
	struct op *o = emit(l, OP_SELECT);

	o->d = d;
	o->a = c;
	o->b = yes;
	o->imm = (uint32_t)no;
	o->w = (uint8_t)w;
}

static int32_t emit_eq_const(struct lower *l, int32_t a, uint64_t v, unsigned w)
{
	int32_t t = new_regs(l, 1), c = const_reg(l, v);
	struct op *o = emit(l, OP_EQ);

	o->d = t;
	o->a = a;
	o->b = c;
	o->w = (uint8_t)w;
	return t;
}

static unsigned part_width(LLVMTypeRef t)
{
	return MIN(bits_of(t), 64u);
}

void lower_element(struct lower *l, LLVMValueRef i, bool insert)
{
	LLVMValueRef vec = LLVMGetOperand(i, 0), index = LLVMGetOperand(i, insert ? 2 : 1);
	LLVMTypeRef elem = LLVMGetElementType(LLVMTypeOf(vec));
	uint32_t k = type_regs(l->ir, elem), n = LLVMGetVectorSize(LLVMTypeOf(vec));
	int32_t a = reg_of(l, vec), d = reg_of(l, i);
	int32_t v = insert ? reg_of(l, LLVMGetOperand(i, 1)) : 0, x;

	if (LLVMIsAConstantInt(index)) {
		uint32_t at = (uint32_t)LLVMConstIntGetZExtValue(index) * k;

		for (uint32_t j = 0; insert && j < n * k; j++)
			emit_mov(l, d + (int32_t)j,
				 j >= at && j < at + k ? v + (int32_t)(j - at) : a + (int32_t)j);
		for (uint32_t j = 0; !insert && j < k; j++)
			emit_mov(l, d + (int32_t)j, a + (int32_t)(at + j));
		return;
	}
	x = reg_of(l, index);
	for (uint32_t e = 0; e < n; e++) {
		int32_t hit = emit_eq_const(l, x, e, bits_of(LLVMTypeOf(index)));

		for (uint32_t j = 0; j < k; j++) {
			int32_t own = a + (int32_t)(e * k + j);

			if (insert)
				emit_select(l, d + (int32_t)(e * k + j), hit, v + (int32_t)j, own,
					    part_width(elem));
			else if (e == 0)
				emit_mov(l, d + (int32_t)j, own);
			else
				emit_select(l, d + (int32_t)j, hit, own, d + (int32_t)j,
					    part_width(elem));
		}
	}
}

void lower_shuffle(struct lower *l, LLVMValueRef i)
{
	LLVMValueRef one = LLVMGetOperand(i, 0);
	unsigned n = LLVMGetNumMaskElements(i), len = LLVMGetVectorSize(LLVMTypeOf(one));
	uint32_t k = type_regs(l->ir, LLVMGetElementType(LLVMTypeOf(one)));
	int32_t d = reg_of(l, i), a = reg_of(l, one), b = reg_of(l, LLVMGetOperand(i, 1)),
		zero = const_reg(l, 0);

	for (unsigned e = 0; e < n; e++) {
		int m = LLVMGetMaskValue(i, e);

		for (uint32_t j = 0; j < k; j++)
			emit_mov(l, d + (int32_t)(e * k + j),
				 m < 0		? zero
				 : m < (int)len ? a + (int32_t)((uint32_t)m * k + j)
						: b + (int32_t)(((uint32_t)m - len) * k + j));
	}
}

void lower_select(struct lower *l, LLVMValueRef i)
{
	LLVMValueRef cond = LLVMGetOperand(i, 0);
	int32_t c = reg_of(l, cond), yes = reg_of(l, LLVMGetOperand(i, 1)),
		no = reg_of(l, LLVMGetOperand(i, 2)), d = reg_of(l, i);
	struct parts parts = { 0 };
	uint32_t per = 0;

	if (!type_parts(l->ir, LLVMTypeOf(i), 0, &parts))
		emit_unsupported(l, "select of an unknown type");
	if (is_vector(cond) && parts.len)
		per = (uint32_t)parts.len / LLVMGetVectorSize(LLVMTypeOf(cond));
	for (uint32_t k = 0; k < parts.len; k++)
		emit_select(l, d + (int32_t)k, per ? c + (int32_t)(k / per) : c, yes + (int32_t)k,
			    no + (int32_t)k, parts.data[k].w);
	vec_deinit(&parts);
}
