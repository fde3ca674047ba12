/* sym/ir/memory.c - translate what touches memory: addresses, loads and stores, atomics, allocas.
 *
 * Address arithmetic (getelementptr) that only loads and stores use becomes part of them: base plus
 * index times scale plus offset. */
#include "sym/ir/lower.h"

#include <string.h>

/* An address as base + index * scale + offset. */
struct address {
	int32_t base, index;
	bool has_index;
	int64_t scale, offset;
};

/* Add GEP `g` to the address; false when it needs a second index or does not fit. */
static bool fold_gep(struct lower *l, LLVMValueRef g, struct address *ad)
{
	LLVMTypeRef type = LLVMGetGEPSourceElementType(g);
	unsigned n = (unsigned)LLVMGetNumOperands(g);
	struct address t = *ad;

	for (unsigned i = 1; i < n; i++) {
		LLVMValueRef v = LLVMGetOperand(g, i);
		int64_t size;

		if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
			unsigned field = (unsigned)LLVMConstIntGetZExtValue(v);

			t.offset += (int64_t)LLVMOffsetOfElement(l->ir->layout, type, field);
			type = LLVMStructGetTypeAtIndex(type, field);
			continue;
		}
		if (i > 1)
			type = LLVMGetElementType(type);
		size = (int64_t)type_size(l->ir, type);
		if (LLVMIsAConstantInt(v)) {
			t.offset += LLVMConstIntGetSExtValue(v) * size;
		} else if (t.has_index || bits_of(LLVMTypeOf(v)) != 64 || LLVMIsConstant(v)) {
			return false;
		} else {
			t.has_index = true;
			t.scale = size;
			t.index = reg_of(l, v);
		}
	}
	if (t.offset != (int32_t)t.offset || t.scale != (int32_t)t.scale)
		return false;
	*ad = t;
	return true;
}

static struct address address_of(struct lower *l, LLVMValueRef v)
{
	struct address ad = { 0 };

	while (LLVMIsAGetElementPtrInst(v) && !is_vector(v) && fold_gep(l, v, &ad))
		v = LLVMGetOperand(v, 0);
	ad.base = reg_of(l, v);
	return ad;
}

static uint64_t address_imm(const struct address *ad)
{
	return (uint32_t)(int32_t)ad->scale | (uint64_t)(uint32_t)(int32_t)ad->offset << 32;
}

static enum opcode sized(enum opcode op8, unsigned w)
{
	return w == 8 ? op8 : w == 16 ? op8 + 1 : w == 32 ? op8 + 2 : op8 + 3;
}

/* One part to or from memory; reg is the destination or the value. */
static void emit_part(struct lower *l, bool store, const struct part *p, int32_t reg,
		      const struct address *ad)
{
	bool plain = p->w == 8 || p->w == 16 || p->w == 32 || p->w == 64;
	struct address at = *ad;
	struct op *o;

	at.offset += (int64_t)p->offset;
	if (plain && at.has_index && at.offset == (int32_t)at.offset) {
		o = emit(l, sized(store ? OP_STOREX8 : OP_LOADX8, p->w));
		o->b = at.index;
		o->imm = address_imm(&at);
	} else {
		if (at.has_index) { /* odd width: compute the address first */
			int32_t t = new_regs(l, 1);

			o = emit(l, OP_GEP);
			o->d = t;
			o->a = at.base;
			o->b = at.index;
			o->imm = address_imm(ad);
			at = (struct address){ .base = t, .offset = (int64_t)p->offset };
		}
		o = emit(l, plain   ? sized(store ? OP_STORE8 : OP_LOAD8, p->w)
			    : store ? OP_STOREN
				    : OP_LOADN);
		o->imm = (uint64_t)at.offset;
	}
	o->d = reg;
	o->a = at.base;
	o->w = p->w;
	o->aux = (uint8_t)((p->w + 7) / 8);
}

static void emit_access(struct lower *l, bool store, LLVMTypeRef type, int32_t reg,
			const struct address *ad)
{
	struct parts parts = { 0 };

	if (!type_parts(l->ir, type, 0, &parts) ||
	    (LLVMGetTypeKind(type) == LLVMVectorTypeKind && parts.data[0].w % 8)) {
		char *text = LLVMPrintTypeToString(type);

		emit_unsupported(l, "memory access of type %s", text);
		LLVMDisposeMessage(text);
	} else {
		for (size_t i = 0; i < parts.len; i++)
			emit_part(l, store, &parts.data[i], reg + (int32_t)i, ad);
	}
	vec_deinit(&parts);
}

void emit_load(struct lower *l, LLVMTypeRef type, int32_t d, int32_t a)
{
	emit_access(l, false, type, d, &(struct address){ .base = a });
}

void emit_store(struct lower *l, LLVMTypeRef type, int32_t value, int32_t a)
{
	emit_access(l, true, type, value, &(struct address){ .base = a });
}

