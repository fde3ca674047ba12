/* lift/ops.c - VEX's expressions become operations.
 *
 * Everything that compilers use for integers, pointers and moving data is here; floating point and
 * the rarer vector operations are "some value", of the right width. */
#include "lift/vex.h"

#include <stddef.h>

struct value value_one(uint16_t temp, unsigned w)
{
	return (struct value){ .part = { temp }, .n = 1, .w = (uint8_t)w };
}

struct value value_unknown(struct lifting *l, IRType type)
{
	unsigned w, n = type_parts(type, &w);
	struct value v = { .n = (uint8_t)n, .w = (uint8_t)w };

	for (unsigned i = 0; i < n; i++)
		v.part[i] = emit_opaque(l, w);
	return v;
}

/* Operations that four widths have, 8 to 64, in this order. */
static bool four_widths(IROp op, IROp first, unsigned *w)
{
	if (op < first || op > first + 3)
		return false;
	*w = 8u << (op - first);
	return true;
}

static const struct {
	IROp first;
	enum lift_kind kind;
} arithmetic[] = {
	{ Iop_Add8, LIFT_ADD }, { Iop_Sub8, LIFT_SUB }, { Iop_Mul8, LIFT_MUL },
	{ Iop_Or8, LIFT_OR },	{ Iop_And8, LIFT_AND }, { Iop_Xor8, LIFT_XOR },
}, shifts[] = {
	{ Iop_Shl8, LIFT_SHL }, { Iop_Shr8, LIFT_LSHR }, { Iop_Sar8, LIFT_ASHR },
};

static const struct {
	IROp op;
	enum lift_kind kind;
	unsigned w;
} compares[] = {
	{ Iop_CmpLT32S, LIFT_SLT, 32 }, { Iop_CmpLT64S, LIFT_SLT, 64 },
	{ Iop_CmpLE32S, LIFT_SLE, 32 }, { Iop_CmpLE64S, LIFT_SLE, 64 },
	{ Iop_CmpLT32U, LIFT_ULT, 32 }, { Iop_CmpLT64U, LIFT_ULT, 64 },
	{ Iop_CmpLE32U, LIFT_ULE, 32 }, { Iop_CmpLE64U, LIFT_ULE, 64 },
};

/* Vector operations on lanes: the same on every part of 64 bits. */
static const struct {
	IROp op;
	enum lift_kind kind;
	unsigned lane;
} lanes[] = {
	{ Iop_Add8x16, LIFT_ADD, 8 },	{ Iop_Add16x8, LIFT_ADD, 16 },
	{ Iop_Add32x4, LIFT_ADD, 32 },	{ Iop_Add64x2, LIFT_ADD, 64 },
	{ Iop_Sub8x16, LIFT_SUB, 8 },	{ Iop_Sub16x8, LIFT_SUB, 16 },
	{ Iop_Sub32x4, LIFT_SUB, 32 },	{ Iop_Sub64x2, LIFT_SUB, 64 },
	{ Iop_CmpEQ8x16, LIFT_EQ, 8 },	{ Iop_CmpEQ16x8, LIFT_EQ, 16 },
	{ Iop_CmpEQ32x4, LIFT_EQ, 32 }, { Iop_CmpEQ64x2, LIFT_EQ, 64 },
	{ Iop_CmpEQ8x32, LIFT_EQ, 8 },	{ Iop_Add32x8, LIFT_ADD, 32 },
	{ Iop_Add64x4, LIFT_ADD, 64 },	{ Iop_AndV128, LIFT_AND, 64 },
	{ Iop_OrV128, LIFT_OR, 64 },	{ Iop_XorV128, LIFT_XOR, 64 },
	{ Iop_AndV256, LIFT_AND, 64 },	{ Iop_OrV256, LIFT_OR, 64 },
	{ Iop_XorV256, LIFT_XOR, 64 },
};

/* One part of 64 bits, lane by lane; a comparison fills its lane with ones. */
static uint16_t lanes_of(struct lifting *l, enum lift_kind kind, unsigned lane, uint16_t a,
			 uint16_t b)
{
	uint16_t all = 0;

	for (unsigned low = 0; low < 64; low += lane) {
		uint16_t x = lane == 64 ? a : emit_extract(l, a, low, lane);
		uint16_t y = lane == 64 ? b : emit_extract(l, b, low, lane);
		uint16_t r = kind == LIFT_EQ
				     ? emit(l, LIFT_SEXT, lane, emit(l, LIFT_EQ, 1, x, y), 0)
				     : emit(l, kind, lane, x, y);

		all = low ? emit(l, LIFT_CONCAT, low + lane, r, all) : r;
	}
	return all;
}

