/* sym/machine/interp-slow-num.c - arithmetic that the inner loop hands over: on expressions, or too rare to
 * be fast (floating point of odd kinds, 128 bits, saturation). */
#include "sym/machine/interp-slow.h"

enum expr_op slow_binary_op(uint16_t code)
{
	switch (code) {
	case OP_ADD64:
	case OP_ADD32:
	case OP_ADDN:
		return EX_ADD;
	case OP_SUB64:
	case OP_SUB32:
	case OP_SUBN:
		return EX_SUB;
	case OP_MUL64:
	case OP_MUL32:
	case OP_MULN:
		return EX_MUL;
	case OP_UDIV:
		return EX_UDIV;
	case OP_UREM:
		return EX_UREM;
	case OP_SDIV:
		return EX_SDIV;
	case OP_SREM:
		return EX_SREM;
	case OP_AND:
		return EX_AND;
	case OP_OR:
		return EX_OR;
	case OP_XOR:
		return EX_XOR;
	case OP_SHL:
		return EX_SHL;
	case OP_LSHR:
		return EX_LSHR;
	case OP_ASHR:
		return EX_ASHR;
	case OP_EQ:
	case OP_NE:
	case OP_BREQ:
	case OP_BRNE:
		return EX_EQ;
	case OP_ULT:
	case OP_BRULT:
		return EX_ULT;
	case OP_ULE:
	case OP_BRULE:
		return EX_ULE;
	case OP_SLT:
	case OP_BRSLT64:
	case OP_BRSLT32:
	case OP_BRSLTN:
		return EX_SLT;
	case OP_SLE:
	case OP_BRSLE64:
	case OP_BRSLE32:
	case OP_BRSLEN:
		return EX_SLE;
	default:
		return EX_NONE;
	}
}

enum stop slow_divide(struct machine *m, struct frame *f, const struct op *o)
{
	struct val b = get_reg(f, o->b);
	expr_id zero;
	struct model *model = NULL;
	struct sym_outcome out;

	if (!b.x && !b.c)
		return machine_fault(m, SYM_DIV_ZERO, "division by zero");
	if (b.x) {
		zero = expr_binary(&m->exprs, EX_EQ, slow_operand(m, f, o->b, o->w),
				   expr_const(&m->exprs, o->w, 0));
		if (machine_may(m, zero, &model) == ANSWER_YES) {
			machine_outcome(m, &out, SYM_DIV_ZERO, "division by zero");
			m->guide->error(m, m->s, &out, model);
			model_unref(model);
			model = NULL;
			if (machine_may(m, expr_not(&m->exprs, zero), &model) != ANSWER_YES)
				return machine_fault(m, SYM_DIV_ZERO, "division by zero");
			machine_assume(m, m->s, expr_not(&m->exprs, zero), model);
		}
	}
	return slow_put(m, f, o->d,
			expr_val(m, expr_binary(&m->exprs, slow_binary_op(o->code),
						slow_operand(m, f, o->a, o->w),
						slow_operand(m, f, o->b, o->w))));
}

enum stop slow_fp(struct machine *m, struct frame *f, const struct op *o)
{
	struct exprs *e = &m->exprs;
	expr_id a = slow_operand(m, f, o->a, o->w), b, r;

	switch (o->code) {
	case OP_FNEG:
		r = expr_binary(e, EX_XOR, a, expr_const(e, o->w, 1ull << (o->w - 1)));
		break;
	case OP_FPTOSI:
		r = expr_fp(e, EX_FTOS, o->aux, a, 0, 0);
		break;
	case OP_FPTOUI:
		r = expr_fp(e, EX_FTOU, o->aux, a, 0, 0);
		break;
	case OP_SITOFP:
		r = expr_fp(e, EX_STOF, o->aux, a, 0, 0);
		break;
	case OP_UITOFP:
		r = expr_fp(e, EX_UTOF, o->aux, a, 0, 0);
		break;
	case OP_FPCAST:
		r = expr_fp(e, EX_FCAST, o->aux, a, 0, 0);
		break;
	default:
		b = slow_operand(m, f, o->b, o->w);
		if (o->code == OP_FREM) {
			uint64_t ca = machine_concretise(m, get_reg(f, o->a), o->w, "fmod"),
				 cb = machine_concretise(m, get_reg(f, o->b), o->w, "fmod");

			return slow_put(m, f, o->d, (struct val){ fp_value(o, ca, cb), 0 });
		}
		r = expr_fp(e,
			    o->code == OP_FADD	 ? EX_FADD
			    : o->code == OP_FSUB ? EX_FSUB
			    : o->code == OP_FMUL ? EX_FMUL
			    : o->code == OP_FDIV ? EX_FDIV
						 : EX_FCMP,
			    o->code == OP_FCMP ? 1 : o->w, a, b, o->code == OP_FCMP ? o->aux : 0);
	}
	return slow_put(m, f, o->d, expr_val(m, r));
}

