/* sym/ir/flow.c - lowering of control flow: branches, switches, and the moves of phi nodes, which
 * stand on the edges between blocks. */
#include "sym/ir/lower.h"

#include <stdlib.h>

static void target(struct lower *l, size_t op, uint8_t part, uint32_t index, LLVMBasicBlockRef from,
		   LLVMBasicBlockRef to)
{
	vec_push(&l->fixups, ((struct fixup){ (uint32_t)op, part, index, from, to }));
}

struct move {
	int32_t d, s;
};
struct moves VEC_FIELDS(struct move);

static void edge_moves(struct lower *l, LLVMBasicBlockRef from, LLVMBasicBlockRef to,
		       struct moves *out)
{
	for (LLVMValueRef phi = LLVMGetFirstInstruction(to); phi && LLVMIsAPHINode(phi);
	     phi = LLVMGetNextInstruction(phi)) {
		uint32_t n = type_regs(l->ir, LLVMTypeOf(phi));
		LLVMValueRef in = NULL;

		for (unsigned k = 0; k < LLVMCountIncoming(phi) && !in; k++)
			if (LLVMGetIncomingBlock(phi, k) == from)
				in = LLVMGetIncomingValue(phi, k);
		if (!in || LLVMIsUndef(in) || LLVMIsPoison(in))
			continue;
		for (uint32_t k = 0; k < n; k++) {
			struct move m = { reg_of(l, phi) + (int32_t)k, reg_of(l, in) + (int32_t)k };

			if (m.d != m.s)
				vec_push(out, m);
		}
	}
}

/* Put parallel moves into an order in which no source is overwritten too early. */
static void order_moves(struct lower *l, struct moves *in, struct moves *out)
{
	while (in->len) {
		bool progress = false;

		for (size_t i = 0; i < in->len; i++) {
			bool needed = false;

			for (size_t j = 0; j < in->len; j++)
				needed |= j != i && in->data[j].s == in->data[i].d;
			if (needed)
				continue;
			vec_push(out, in->data[i]);
			in->data[i--] = vec_pop(in);
			progress = true;
		}
		if (!progress) { /* a cycle: save one of its values */
			int32_t t = new_regs(l, 1);

			vec_push(out, ((struct move){ t, in->data[0].s }));
			in->data[0].s = t;
		}
	}
}

/* The moves of an edge, then the jump. Returns the first operation, or UINT32_MAX when the edge
 * needs no moves and the branch can go straight to the block. */
uint32_t emit_edge(struct lower *l, LLVMBasicBlockRef from, LLVMBasicBlockRef to, bool always)
{
	struct moves in = { 0 }, out = { 0 };
	uint32_t start = (uint32_t)l->ops.len;
	uint32_t saved = l->block_op;
	struct op *o;

	edge_moves(l, from, to, &in); /* may emit TLS or unsupported operations */
	if (!in.len && !always && start == l->ops.len)
		return UINT32_MAX;
	if (!always)
		l->block_op = start;
	order_moves(l, &in, &out);
	for (size_t i = 0; i + 1 < out.len; i += 2) {
		bool last = i + 2 == out.len;

		o = emit(l, OP_MOV2);
		o->d = out.data[i].d;
		o->a = out.data[i].s;
		o->imm = (uint32_t)out.data[i + 1].d | (uint64_t)(uint32_t)out.data[i + 1].s << 32;
		if (last) {
			o = emit(l, OP_JMP);
			o->d = (int32_t)(l->ops.len - l->block_op);
		}
	}
	if (out.len % 2 || !out.len) {
		o = emit(l, out.len ? OP_MOVJ : OP_JMP);
		if (out.len) {
			o->d = vec_last(&out)->d;
			o->a = vec_last(&out)->s;
			o->imm = (l->ops.len - l->block_op) << 32;
		} else {
			o->d = (int32_t)(l->ops.len - l->block_op);
		}
	}
	target(l, l->ops.len - 1, 0, 0, NULL, to);
	l->block_op = saved;
	vec_deinit(&in);
	vec_deinit(&out);
	return start;
}