static struct value two(uint16_t low, uint16_t high)
{
	return (struct value){ .part = { low, high }, .n = 2, .w = 64 };
}

/* ---- division ---- */

/* 64 by 32 bits: quotient below, remainder above. */
static struct value divide_32(struct lifting *l, struct value a, struct value b, bool is_signed)
{
	uint16_t y = emit(l, is_signed ? LIFT_SEXT : LIFT_ZEXT, 64, b.part[0], 0);
	uint16_t q = emit(l, is_signed ? LIFT_SDIV : LIFT_UDIV, 64, a.part[0], y);
	uint16_t r = emit(l, is_signed ? LIFT_SREM : LIFT_UREM, 64, a.part[0], y);

	return value_one(
		emit(l, LIFT_CONCAT, 64, emit_extract(l, r, 0, 32), emit_extract(l, q, 0, 32)), 64);
}

/* 128 by 64 bits, where the high half only extends the low one; else nobody knows. */
static struct value divide_64(struct lifting *l, struct value a, struct value b, bool is_signed)
{
	uint16_t extends, q, r, high = emit_const(l, 64, 0);

	if (is_signed)
		high = emit(l, LIFT_ASHR, 64, a.part[0], emit_const(l, 64, 63));
	extends = emit(l, LIFT_EQ, 1, a.part[1], high);
	q = emit(l, is_signed ? LIFT_SDIV : LIFT_UDIV, 64, a.part[0], b.part[0]);
	r = emit(l, is_signed ? LIFT_SREM : LIFT_UREM, 64, a.part[0], b.part[0]);
	return two(emit_ite(l, 64, extends, q, emit_opaque(l, 64)),
		   emit_ite(l, 64, extends, r, emit_opaque(l, 64)));
}

static struct value widening_multiply(struct lifting *l, IROp op, struct value a, struct value b)
{
	bool is_signed = op >= Iop_MullS8 && op <= Iop_MullS64;
	enum lift_kind ext = is_signed ? LIFT_SEXT : LIFT_ZEXT;
	unsigned w = a.w;

	if (w == 64)
		return two(emit(l, LIFT_MUL, 64, a.part[0], b.part[0]),
			   emit_mul_high(l, a.part[0], b.part[0], is_signed));
	return value_one(emit(l, LIFT_MUL, 2 * w, emit(l, ext, 2 * w, a.part[0], 0),
			      emit(l, ext, 2 * w, b.part[0], 0)),
			 2 * w);
}

/* ---- two operands ---- */

static struct value shift(struct lifting *l, enum lift_kind kind, unsigned w, struct value a,
			  struct value b)
{
	uint16_t n = b.part[0];

	if (b.w < w)
		n = emit(l, LIFT_ZEXT, w, n, 0);
	else if (b.w > w)
		n = emit_extract(l, n, 0, w);
	return value_one(emit(l, kind, w, a.part[0], n), w);
}

