/* sym/ir/func.c - translate one function's body into operations.
 *
 * Every SSA value gets registers of its own, one per part of its type; constants get negative
 * registers, which a call copies in front of the frame. Three things make the result fast enough
 * to interpret: a comparison used only by the branch behind it becomes one operation with it;
 * address arithmetic used by a load or store becomes part of it; and the moves of phi nodes stand
 * on the edges, the last of them jumping too. Folding addresses is safe because an operand's
 * definition dominates the address's, so it cannot have run again without the address having been
 * computed again as well.
 *
 * What cannot be translated becomes OP_UNSUPPORTED: the run stops there, and only there. */
#include "sym/ir/lower.h"

#include <llvm-c/DebugInfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct op *emit(struct lower *l, enum opcode code)
{
	vec_push(&l->ops, ((struct op){ .code = (uint16_t)code }));
	vec_push(&l->src, l->at);
	return vec_last(&l->ops);
}

void emit_unsupported(struct lower *l, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	vec_push(&l->ir->messages,
		 arena_printf(&l->ir->arena, "%s%s", text,
			      strstr(text, "compile")
				      ? ""
				      : "; compile the portable C version of this code, "
					"or exclude it"));
	free(text);
	emit(l, OP_UNSUPPORTED)->imm = l->ir->messages.len - 1;
}

void emit_mov(struct lower *l, int32_t d, int32_t a)
{
	struct op *o;

	if (d == a)
		return;
	o = emit(l, OP_MOV);
	o->d = d;
	o->a = a;
}

int32_t new_regs(struct lower *l, uint32_t n)
{
	int32_t r = l->nregs;

	l->nregs += (int32_t)n;
	return r;
}

int32_t const_reg(struct lower *l, uint64_t value)
{
	uint64_t *slot = map_put(&l->const_regs, value, UINT64_MAX);

	if (*slot == UINT64_MAX) {
		*slot = l->consts.len;
		vec_push(&l->consts, value);
	}
	return -1 - (int32_t)*slot;
}

/* A constant of several parts: fresh registers next to each other. */
static int32_t const_regs(struct lower *l, LLVMValueRef c)
{
	struct parts parts = { 0 };
	LLVMTypeRef type = LLVMTypeOf(c);
	const char *why = "a constant of a type the machine does not know";
	uint8_t *bytes = xcalloc(1, type_size(l->ir, type) + 16);
	size_t base = l->consts.len;
	int32_t r = 0;

	if (!type_parts(l->ir, type, 0, &parts) || !const_bytes(l->ir, c, bytes, &why)) {
		emit_unsupported(l, "%s", why);
		r = const_reg(l, 0);
	} else {
		for (size_t i = parts.len; i-- > 0;) {
			struct part *p = &parts.data[i];
			uint64_t v = 0;

			if (LLVMGetTypeKind(type) == LLVMVectorTypeKind && p->w % 8)
				v = LLVMConstIntGetZExtValue(
					LLVMGetAggregateElement(c, (unsigned)i));
			else
				memcpy(&v, bytes + p->offset, (p->w + 7u) / 8);
			vec_push(&l->consts, v);
		}
		r = -(int32_t)(base + parts.len);
	}
	vec_deinit(&parts);
	free(bytes);
	return r;
}

static int32_t const_operand(struct lower *l, LLVMValueRef v)
{
	const char *why = NULL;
	uint64_t value;
	struct op *o;

	if (LLVMIsAGlobalVariable(v) && LLVMIsThreadLocal(v)) {
		int32_t d = new_regs(l, 1);

		o = emit(l, OP_TLS);
		o->d = d;
		o->imm = l->ir->globals.data[*map_find(&l->ir->by_llvm, (uintptr_t)v)].tls_index;
		return d;
	}
	if (type_regs(l->ir, LLVMTypeOf(v)) != 1 ||
	    LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMStructTypeKind ||
	    LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMArrayTypeKind ||
	    LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind)
		return const_regs(l, v);
	if (!const_u64(l->ir, v, &value, &why)) {
		emit_unsupported(l, "%s", why);
		value = 0;
	}
	return const_reg(l, value);
}

int32_t reg_of(struct lower *l, LLVMValueRef v)
{
	uint64_t *slot;

	if (LLVMIsConstant(v))
		return const_operand(l, v);
	slot = map_put(&l->value_regs, (uintptr_t)v, UINT64_MAX);
	if (*slot == UINT64_MAX)
		*slot = (uint64_t)new_regs(l, type_regs(l->ir, LLVMTypeOf(v)));
	return (int32_t)*slot;
}