/* min, max, abs, saturating and counting operations as expressions. */
static expr_id intrin_expr(struct machine *m, const struct op *o, expr_id a, expr_id b, expr_id c)
{
	struct exprs *e = &m->exprs;
	unsigned w = o->w;
	expr_id zero = expr_const(e, w, 0), r, t;

	switch (o->aux) {
	case IN_ABS:
		return expr_ite(e, expr_binary(e, EX_SLT, a, zero), expr_binary(e, EX_SUB, zero, a),
				a);
	case IN_SMIN:
		return expr_ite(e, expr_binary(e, EX_SLT, a, b), a, b);
	case IN_SMAX:
		return expr_ite(e, expr_binary(e, EX_SLT, a, b), b, a);
	case IN_UMIN:
		return expr_ite(e, expr_binary(e, EX_ULT, a, b), a, b);
	case IN_UMAX:
		return expr_ite(e, expr_binary(e, EX_ULT, a, b), b, a);
	case IN_UADDSAT:
		t = expr_binary(e, EX_ADD, a, b);
		return expr_ite(e, expr_binary(e, EX_ULT, t, a), expr_const(e, w, ~0ull), t);
	case IN_USUBSAT:
		return expr_ite(e, expr_binary(e, EX_ULT, a, b), zero,
				expr_binary(e, EX_SUB, a, b));
	case IN_BSWAP:
		r = expr_extract(e, a, 0, 8);
		for (unsigned i = 8; i < w; i += 8)
			r = expr_concat(e, r, expr_extract(e, a, i, 8));
		return r;
	case IN_CTPOP:
		r = zero;
		for (unsigned i = 0; i < w; i++)
			r = expr_binary(e, EX_ADD, r, expr_zext(e, expr_extract(e, a, i, 1), w));
		return r;
	case IN_CTLZ:
		r = expr_const(e, w, w);
		for (unsigned i = 0; i < w; i++)
			r = expr_ite(e, expr_extract(e, a, i, 1), expr_const(e, w, w - 1 - i), r);
		return r;
	case IN_CTTZ:
		r = expr_const(e, w, w);
		for (unsigned i = w; i-- > 0;)
			r = expr_ite(e, expr_extract(e, a, i, 1), expr_const(e, w, i), r);
		return r;
	case IN_FSHL:
	case IN_FSHR: { /* shift the pair a:b by c modulo w */
		expr_id k = expr_binary(e, EX_UREM, c, expr_const(e, w, w));
		expr_id back = expr_binary(e, EX_SUB, expr_const(e, w, w), k);

		if (o->aux == IN_FSHL)
			return expr_binary(e, EX_OR, expr_binary(e, EX_SHL, a, k),
					   expr_binary(e, EX_LSHR, b, back));
		return expr_binary(e, EX_OR, expr_binary(e, EX_SHL, a, back),
				   expr_binary(e, EX_LSHR, b, k));
	}
	default:
		return 0;
	}
}

enum stop slow_intrinsic(struct machine *m, struct frame *f, const struct op *o)
{
	bool three = o->code == OP_INTRIN3;
	expr_id r = 0;
	uint64_t c[3] = { 0 };

	if (o->aux != IN_ISFPCLASS)
		r = intrin_expr(m, o, slow_operand(m, f, o->a, o->w),
				o->aux == IN_CTLZ || o->aux == IN_CTTZ || o->aux == IN_ABS
					? 0
					: slow_operand(m, f, o->b, o->w),
				three ? slow_operand(m, f, (int32_t)o->imm, o->w) : 0);
	if (r)
		return slow_put(m, f, o->d, expr_val(m, r));
	c[0] = machine_concretise(m, get_reg(f, o->a), o->w, "an intrinsic");
	c[1] = machine_concretise(m, get_reg(f, o->b), o->w, "an intrinsic");
	if (three)
		c[2] = machine_concretise(m, get_reg(f, (int32_t)o->imm), o->w, "an intrinsic");
	return slow_put(m, f, o->d, (struct val){ intrin_value(o, c[0], c[1], c[2]), 0 });
}

enum stop slow_overflow(struct machine *m, struct frame *f, const struct op *o)
{
	struct exprs *e = &m->exprs;
	expr_id a = slow_operand(m, f, o->a, o->w), b = slow_operand(m, f, o->b, o->w), r, over,
		zero;
	unsigned w = o->w;