static struct value vector_binary(struct lifting *l, IROp op, struct value a, struct value b,
				  IRType type)
{
	uint16_t a0 = a.part[0], a1 = a.part[1], b0 = b.part[0], b1 = b.part[1];

	for (size_t i = 0; i < sizeof(lanes) / sizeof(*lanes); i++) {
		struct value v = a;

		if (lanes[i].op != op)
			continue;
		for (unsigned k = 0; k < a.n; k++)
			v.part[k] = lanes_of(l, lanes[i].kind, lanes[i].lane, a.part[k], b.part[k]);
		return v;
	}
	switch (op) {
	case Iop_64HLtoV128:
	case Iop_64HLto128:
		return two(b0, a0);
	case Iop_V128HLtoV256:
		return (struct value){ .part = { b0, b1, a0, a1 }, .n = 4, .w = 64 };
	case Iop_InterleaveLO64x2:
		return two(b0, a0);
	case Iop_InterleaveHI64x2:
		return two(b1, a1);
	case Iop_InterleaveLO32x4:
		return two(emit(l, LIFT_CONCAT, 64, emit_extract(l, a0, 0, 32),
				emit_extract(l, b0, 0, 32)),
			   emit(l, LIFT_CONCAT, 64, emit_extract(l, a0, 32, 32),
				emit_extract(l, b0, 32, 32)));
	case Iop_SetV128lo64:
		return two(b0, a1);
	case Iop_SetV128lo32:
		return two(emit(l, LIFT_CONCAT, 64, emit_extract(l, a0, 32, 32), b0), a1);
	case Iop_Sqrt64F0x2:
	case Iop_Max64F0x2:
	case Iop_Min64F0x2:
	case Iop_CmpEQ64F0x2:
	case Iop_CmpLT64F0x2:
	case Iop_CmpLE64F0x2:
	case Iop_CmpUN64F0x2:
		return two(emit_opaque(l, 64), a1);
	default:
		return value_unknown(l, type);
	}
}

struct value op_binary(struct lifting *l, IROp op, struct value a, struct value b, IRType type)
{
	unsigned w;
	bool negate = true;

	for (size_t i = 0; i < sizeof(arithmetic) / sizeof(*arithmetic); i++)
		if (four_widths(op, arithmetic[i].first, &w))
			return value_one(emit(l, arithmetic[i].kind, w, a.part[0], b.part[0]), w);
	for (size_t i = 0; i < sizeof(shifts) / sizeof(*shifts); i++)
		if (four_widths(op, shifts[i].first, &w))
			return shift(l, shifts[i].kind, w, a, b);
	for (size_t i = 0; i < sizeof(compares) / sizeof(*compares); i++)
		if (op == compares[i].op)
			return value_one(emit(l, compares[i].kind, 1, a.part[0], b.part[0]), 1);
	if (four_widths(op, Iop_CmpEQ8, &w) || four_widths(op, Iop_CasCmpEQ8, &w))
		negate = false;
	if (!negate || four_widths(op, Iop_CmpNE8, &w) || four_widths(op, Iop_CasCmpNE8, &w) ||
	    four_widths(op, Iop_ExpCmpNE8, &w)) {
		uint16_t eq = emit(l, LIFT_EQ, 1, a.part[0], b.part[0]);

		return value_one(negate ? emit_not(l, eq) : eq, 1);
	}
	if (four_widths(op, Iop_MullS8, &w) || four_widths(op, Iop_MullU8, &w))
		return widening_multiply(l, op, a, b);
	switch (op) {
	case Iop_DivModU64to32:
	case Iop_DivModS64to32:
		return divide_32(l, a, b, op == Iop_DivModS64to32);
	case Iop_DivModU128to64:
	case Iop_DivModS128to64:
		return divide_64(l, a, b, op == Iop_DivModS128to64);
	case Iop_8HLto16:
	case Iop_16HLto32:
	case Iop_32HLto64:
		return value_one(emit(l, LIFT_CONCAT, 2u * a.w, a.part[0], b.part[0]), 2u * a.w);
	case Iop_And1:
		return value_one(emit(l, LIFT_AND, 1, a.part[0], b.part[0]), 1);
	case Iop_Or1:
		return value_one(emit(l, LIFT_OR, 1, a.part[0], b.part[0]), 1);
	default:
		return vector_binary(l, op, a, b, type);
	}
}

/* ---- one operand ---- */

static struct value widen_or_narrow(struct lifting *l, enum lift_kind kind, struct value a,
				    unsigned w)
{
	if (a.w == w)
		return a;
	return value_one(emit(l, kind, w, a.part[0], 0), w);
}

static uint16_t msbs(struct lifting *l, uint16_t part)
{
	uint16_t all = emit_extract(l, part, 7, 1);

	for (unsigned i = 1; i < 8; i++)
		all = emit(l, LIFT_CONCAT, i + 1, emit_extract(l, part, 8 * i + 7, 1), all);
	return all;
}

static struct value vector_unary(struct lifting *l, IROp op, struct value a, IRType type)
{
	uint16_t zero = emit_const(l, 64, 0), ones = emit_const(l, 64, ~0ull);