int32_t block_count(struct lower *l)
{
	return (int32_t)(l->ops.len - l->block_op) + 1;
}

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

static void lower_alloca(struct lower *l, LLVMValueRef i)
{
	LLVMValueRef count = LLVMGetOperand(i, 0);
	uint64_t size = type_size(l->ir, LLVMGetAllocatedType(i));
	int32_t d = reg_of(l, i), a = 0;
	bool fixed = LLVMIsAConstantInt(count);
	struct op *o;

	if (!fixed)
		a = reg_of(l, count);
	o = emit(l, fixed ? OP_ALLOCA : OP_ALLOCAV);
	o->d = d;
	o->a = a;
	o->imm = fixed ? size * LLVMConstIntGetZExtValue(count) : size;
}

static void lower_cmpxchg(struct lower *l, LLVMValueRef i)
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

static void lower_rmw(struct lower *l, LLVMValueRef i)
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

static void lower_aggregate(struct lower *l, LLVMValueRef i, bool insert)
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

static void lower_element(struct lower *l, LLVMValueRef i, bool insert)
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

static void lower_shuffle(struct lower *l, LLVMValueRef i)
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

static void lower_select(struct lower *l, LLVMValueRef i)
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

static void lower_instruction(struct lower *l, LLVMValueRef i)
{
	struct address ad;
	int32_t r;

	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMRet:
		lower_ret(l, i);
		return;
	case LLVMBr:
		lower_branch(l, i);
		return;
	case LLVMSwitch:
		lower_switch(l, i);
		return;
	case LLVMIndirectBr:
		lower_indirect(l, i);
		return;
	case LLVMUnreachable:
		emit(l, OP_UNREACHABLE);
		return;
	case LLVMInvoke:
		lower_invoke(l, i);
		return;
	case LLVMCall:
		lower_call(l, i);
		return;
	case LLVMPHI:
		return; /* on the edges */
	case LLVMAlloca:
		lower_alloca(l, i);
		return;
	case LLVMLoad:
		ad = address_of(l, LLVMGetOperand(i, 0));
		emit_access(l, false, LLVMTypeOf(i), reg_of(l, i), &ad);
		return;
	case LLVMStore:
		r = reg_of(l, LLVMGetOperand(i, 0));
		ad = address_of(l, LLVMGetOperand(i, 1));
		emit_access(l, true, LLVMTypeOf(LLVMGetOperand(i, 0)), r, &ad);
		return;
	case LLVMGetElementPtr:
		if (!only_addresses(i) || is_vector(i) || !fold_gep(l, i, &(struct address){ 0 }))
			lower_gep(l, i);
		return;
	case LLVMICmp:
		if (!fuses(i))
			lower_icmp(l, i);
		return;
	case LLVMFCmp:
		lower_fcmp(l, i);
		return;
	case LLVMSelect:
		lower_select(l, i);
		return;
	case LLVMExtractValue:
		lower_aggregate(l, i, false);
		return;
	case LLVMInsertValue:
		lower_aggregate(l, i, true);
		return;
	case LLVMExtractElement:
		lower_element(l, i, false);
		return;
	case LLVMInsertElement:
		lower_element(l, i, true);
		return;
	case LLVMShuffleVector:
		lower_shuffle(l, i);
		return;
	case LLVMFence:
		emit(l, OP_FENCE);
		return;
	case LLVMAtomicCmpXchg:
		lower_cmpxchg(l, i);
		return;
	case LLVMAtomicRMW:
		lower_rmw(l, i);
		return;
	case LLVMFreeze: {
		int32_t d = reg_of(l, i), a = reg_of(l, LLVMGetOperand(i, 0));

		for (uint32_t k = 0; k < type_regs(l->ir, LLVMTypeOf(i)); k++)
			emit_mov(l, d + (int32_t)k, a + (int32_t)k);
		return;
	}
	case LLVMLandingPad:
		lower_landing(l, i);
		return;
	case LLVMResume:
		lower_resume(l, i);
		return;
	case LLVMCleanupPad:
	case LLVMCatchPad:
	case LLVMCatchSwitch:
		emit_unsupported(l, "exceptions of another operating system");
		return;
	case LLVMVAArg:
		emit_unsupported(l, "the va_arg instruction");
		return;
	case LLVMCallBr:
		emit_unsupported(l, "asm goto");
		return;
	default:
		if (LLVMIsACastInst(i))
			lower_cast(l, i);
		else
			lower_arith(l, i);
	}
}