static void lower_gep(struct lower *l, LLVMValueRef i)
{
	LLVMTypeRef type = LLVMGetGEPSourceElementType(i);
	unsigned n = (unsigned)LLVMGetNumOperands(i);
	struct address ad = { 0 };
	int32_t d = reg_of(l, i), cur;
	struct op *o;

	if (is_vector(i)) {
		emit_unsupported(l, "address arithmetic on vectors (compile with -fno-vectorize)");
		return;
	}
	if (fold_gep(l, i, &ad)) {
		ad.base = reg_of(l, LLVMGetOperand(i, 0));
		o = emit(l, ad.has_index ? OP_GEP : OP_ADD64);
		o->d = d;
		o->a = ad.base;
		o->w = 64;
		if (ad.has_index) {
			o->b = ad.index;
			o->imm = address_imm(&ad);
		} else {
			size_t at = l->ops.len - 1;
			int32_t c = const_reg(l, (uint64_t)ad.offset);

			l->ops.data[at].b = c;
		}
		return;
	}
	/* several indices, or narrow ones: one step each */
	cur = reg_of(l, LLVMGetOperand(i, 0));
	for (unsigned k = 1; k < n; k++) {
		LLVMValueRef v = LLVMGetOperand(i, k);
		int32_t index, t;
		uint64_t size;

		if (k > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
			unsigned field = (unsigned)LLVMConstIntGetZExtValue(v);

			size = LLVMOffsetOfElement(l->ir->layout, type, field);
			type = LLVMStructGetTypeAtIndex(type, field);
			index = const_reg(l, size);
			size = 1;
		} else {
			if (k > 1)
				type = LLVMGetElementType(type);
			size = type_size(l->ir, type);
			index = reg_of(l, v);
			if (bits_of(LLVMTypeOf(v)) < 64) {
				t = new_regs(l, 1);
				o = emit(l, OP_SEXT);
				o->d = t;
				o->a = index;
				o->w = (uint8_t)bits_of(LLVMTypeOf(v));
				o->aux = 64;
				index = t;
			}
		}
		if (size != 1) {
			int32_t c = const_reg(l, size);

			t = new_regs(l, 1);
			o = emit(l, OP_MUL64);
			o->d = t;
			o->a = index;
			o->b = c;
			o->w = 64;
			index = t;
		}
		t = k + 1 == n ? d : new_regs(l, 1);
		o = emit(l, OP_ADD64);
		o->d = t;
		o->a = cur;
		o->b = index;
		o->w = 64;
		cur = t;
	}
}

/* Is every user of this address a load or a store that takes it in? */
static bool only_addresses(LLVMValueRef g)
{
	for (LLVMUseRef u = LLVMGetFirstUse(g); u; u = LLVMGetNextUse(u)) {
		LLVMValueRef user = LLVMGetUser(u);

		if (LLVMIsALoadInst(user))
			continue;
		if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != g)
			continue;
		return false;
	}
	return true;
}

void lower_alloca(struct lower *l, LLVMValueRef i)
{
	LLVMValueRef count = LLVMGetOperand(i, 0);
	uint64_t size = type_size(l->ir, LLVMGetAllocatedType(i));
	int32_t d = reg_of(l, i), a = 0;
	bool fixed = LLVMIsAConstantInt(count);
	struct op *o;

	if (locals_has(l, i)) {
		emit_mov(l, d, const_reg(l, 0));
		return;
	}
	if (!fixed)
		a = reg_of(l, count);
	o = emit(l, fixed ? OP_ALLOCA : OP_ALLOCAV);
	o->d = d;
	o->a = a;
	o->imm = fixed ? size * LLVMConstIntGetZExtValue(count) : size;
}

void lower_cmpxchg(struct lower *l, LLVMValueRef i)
{
	LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(i, 1));
	int32_t d = reg_of(l, i), a = reg_of(l, LLVMGetOperand(i, 0)),
		want = reg_of(l, LLVMGetOperand(i, 1)), with = reg_of(l, LLVMGetOperand(i, 2));
	struct op *o;

	if (bits_of(type) > 64) {
		emit_unsupported(l, "compare-and-exchange of %u bits", bits_of(type));
		return;
	}
	o = emit(l, OP_CMPXCHG);
	o->d = d;
	o->a = a;
	o->b = want;
	o->imm = (uint32_t)with;
	o->w = (uint8_t)bits_of(type);
}

void lower_rmw(struct lower *l, LLVMValueRef i)
{
	LLVMTypeRef type = LLVMTypeOf(i);
	LLVMAtomicRMWBinOp how = LLVMGetAtomicRMWBinOp(i);
	int32_t d = reg_of(l, i), a = reg_of(l, LLVMGetOperand(i, 0)),
		b = reg_of(l, LLVMGetOperand(i, 1));
	struct op *o;

	if (bits_of(type) > 64 || how > LLVMAtomicRMWBinOpFMin) {
		emit_unsupported(l, "this atomic operation");
		return;
	}
	o = emit(l, OP_RMW);
	o->d = d;
	o->a = a;
	o->b = b;
	o->w = (uint8_t)bits_of(type);
	o->aux = (uint8_t)how;
}

void lower_load(struct lower *l, LLVMValueRef i)
{
	struct address ad;

	if (locals_has(l, LLVMGetOperand(i, 0))) {
		emit_mov(l, reg_of(l, i), reg_of(l, LLVMGetOperand(i, 0)));
		return;
	}
	ad = address_of(l, LLVMGetOperand(i, 0));
	emit_access(l, false, LLVMTypeOf(i), reg_of(l, i), &ad);
}

void lower_store(struct lower *l, LLVMValueRef i)
{
	LLVMValueRef value = LLVMGetOperand(i, 0);
	int32_t r = reg_of(l, value);
	struct address ad;

	if (locals_has(l, LLVMGetOperand(i, 1))) {
		emit_mov(l, reg_of(l, LLVMGetOperand(i, 1)), r);
		return;
	}
	ad = address_of(l, LLVMGetOperand(i, 1));
	emit_access(l, true, LLVMTypeOf(value), r, &ad);
}

/* Nothing is left to do when all its users fold it. */
void lower_address(struct lower *l, LLVMValueRef i)
{
	if (!only_addresses(i) || is_vector(i) || !fold_gep(l, i, &(struct address){ 0 }))
		lower_gep(l, i);
}
