/* lift/emit.c - append operations to the instruction that is being translated. */
#include "lift/vex.h"

uint16_t emit_op(struct lifting *l, struct lift_op op)
{
	if (l->nops >= LIFT_MAX_OPS - 1) {
		l->refused = true;
		return 0;
	}
	op.dst = op.kind == LIFT_PUT || op.kind == LIFT_STORE || op.kind == LIFT_EXIT ||
				 op.kind == LIFT_NEXT || op.kind == LIFT_REFUSE
			 ? 0
			 : (uint16_t)++l->ntemps;
	l->ops[l->nops++] = op;
	l->constant[op.dst] = op.kind == LIFT_CONST ? (uint16_t)l->nops : 0;
	return op.dst;
}

uint16_t emit(struct lifting *l, enum lift_kind kind, unsigned w, uint16_t a, uint16_t b)
{
	/* addresses relative to the instruction are fixed; the search for jump tables needs to see them */
	if ((kind == LIFT_ADD || kind == LIFT_SUB) && l->constant[a] && l->constant[b]) {
		uint64_t x = l->ops[l->constant[a] - 1].imm, y = l->ops[l->constant[b] - 1].imm;

		return emit_const(l, w, kind == LIFT_ADD ? x + y : x - y);
	}
	return emit_op(l,
		       (struct lift_op){ .kind = (uint8_t)kind, .w = (uint8_t)w, .a = a, .b = b });
}

uint16_t emit_const(struct lifting *l, unsigned w, uint64_t imm)
{
	if (w < 64)
		imm &= (1ull << w) - 1;
	return emit_op(l, (struct lift_op){ .kind = LIFT_CONST, .w = (uint8_t)w, .imm = imm });
}

uint16_t emit_opaque(struct lifting *l, unsigned w)
{
	return emit_op(l, (struct lift_op){ .kind = LIFT_OPAQUE, .w = (uint8_t)w });
}

uint16_t emit_extract(struct lifting *l, uint16_t a, unsigned low, unsigned w)
{
	return emit_op(
		l, (struct lift_op){ .kind = LIFT_EXTRACT, .w = (uint8_t)w, .a = a, .imm = low });
}

uint16_t emit_ite(struct lifting *l, unsigned w, uint16_t cond, uint16_t yes, uint16_t no)
{
	return emit_op(l,
		       (struct lift_op){
			       .kind = LIFT_ITE, .w = (uint8_t)w, .a = cond, .b = yes, .c = no });
}

uint16_t emit_not(struct lifting *l, uint16_t bit)
{
	return emit(l, LIFT_XOR, 1, bit, emit_const(l, 1, 1));
}

uint16_t emit_get(struct lifting *l, unsigned reg)
{
	return emit_op(l, (struct lift_op){ .kind = LIFT_GET,
					    .w = (uint8_t)lift_register_width(reg),
					    .imm = reg });
}

void emit_put(struct lifting *l, unsigned reg, uint16_t a)
{
	emit_op(l, (struct lift_op){ .kind = LIFT_PUT,
				     .w = (uint8_t)lift_register_width(reg),
				     .a = a,
				     .imm = reg });
}

/* With halves of 32 bits: (a1 b1) + high(a1 b0 + a0 b1 + carry), each partial product fits 64 bits.
 */
uint16_t emit_mul_high(struct lifting *l, uint16_t a, uint16_t b, bool is_signed)
{
	uint16_t k32 = emit_const(l, 64, 32), low = emit_const(l, 64, 0xffffffff);
	uint16_t a0 = emit(l, LIFT_AND, 64, a, low), a1 = emit(l, LIFT_LSHR, 64, a, k32);
	uint16_t b0 = emit(l, LIFT_AND, 64, b, low), b1 = emit(l, LIFT_LSHR, 64, b, k32);
	uint16_t p00 = emit(l, LIFT_MUL, 64, a0, b0), p10 = emit(l, LIFT_MUL, 64, a1, b0);
	uint16_t p01 = emit(l, LIFT_MUL, 64, a0, b1), p11 = emit(l, LIFT_MUL, 64, a1, b1);
	uint16_t mid = emit(l, LIFT_ADD, 64, p10, emit(l, LIFT_LSHR, 64, p00, k32));
	uint16_t mid2 = emit(l, LIFT_ADD, 64, p01, emit(l, LIFT_AND, 64, mid, low));
	uint16_t high = emit(l, LIFT_ADD, 64, p11, emit(l, LIFT_LSHR, 64, mid, k32));
	uint16_t minus_b, minus_a, k63;

	high = emit(l, LIFT_ADD, 64, high, emit(l, LIFT_LSHR, 64, mid2, k32));
	if (!is_signed)
		return high;
	k63 = emit_const(l, 64, 63);
	minus_b = emit(l, LIFT_AND, 64, b, emit(l, LIFT_ASHR, 64, a, k63));
	minus_a = emit(l, LIFT_AND, 64, a, emit(l, LIFT_ASHR, 64, b, k63));
	high = emit(l, LIFT_SUB, 64, high, minus_b);
	return emit(l, LIFT_SUB, 64, high, minus_a);
}
