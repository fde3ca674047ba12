/* lift/flags.c - flags from VEX's thunk.
 *
 * VEX does not compute flags. An arithmetic instruction writes down what it did (CC_OP) and to which
 * values (CC_DEP1, CC_DEP2, CC_NDEP), and helpers compute from that when somebody asks. A dump has
 * flags and no thunk, so we compute them at once: six registers of one bit. The formulas are those
 * of the processor's manual; a flag that the manual leaves undefined becomes "some value".
 *
 * The numbers of CC_OP are VEX's; its public headers do not have them. They are checked against the
 * processor, as everything here is, by test/unit/test-rewind-lift.c. */
#include "lift/vex.h"

#include <string.h>

enum {
	CC_COPY = 0,
	CC_ADD = 1, /* each kind has four widths: byte, word, long, quad */
	CC_SUB = 5,
	CC_ADC = 9,
	CC_SBB = 13,
	CC_LOGIC = 17,
	CC_INC = 21,
	CC_DEC = 25,
	CC_SHL = 29,
	CC_SHR = 33,
	CC_ROL = 37,
	CC_ROR = 41,
	CC_UMUL = 45,
	CC_SMUL = 49,
	CC_ANDN = 53, /* from here on two widths: 32, 64 */
	CC_BLSI = 55,
	CC_BLSMSK = 57,
	CC_BLSR = 59,
	CC_ADCX = 61,
	CC_END = 65,
};

/* A bit per flag; 0 = unchanged. */
struct flags {
	uint16_t cf, pf, af, zf, sf, of;
};

/* What the formulas read: the operands of the thunk, cut to the width. */
struct thunk {
	unsigned w;
	uint16_t a, b, carry;
	uint16_t dep1, dep2, ndep; /* uncut */
};

static uint16_t bit(struct lifting *l, uint16_t v, unsigned i)
{
	return emit_extract(l, v, i, 1);
}

static uint16_t parity(struct lifting *l, uint16_t v)
{
	uint16_t all = bit(l, v, 0);

	for (unsigned i = 1; i < 8; i++)
		all = emit(l, LIFT_XOR, 1, all, bit(l, v, i));
	return emit_not(l, all);
}

static void set_result(struct lifting *l, unsigned w, uint16_t res, struct flags *f)
{
	f->pf = parity(l, res);
	f->zf = emit(l, LIFT_EQ, 1, res, emit_const(l, w, 0));
	f->sf = bit(l, res, w - 1);
}

/* Bit 4 of a ^ b ^ result. */
static uint16_t adjust(struct lifting *l, uint16_t a, uint16_t b, uint16_t res)
{
	uint16_t x = emit(l, LIFT_XOR, 1, bit(l, a, 4), bit(l, b, 4));

	return emit(l, LIFT_XOR, 1, x, bit(l, res, 4));
}

/* The sign of (a ^ b) & (a ^ res), with b turned around for additions. */
static uint16_t overflow(struct lifting *l, const struct thunk *t, uint16_t res, bool add)
{
	uint16_t a = bit(l, t->a, t->w - 1), b = bit(l, t->b, t->w - 1);
	uint16_t r = bit(l, res, t->w - 1), differ = emit(l, LIFT_XOR, 1, a, b);

	return emit(l, LIFT_AND, 1, add ? emit_not(l, differ) : differ, emit(l, LIFT_XOR, 1, a, r));
}

static void add_or_sub(struct lifting *l, struct thunk t, bool add, bool with_carry,
		       struct flags *f)
{
	uint16_t res, plain, wide = 0;

	if (with_carry) { /* VEX stores the second operand ^ old carry */
		wide = emit(l, LIFT_ZEXT, t.w, t.carry, 0);
		t.b = emit(l, LIFT_XOR, t.w, t.b, wide);
	}
	res = emit(l, add ? LIFT_ADD : LIFT_SUB, t.w, t.a, t.b);
	if (with_carry)
		res = emit(l, add ? LIFT_ADD : LIFT_SUB, t.w, res, wide);
	plain = add ? emit(l, LIFT_ULT, 1, res, t.a) : emit(l, LIFT_ULT, 1, t.a, t.b);
	f->cf = plain;
	if (with_carry)
		f->cf = emit_ite(l, 1, t.carry,
				 add ? emit(l, LIFT_ULE, 1, res, t.a)
				     : emit(l, LIFT_ULE, 1, t.a, t.b),
				 plain);
	f->of = overflow(l, &t, res, add);
	f->af = adjust(l, t.a, t.b, res);
	set_result(l, t.w, res, f);
}

static void inc_or_dec(struct lifting *l, struct thunk t, bool inc, struct flags *f)
{
	uint16_t one = emit_const(l, t.w, 1);
	uint16_t before = emit(l, inc ? LIFT_SUB : LIFT_ADD, t.w, t.a, one);
	uint64_t top = 1ull << (t.w - 1);

	f->cf = bit(l, t.ndep, 0);
	f->of = emit(l, LIFT_EQ, 1, t.a, emit_const(l, t.w, inc ? top : top - 1));
	f->af = adjust(l, before, one, t.a);
	set_result(l, t.w, t.a, f);
}