static void set_location(struct lower *l, LLVMValueRef i, uint32_t number)
{
	unsigned len = 0, line = LLVMGetDebugLocLine(i);
	const char *file = line ? LLVMGetDebugLocFilename(i, &len) : NULL;

	l->at.ir = number;
	if (!line || !file)
		return; /* keep the last known line: better than nothing */
	l->at.line = line;
	l->at.file = names_intern(&l->ir->files, file);
}

/* A parameter passed by value is a copy that the callee owns. */
static void lower_params(struct lower *l, LLVMValueRef fn)
{
	unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
	struct op *o;

	for (unsigned i = 0; i < LLVMCountParams(fn); i++)
		reg_of(l, LLVMGetParam(fn, i));
	if (l->f->variadic)
		l->rest = new_regs(l, 1);
	for (unsigned i = 0; i < LLVMCountParams(fn); i++) {
		LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(fn, i + 1, byval);
		int32_t r = reg_of(l, LLVMGetParam(fn, i)), t, n;
		uint64_t size;

		if (!a)
			continue;
		size = type_size(l->ir, LLVMGetTypeAttributeValue(a));
		t = new_regs(l, 1);
		n = const_reg(l, size);
		o = emit(l, OP_ALLOCA);
		o->d = t;
		o->imm = size;
		o = emit(l, OP_MEMCPY);
		o->d = t;
		o->a = r;
		o->b = n;
		emit_mov(l, r, t);
	}
}

static void patch(struct lower *l)
{
	for (size_t i = 0; i < l->fixups.len; i++) {
		struct fixup *fix = &l->fixups.data[i];
		uint64_t start = *map_find(&l->block_starts, (uintptr_t)fix->to);

		if (fix->part == 2)
			l->ir->tables.data[fix->op].targets[fix->index] = (uint32_t)start;
		else
			l->ops.data[fix->op].imm |= start << (32 * fix->part);
	}
}

static void finish(struct lower *l)
{
	struct function *f = l->f;
	struct arena *a = &l->ir->arena;

	f->nops = (uint32_t)l->ops.len;
	f->ops = arena_memdup(a, l->ops.data, l->ops.len * sizeof(struct op));
	f->src = arena_memdup(a, l->src.data, l->src.len * sizeof(struct op_src));
	f->covered = arena_alloc(a, l->ops.len + 1);
	f->nunwinds = (uint32_t)l->unwinds.len;
	f->unwinds = arena_memdup(a, l->unwinds.data, l->unwinds.len * sizeof(struct unwind));
	f->nregs = (uint32_t)l->nregs;
	f->nconst = (uint32_t)l->consts.len;
	f->consts = arena_array(a, uint64_t, l->consts.len + 1);
	for (size_t i = 0; i < l->consts.len; i++) /* register -1 is the last of them */
		f->consts[l->consts.len - 1 - i] = l->consts.data[i];
}

void ir_lower(struct ir *ir, struct function *f)
{
	struct lower l = {
		.ir = ir, .f = f, .at.file = NAMES_NONE, .at.ir = UINT32_MAX
	}; /* what comes before the first instruction */
	LLVMValueRef fn = f->llvm;
	LLVMMetadataRef sp = LLVMGetSubprogram(fn);
	uint32_t number = 0;

	if (f->lowered || f->declared_only)
		return;
	f->lowered = true;
	f->line = sp ? LLVMDISubprogramGetLine(sp) : 0;
	l.at.line = f->line;
	lower_params(&l, fn);
	for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb;
	     bb = LLVMGetNextBasicBlock(bb)) {
		map_put(&l.block_starts, (uintptr_t)bb, l.ops.len);
		l.block_op = (uint32_t)l.ops.len;
		for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i;
		     i = LLVMGetNextInstruction(i)) {
			set_location(&l, i, number++);
			lower_instruction(&l, i);
		}
	}
	patch(&l);
	finish(&l);
	vec_deinit(&l.ops);
	vec_deinit(&l.src);
	vec_deinit(&l.consts);
	vec_deinit(&l.fixups);
	vec_deinit(&l.unwinds);
	map_deinit(&l.const_regs);
	map_deinit(&l.value_regs);
	map_deinit(&l.block_starts);
	if (ir->on_lowered)
		ir->on_lowered(ir->on_lowered_arg, f);
}