/* A comparison that only the branch at the end of its own block uses. */
bool fuses(LLVMValueRef cmp)
{
	LLVMUseRef use = LLVMGetFirstUse(cmp);
	LLVMValueRef user = use ? LLVMGetUser(use) : NULL;

	return LLVMIsAICmpInst(cmp) && user && !LLVMGetNextUse(use) && LLVMIsABranchInst(user) &&
	       LLVMGetInstructionParent(user) == LLVMGetInstructionParent(cmp) && !is_vector(cmp) &&
	       bits_of(LLVMTypeOf(LLVMGetOperand(cmp, 0))) <= 64;
}

static size_t emit_fused(struct lower *l, LLVMValueRef cmp)
{
	LLVMIntPredicate pred = LLVMGetICmpPredicate(cmp);
	int32_t a = reg_of(l, LLVMGetOperand(cmp, 0)), b = reg_of(l, LLVMGetOperand(cmp, 1)), t;
	unsigned w = bits_of(LLVMTypeOf(LLVMGetOperand(cmp, 0)));
	enum opcode code;
	struct op *o;
	bool swap = pred == LLVMIntUGT || pred == LLVMIntUGE || pred == LLVMIntSGT ||
		    pred == LLVMIntSGE;

	switch (pred) {
	case LLVMIntEQ:
		code = OP_BREQ;
		break;
	case LLVMIntNE:
		code = OP_BRNE;
		break;
	case LLVMIntULT:
	case LLVMIntUGT:
		code = OP_BRULT;
		break;
	case LLVMIntULE:
	case LLVMIntUGE:
		code = OP_BRULE;
		break;
	case LLVMIntSLT:
	case LLVMIntSGT:
		code = w == 64 ? OP_BRSLT64 : w == 32 ? OP_BRSLT32 : OP_BRSLTN;
		break;
	default:
		code = w == 64 ? OP_BRSLE64 : w == 32 ? OP_BRSLE32 : OP_BRSLEN;
		break;
	}
	if (swap) {
		t = a;
		a = b;
		b = t;
	}
	o = emit(l, code);
	o->a = a;
	o->b = b;
	o->w = (uint8_t)w;
	return l->ops.len - 1;
}

void lower_branch(struct lower *l, LLVMValueRef i)
{
	LLVMBasicBlockRef here = LLVMGetInstructionParent(i);
	size_t br;

	if (!LLVMIsConditional(i)) {
		emit_edge(l, here, LLVMGetSuccessor(i, 0), true);
		return;
	}
	if (fuses(LLVMGetCondition(i))) {
		br = emit_fused(l, LLVMGetCondition(i));
	} else {
		int32_t c = reg_of(l, LLVMGetCondition(i));

		emit(l, OP_BR)->a = c;
		br = l->ops.len - 1;
	}
	l->ops.data[br].d = (int32_t)(br + 1 - l->block_op);
	for (uint8_t k = 0; k < 2; k++) {
		LLVMBasicBlockRef to = LLVMGetSuccessor(i, k);
		uint32_t start = emit_edge(l, here, to, false);

		if (start == UINT32_MAX)
			target(l, br, k, 0, here, to);
		else
			l->ops.data[br].imm |= (uint64_t)start << (32 * k);
	}
}

struct arm {
	uint64_t value;
	LLVMBasicBlockRef to;
	uint32_t number; /* of the successor */
};