static void multiplied(struct lifting *l, struct thunk t, bool is_signed, struct flags *f)
{
	uint16_t fits, a = t.a, b = t.b;

	if (t.w == 64) {
		uint16_t low = emit(l, LIFT_MUL, 64, a, b);
		uint16_t sign = emit(l, LIFT_ASHR, 64, low, emit_const(l, 64, 63));

		fits = emit(l, LIFT_EQ, 1, emit_mul_high(l, a, b, is_signed),
			    is_signed ? sign : emit_const(l, 64, 0));
	} else {
		enum lift_kind ext = is_signed ? LIFT_SEXT : LIFT_ZEXT;
		uint16_t p = emit(l, LIFT_MUL, 64, emit(l, ext, 64, a, 0), emit(l, ext, 64, b, 0));

		fits = emit(l, LIFT_EQ, 1, p, emit(l, ext, 64, emit_extract(l, p, 0, t.w), 0));
	}
	f->cf = f->of = emit_not(l, fits);
	f->pf = emit_opaque(l, 1);
	f->af = emit_opaque(l, 1);
	f->zf = emit_opaque(l, 1);
	f->sf = emit_opaque(l, 1);
}

static void bit_groups(struct lifting *l, unsigned op, const struct thunk *t, struct flags *f)
{
	uint16_t zero = emit_const(l, t->w, 0);

	set_result(l, t->w, t->a, f);
	f->of = emit_const(l, 1, 0);
	f->af = emit_opaque(l, 1);
	f->pf = emit_opaque(l, 1);
	f->cf = f->of;
	if (op >= CC_BLSI)
		f->cf = emit(l, LIFT_EQ, 1, t->b, zero);
	if (op >= CC_BLSI && op < CC_BLSMSK)
		f->cf = emit_not(l, f->cf);
}

static void copied(struct lifting *l, uint16_t word, struct flags *f)
{
	*f = (struct flags){ bit(l, word, 0), bit(l, word, 2), bit(l, word, 4),
			     bit(l, word, 6), bit(l, word, 7), bit(l, word, 11) };
}

static void unknown(struct lifting *l, struct flags *f)
{
	*f = (struct flags){ emit_opaque(l, 1), emit_opaque(l, 1), emit_opaque(l, 1),
			     emit_opaque(l, 1), emit_opaque(l, 1), emit_opaque(l, 1) };
}

/* The flags of a thunk whose CC_OP is a constant. */
static struct flags compute(struct lifting *l, unsigned op, uint16_t dep1, uint16_t dep2,
			    uint16_t ndep)
{
	struct thunk t = { .dep1 = dep1, .dep2 = dep2, .ndep = ndep };
	unsigned kind = op;
	struct flags f = { 0 };

	if (op == CC_COPY) {
		copied(l, dep1, &f);
		return f;
	}
	if (op >= CC_ADCX || !dep1 || !dep2 || !ndep) {
		unknown(l, &f);
		return f;
	}
	t.w = op < CC_ANDN ? 8u << (op - 1) % 4 : 32u << (op - 1) % 2;
	if (op < CC_ANDN)
		kind = op - (op - 1) % 4;
	t.a = t.w == 64 ? dep1 : emit_extract(l, dep1, 0, t.w);
	t.b = t.w == 64 ? dep2 : emit_extract(l, dep2, 0, t.w);
	t.carry = bit(l, ndep, 0);
	switch (kind) {
	case CC_ADD:
	case CC_SUB:
	case CC_ADC:
	case CC_SBB:
		add_or_sub(l, t, kind == CC_ADD || kind == CC_ADC, kind == CC_ADC || kind == CC_SBB,
			   &f);
		break;
	case CC_LOGIC:
		set_result(l, t.w, t.a, &f);
		f.cf = f.of = emit_const(l, 1, 0);
		f.af = emit_opaque(l, 1);
		break;
	case CC_INC:
	case CC_DEC:
		inc_or_dec(l, t, kind == CC_INC, &f);
		break;
	case CC_SHL: /* dep2 is the value shifted by one less */
	case CC_SHR:
		set_result(l, t.w, t.a, &f);
		f.cf = bit(l, t.b, kind == CC_SHL ? t.w - 1 : 0);
		f.of = emit_opaque(l, 1);
		f.af = emit_opaque(l, 1);
		break;
	case CC_ROL:
	case CC_ROR: /* the other flags stay, VEX has them in ndep */
		copied(l, ndep, &f);
		f.cf = bit(l, t.a, kind == CC_ROL ? 0 : t.w - 1);
		f.of = emit_opaque(l, 1);
		break;
	case CC_UMUL:
	case CC_SMUL:
		multiplied(l, t, kind == CC_SMUL, &f);
		break;
	default:
		bit_groups(l, op, &t, &f);
	}
	return f;
}