	switch (op) {
	case Iop_64UtoV128:
		return two(a.part[0], zero);
	case Iop_32UtoV128:
		return two(emit(l, LIFT_ZEXT, 64, a.part[0], 0), zero);
	case Iop_ZeroHI64ofV128:
		return two(a.part[0], zero);
	case Iop_V128to64:
	case Iop_128to64:
	case Iop_V256to64_0:
		return value_one(a.part[0], 64);
	case Iop_V128HIto64:
	case Iop_128HIto64:
	case Iop_V256to64_1:
		return value_one(a.part[1], 64);
	case Iop_V256to64_2:
		return value_one(a.part[2], 64);
	case Iop_V256to64_3:
		return value_one(a.part[3], 64);
	case Iop_V128to32:
		return value_one(emit_extract(l, a.part[0], 0, 32), 32);
	case Iop_V256toV128_0:
		return two(a.part[0], a.part[1]);
	case Iop_V256toV128_1:
		return two(a.part[2], a.part[3]);
	case Iop_NotV128:
	case Iop_NotV256:
		for (unsigned i = 0; i < a.n; i++)
			a.part[i] = emit(l, LIFT_XOR, 64, a.part[i], ones);
		return a;
	case Iop_GetMSBs8x16:
		return value_one(emit(l, LIFT_CONCAT, 16, msbs(l, a.part[1]), msbs(l, a.part[0])),
				 16);
	case Iop_GetMSBs8x8:
		return value_one(msbs(l, a.part[0]), 8);
	default:
		return value_unknown(l, type);
	}
}

struct value op_unary(struct lifting *l, IROp op, struct value a, IRType type)
{
	unsigned w;

	type_parts(type, &w);
	if (four_widths(op, Iop_Not8, &w))
		return value_one(emit(l, LIFT_XOR, w, a.part[0], emit_const(l, w, ~0ull)), w);
	if (four_widths(op, Iop_CmpNEZ8, &w))
		return value_one(emit_not(l, emit(l, LIFT_EQ, 1, a.part[0], emit_const(l, w, 0))),
				 1);
	type_parts(type, &w);
	switch (op) {
	case Iop_8Uto16:
	case Iop_8Uto32:
	case Iop_8Uto64:
	case Iop_16Uto32:
	case Iop_16Uto64:
	case Iop_32Uto64:
	case Iop_1Uto8:
	case Iop_1Uto32:
	case Iop_1Uto64:
		return widen_or_narrow(l, LIFT_ZEXT, a, w);
	case Iop_8Sto16:
	case Iop_8Sto32:
	case Iop_8Sto64:
	case Iop_16Sto32:
	case Iop_16Sto64:
	case Iop_32Sto64:
	case Iop_1Sto8:
	case Iop_1Sto16:
	case Iop_1Sto32:
	case Iop_1Sto64:
		return widen_or_narrow(l, LIFT_SEXT, a, w);
	case Iop_64to8:
	case Iop_32to8:
	case Iop_64to16:
	case Iop_16to8:
	case Iop_32to16:
	case Iop_64to32:
	case Iop_32to1:
	case Iop_64to1:
		return value_one(emit_extract(l, a.part[0], 0, w), w);
	case Iop_16HIto8:
	case Iop_32HIto16:
	case Iop_64HIto32:
		return value_one(emit_extract(l, a.part[0], w, w), w);
	case Iop_Not1:
		return value_one(emit_not(l, a.part[0]), 1);
	case Iop_ReinterpF64asI64:
	case Iop_ReinterpI64asF64:
	case Iop_ReinterpF32asI32:
	case Iop_ReinterpI32asF32:
	case Iop_ReinterpV128asI128:
	case Iop_ReinterpI128asV128:
		return a;
	default:
		return vector_unary(l, op, a, type);
	}
}

/* ---- expressions ---- */

static struct value constant(struct lifting *l, const IRConst *c)
{
	struct value v = { .n = 1, .w = 64 };