	zero = expr_const(e, w, 0);
	switch (o->aux) {
	case IN_UADDO:
		r = expr_binary(e, EX_ADD, a, b);
		over = expr_binary(e, EX_ULT, r, a);
		break;
	case IN_USUBO:
		r = expr_binary(e, EX_SUB, a, b);
		over = expr_binary(e, EX_ULT, a, b);
		break;
	case IN_SADDO:
	case IN_SSUBO: /* the signs say it */
		r = expr_binary(e, o->aux == IN_SADDO ? EX_ADD : EX_SUB, a, b);
		over = expr_binary(e, EX_SLT,
				   expr_binary(e, EX_AND, expr_binary(e, EX_XOR, a, r),
					       expr_binary(e, EX_XOR, o->aux == IN_SADDO ? b : a,
							   o->aux == IN_SADDO ? r : b)),
				   zero);
		break;
	default: /* multiply: r / b == a unless b is 0 */
		if (w <= 32) {
			expr_id wa = o->aux == IN_SMULO ? expr_sext(e, a, 2 * w)
							: expr_zext(e, a, 2 * w),
				wb = o->aux == IN_SMULO ? expr_sext(e, b, 2 * w)
							: expr_zext(e, b, 2 * w),
				p = expr_binary(e, EX_MUL, wa, wb);

			r = expr_extract(e, p, 0, w);
			over = expr_not(e,
					expr_binary(e, EX_EQ, p,
						    o->aux == IN_SMULO ? expr_sext(e, r, 2 * w)
								       : expr_zext(e, r, 2 * w)));
		} else {
			r = expr_binary(e, EX_MUL, a, b);
			over = expr_not(
				e,
				expr_binary(e, EX_EQ,
					    expr_binary(e, o->aux == IN_SMULO ? EX_SDIV : EX_UDIV,
							r, b),
					    a));
			over = expr_ite(e, expr_binary(e, EX_EQ, b, zero), expr_const(e, 1, 0),
					over);
		}
	}
	set_reg(m, f, o->d, expr_val(m, r));
	set_reg(m, f, o->d + 1, expr_val(m, over));
	return slow_next(f);
}

/* The n registers from r on get the values that they have under the model. */
static void fix_registers(struct machine *m, struct frame *f, int32_t r, int32_t n, const char *why)
{
	for (int32_t k = r; k < r + n; k++)
		if (f->x && f->x[k]) {
			unsigned w = expr_get(&m->exprs, f->x[k])->w;

			set_reg(m, f, k,
				(struct val){ machine_concretise(m, get_reg(f, k), w, why), 0 });
		}
}

enum stop slow_wide(struct machine *m, struct frame *f, const struct op *o)
{
	bool div0 = false;

	fix_registers(m, f, o->a, 2, "128-bit arithmetic");
	if (o->code != OP_WCONV)
		fix_registers(m, f, o->b, 2, "128-bit arithmetic");
	wide_op(f, o, &div0);
	if (div0)
		return machine_fault(m, SYM_DIV_ZERO, "division by zero");
	if (f->x) {
		f->x[o->d] = 0;
		if (o->code != OP_WCMP)
			f->x[o->d + 1] = 0;
	}
	return slow_next(f);
}

enum stop slow_long_double(struct machine *m, struct frame *f, const struct op *o)
{
	bool narrow = o->code == OP_LDCONV && (o->aux == LD_FROM_F32 || o->aux == LD_FROM_F64 ||
					       o->aux == LD_FROM_SI || o->aux == LD_FROM_UI);

	fix_registers(m, f, o->a, narrow ? 1 : 2, "long double arithmetic");
	if (o->code != OP_LDCONV)
		fix_registers(m, f, o->b, 2, "long double arithmetic");
	long_double_op(f, o);
	if (f->x) {
		f->x[o->d] = 0;
		if (o->code == OP_LDBIN ||
		    (o->code == OP_LDCONV && (o->aux < LD_TO_F32 || o->aux == LD_FROM_SI ||
					      o->aux == LD_FROM_UI || o->aux >= LD_NEG)))
			f->x[o->d + 1] = 0;
	}
	return slow_next(f);
}

enum stop slow_fmath(struct machine *m, struct frame *f, const struct op *o)
{
	uint64_t c[3];
	int32_t r[3] = { o->a, o->b, (int32_t)o->imm };

	for (int i = 0; i < 3; i++)
		c[i] = machine_concretise(m, get_reg(f, r[i]), o->w, "a mathematical function");
	return slow_put(m, f, o->d, (struct val){ fmath_value(o, c[0], c[1], c[2]), 0 });
}