static struct flags present(struct lifting *l)
{
	return (struct flags){ emit_get(l, LIFT_CF), emit_get(l, LIFT_PF), emit_get(l, LIFT_AF),
			       emit_get(l, LIFT_ZF), emit_get(l, LIFT_SF), emit_get(l, LIFT_OF) };
}

/* What a temporary of VEX was set to. */
static IRExpr *definition(struct lifting *l, IRExpr *e)
{
	while (e && e->tag == Iex_RdTmp) {
		IRExpr *found = NULL;

		for (int i = 0; i < l->block->stmts_used; i++) {
			IRStmt *s = l->block->stmts[i];

			if (s->tag == Ist_WrTmp && s->Ist.WrTmp.tmp == e->Iex.RdTmp.tmp)
				found = s->Ist.WrTmp.data;
		}
		if (!found)
			break;
		e = found;
	}
	return e;
}

static bool constant(struct lifting *l, IRExpr *e, uint64_t *ret)
{
	e = definition(l, e);
	if (!e || e->tag != Iex_Const || e->Iex.Const.con->tag != Ico_U64)
		return false;
	*ret = e->Iex.Const.con->Ico.U64;
	return *ret < CC_END;
}

/* A shift by a variable: if the count is not zero: this operation, else as before. The operands are
 * chosen in the same way by VEX, so those of the operation are right where they matter. */
static bool chosen(struct lifting *l, IRExpr *e, struct flags *f)
{
	struct flags now;
	uint64_t op;
	uint16_t cond;

	e = definition(l, e);
	if (!e || e->tag != Iex_ITE || !constant(l, e->Iex.ITE.iftrue, &op))
		return false;
	cond = value_of(l, e->Iex.ITE.cond).part[0];
	*f = compute(l, (unsigned)op, l->dep1, l->dep2, l->ndep);
	now = present(l);
	f->cf = emit_ite(l, 1, cond, f->cf, now.cf);
	f->pf = emit_ite(l, 1, cond, f->pf, now.pf);
	f->af = emit_ite(l, 1, cond, f->af, now.af);
	f->zf = emit_ite(l, 1, cond, f->zf, now.zf);
	f->sf = emit_ite(l, 1, cond, f->sf, now.sf);
	f->of = emit_ite(l, 1, cond, f->of, now.of);
	return true;
}

static struct flags current(struct lifting *l)
{
	struct flags f;
	uint64_t op;

	if (!l->thunk)
		return present(l);
	if (constant(l, l->cc_op, &op))
		return compute(l, (unsigned)op, l->dep1, l->dep2, l->ndep);
	if (!chosen(l, l->cc_op, &f))
		unknown(l, &f);
	return f;
}

void flags_finish(struct lifting *l)
{
	struct flags f;

	if (!l->thunk)
		return;
	f = current(l);
	emit_put(l, LIFT_CF, f.cf);
	emit_put(l, LIFT_PF, f.pf);
	emit_put(l, LIFT_AF, f.af);
	emit_put(l, LIFT_ZF, f.zf);
	emit_put(l, LIFT_SF, f.sf);
	emit_put(l, LIFT_OF, f.of);
	l->thunk = false;
}

static uint16_t condition(struct lifting *l, unsigned cond)
{
	struct flags f = current(l);
	uint16_t r, less = emit(l, LIFT_XOR, 1, f.sf, f.of);

	switch (cond / 2) {
	case 0:
		r = f.of;
		break;
	case 1:
		r = f.cf;
		break;
	case 2:
		r = f.zf;
		break;
	case 3:
		r = emit(l, LIFT_OR, 1, f.cf, f.zf);
		break;
	case 4:
		r = f.sf;
		break;
	case 5:
		r = f.pf;
		break;
	case 6:
		r = less;
		break;
	default:
		r = emit(l, LIFT_OR, 1, less, f.zf);
	}
	return cond % 2 ? emit_not(l, r) : r;
}

static uint16_t word_of(struct lifting *l, const struct flags *f)
{
	static const uint8_t at[] = { 0, 2, 4, 6, 7, 11 };
	const uint16_t bits[] = { f->cf, f->pf, f->af, f->zf, f->sf, f->of };
	uint16_t all = emit_const(l, 64, 0);

	for (unsigned i = 0; i < 6; i++) {
		uint16_t wide = emit(l, LIFT_ZEXT, 64, bits[i], 0);

		all = emit(l, LIFT_OR, 64, all,
			   emit(l, LIFT_SHL, 64, wide, emit_const(l, 64, at[i])));
	}
	return all;
}

uint16_t flags_helper(struct lifting *l, const char *name, IRExpr **args)
{
	struct flags f;
	uint64_t cond;

	if (!strcmp(name, "amd64g_calculate_condition") && constant(l, args[0], &cond) && cond < 16)
		return emit(l, LIFT_ZEXT, 64, condition(l, (unsigned)cond), 0);
	if (!strcmp(name, "amd64g_calculate_rflags_c"))
		return emit(l, LIFT_ZEXT, 64, current(l).cf, 0);
	if (!strcmp(name, "amd64g_calculate_rflags_all")) {
		f = current(l);
		return word_of(l, &f);
	}
	return 0;
}