static int arm_order(const void *a, const void *b)
{
	const struct arm *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

/* The arms, sorted, and the edges they take; `otherwise` may be NULL (indirect branches). */
static void emit_switch(struct lower *l, LLVMValueRef i, int32_t reg, unsigned w, struct arm *arms,
			uint32_t n, LLVMBasicBlockRef otherwise)
{
	LLVMBasicBlockRef here = LLVMGetInstructionParent(i);
	struct switch_table t = { .n = n, .dense = true };
	struct map stubs = { 0 };
	uint32_t table = (uint32_t)l->ir->tables.len;
	size_t at;
	struct op *o;

	if (n)
		qsort(arms, n, sizeof(*arms), arm_order);
	t.values = arena_array(&l->ir->arena, uint64_t, n + 1);
	t.targets = arena_array(&l->ir->arena, uint32_t, n + 1);
	t.arms = arena_array(&l->ir->arena, uint32_t, n + 1);
	for (uint32_t k = 0; k < n; k++) {
		t.values[k] = arms[k].value;
		t.arms[k] = arms[k].number;
		t.dense &= arms[k].value == arms[0].value + k;
	}
	vec_push(&l->ir->tables, t);
	o = emit(l, OP_SWITCH);
	o->a = reg;
	o->w = (uint8_t)w;
	o->imm = table;
	at = l->ops.len - 1;
	o->d = (int32_t)(at + 1 - l->block_op);
	for (uint32_t k = 0; k <= n; k++) {
		LLVMBasicBlockRef to = k < n ? arms[k].to : otherwise;
		uint64_t *stub;

		if (!to) {
			t.targets[k] = (uint32_t)l->ops.len;
			emit_unsupported(l,
					 "an indirect branch to a place that is not in its list");
			continue;
		}
		stub = map_find(&stubs, (uintptr_t)to);
		if (!stub)
			stub = map_put(&stubs, (uintptr_t)to, emit_edge(l, here, to, false));
		if (*stub == UINT32_MAX)
			target(l, table, 2, k, here, to);
		else
			t.targets[k] = (uint32_t)*stub;
	}
	map_deinit(&stubs);
}

void lower_switch(struct lower *l, LLVMValueRef i)
{
	uint32_t n = LLVMGetNumSuccessors(i) - 1;
	struct arm *arms = xcalloc(n + 1, sizeof(*arms));
	LLVMValueRef v = LLVMGetOperand(i, 0);
	int32_t reg = reg_of(l, v);

	if (bits_of(LLVMTypeOf(v)) > 64) {
		emit_unsupported(l, "switch on an integer wider than 64 bits");
	} else {
		for (uint32_t k = 0; k < n; k++)
			arms[k] = (struct arm){ LLVMConstIntGetZExtValue(
							LLVMGetOperand(i, 2 + 2 * k)),
						LLVMGetSuccessor(i, k + 1), k + 1 };
		emit_switch(l, i, reg, bits_of(LLVMTypeOf(v)), arms, n,
			    LLVMGetSwitchDefaultDest(i));
	}
	free(arms);
}

void lower_indirect(struct lower *l, LLVMValueRef i)
{
	uint32_t n = LLVMGetNumSuccessors(i), used = 0;
	struct arm *arms = xcalloc(n + 1, sizeof(*arms));
	int32_t reg = reg_of(l, LLVMGetOperand(i, 0));

	for (uint32_t k = 0; k < n; k++) {
		struct arm a = { block_address(l->f->index, block_number(LLVMGetSuccessor(i, k))),
				 LLVMGetSuccessor(i, k), k };
		bool seen = false;

		for (uint32_t j = 0; j < used; j++)
			seen |= arms[j].value == a.value;
		if (!seen)
			arms[used++] = a;
	}
	emit_switch(l, i, reg, 64, arms, used, NULL);
	free(arms);
}

void lower_ret(struct lower *l, LLVMValueRef i)
{
	int32_t v = 0;
	struct op *o;

	if (LLVMGetNumOperands(i))
		v = reg_of(l, LLVMGetOperand(i, 0));
	o = emit(l, OP_RET);
	o->d = (int32_t)(l->ops.len - l->block_op);
	if (LLVMGetNumOperands(i))
		o->imm = (uint32_t)v | (uint64_t)l->f->nret << 32;
}