	switch (c->tag) {
	case Ico_U1:
		return value_one(emit_const(l, 1, c->Ico.U1), 1);
	case Ico_U8:
		return value_one(emit_const(l, 8, c->Ico.U8), 8);
	case Ico_U16:
		return value_one(emit_const(l, 16, c->Ico.U16), 16);
	case Ico_U32:
		return value_one(emit_const(l, 32, c->Ico.U32), 32);
	case Ico_U64:
		return value_one(emit_const(l, 64, c->Ico.U64), 64);
	case Ico_F64:
	case Ico_F64i: /* the same bits */
		return value_one(emit_const(l, 64, c->Ico.F64i), 64);
	case Ico_F32i:
		return value_one(emit_const(l, 32, c->Ico.F32i), 32);
	case Ico_V128: /* a bit per byte: 0x00 or 0xff */
	case Ico_V256:
		v.n = c->tag == Ico_V128 ? 2 : 4;
		for (unsigned i = 0; i < v.n; i++) {
			uint32_t bits = (c->tag == Ico_V128 ? c->Ico.V128 : c->Ico.V256) >> 8 * i;
			uint64_t part = 0;

			for (unsigned k = 0; k < 8; k++)
				if (bits >> k & 1)
					part |= 0xffull << 8 * k;
			v.part[i] = emit_const(l, 64, part);
		}
		return v;
	default:
		return value_one(emit_opaque(l, 64), 64);
	}
}

static struct value call(struct lifting *l, IRExpr *e)
{
	uint16_t r = flags_helper(l, e->Iex.CCall.cee->name, e->Iex.CCall.args);

	return r ? value_one(r, 64) : value_unknown(l, e->Iex.CCall.retty);
}

static struct value ite(struct lifting *l, IRExpr *e)
{
	uint16_t cond = value_of(l, e->Iex.ITE.cond).part[0];
	struct value yes = value_of(l, e->Iex.ITE.iftrue), no = value_of(l, e->Iex.ITE.iffalse);

	for (unsigned i = 0; i < yes.n; i++)
		yes.part[i] = emit_ite(l, yes.w, cond, yes.part[i], no.part[i]);
	return yes;
}

static struct value load(struct lifting *l, IRExpr *e)
{
	unsigned w, n = type_parts(e->Iex.Load.ty, &w);
	uint16_t at = value_of(l, e->Iex.Load.addr).part[0];
	struct value v = { .n = (uint8_t)n, .w = (uint8_t)w };

	for (unsigned i = 0; i < n; i++)
		v.part[i] = emit(l, LIFT_LOAD, w,
				 i ? emit(l, LIFT_ADD, 64, at, emit_const(l, 64, 8 * i)) : at, 0);
	return v;
}

struct value value_of(struct lifting *l, IRExpr *e)
{
	IRType type = typeOfIRExpr(l->block->tyenv, e);
	struct value a, b;

	switch (e->tag) {
	case Iex_RdTmp:
		return l->temps[e->Iex.RdTmp.tmp];
	case Iex_Get:
		return state_get(l, e->Iex.Get.offset, e->Iex.Get.ty);
	case Iex_Const:
		return constant(l, e->Iex.Const.con);
	case Iex_Load:
		return load(l, e);
	case Iex_ITE:
		return ite(l, e);
	case Iex_CCall:
		return call(l, e);
	case Iex_Unop:
		a = value_of(l, e->Iex.Unop.arg);
		return op_unary(l, e->Iex.Unop.op, a, type);
	case Iex_Binop:
		a = value_of(l, e->Iex.Binop.arg1);
		b = value_of(l, e->Iex.Binop.arg2);
		return op_binary(l, e->Iex.Binop.op, a, b, type);
	case Iex_Triop: /* with a rounding mode: floating point */
		if (type == Ity_V128 && e->Iex.Triop.details->op >= Iop_Add64F0x2 &&
		    e->Iex.Triop.details->op <= Iop_Div64F0x2)
			return two(emit_opaque(l, 64),
				   value_of(l, e->Iex.Triop.details->arg2).part[1]);
		return value_unknown(l, type);
	default:
		if (e->tag == Iex_Qop && e->Iex.Qop.details->op == Iop_64x4toV256) {
			struct value v = { .n = 4, .w = 64 };

			v.part[3] = value_of(l, e->Iex.Qop.details->arg1).part[0];
			v.part[2] = value_of(l, e->Iex.Qop.details->arg2).part[0];
			v.part[1] = value_of(l, e->Iex.Qop.details->arg3).part[0];
			v.part[0] = value_of(l, e->Iex.Qop.details->arg4).part[0];
			return v;
		}
		return value_unknown(l, type);
	}
}
