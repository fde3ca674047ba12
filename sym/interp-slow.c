/* sym/interp-slow.c - the operations that the inner loop hands over: those with an expression among
 * their operands, and those that are rare or long.
 *
 * Each leaves the number of the next operation in f->pc. */
#include "sym/machine.h"

#include <string.h>

static enum stop next(struct frame *f)
{
	f->pc++;
	return STOP_NONE;
}

static enum stop put(struct machine *m, struct frame *f, int32_t r, struct val v)
{
	set_reg(m, f, r, v);
	return next(f);
}

static enum expr_op binary_op(uint16_t code)
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

static expr_id operand(struct machine *m, struct frame *f, int32_t r, unsigned w)
{
	return val_expr(m, get_reg(f, r), w);
}

static enum stop divide(struct machine *m, struct frame *f, const struct op *o)
{
	struct val b = get_reg(f, o->b);
	expr_id zero;
	struct model *model = NULL;
	struct sym_outcome out;

	if (!b.x && !b.c)
		return machine_fault(m, SYM_DIV_ZERO, "division by zero");
	if (b.x) {
		zero = expr_binary(&m->exprs, EX_EQ, b.x, expr_const(&m->exprs, o->w, 0));
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
	return put(m, f, o->d,
		   expr_val(m, expr_binary(&m->exprs, binary_op(o->code), operand(m, f, o->a, o->w),
					   operand(m, f, o->b, o->w))));
}

static enum stop branch(struct machine *m, struct frame *f, const struct op *o)
{
	uint32_t yes = (uint32_t)o->imm, no = (uint32_t)(o->imm >> 32);
	expr_id cond;

	if (o->code == OP_BR) {
		cond = operand(m, f, o->a, 1);
	} else {
		cond = expr_binary(&m->exprs, binary_op(o->code), operand(m, f, o->a, o->w),
				   operand(m, f, o->b, o->w));
		if (o->code == OP_BRNE)
			cond = expr_not(&m->exprs, cond);
	}
	m->s->ops += (uint64_t)o->d;
	m->stats.ops += (uint64_t)o->d;
	if (expr_is_const(&m->exprs, cond) &&
	    (!m->guide->follows || (m->guide->sites && !site_here(f))))
		f->pc = expr_get(&m->exprs, cond)->imm ? yes : no;
	else
		f->pc = machine_branch(m, cond, yes, no) ? yes : no;
	if (m->undecided)
		return m->guide->sites->undecided(m);
	return m->halted ? STOP_END : STOP_NONE;
}

/* The recording says which successor it was; the value must agree. */
static enum stop recorded_switch(struct machine *m, struct frame *f, const struct op *o,
				 const struct switch_table *t, expr_id v)
{
	struct exprs *e = &m->exprs;
	expr_id cond = expr_const(e, 1, 1);
	uint32_t arm, target = t->targets[t->n];
	enum stop st = m->guide->sites->pick(m, &arm);

	if (st)
		return st;
	for (uint32_t i = 0; i < t->n; i++) {
		expr_id eq = expr_binary(e, EX_EQ, v, expr_const(e, o->w, t->values[i]));

		if (arm && t->arms[i] == arm) {
			cond = eq;
			target = t->targets[i];
		} else if (!arm) {
			cond = expr_binary(e, EX_AND, cond, expr_not(e, eq));
		}
	}
	m->s->ops += (uint64_t)o->d;
	m->stats.ops += (uint64_t)o->d;
	machine_branch(m, cond, target, target);
	f->pc = target;
	return m->halted ? STOP_END : STOP_NONE;
}

/* One two-way decision per different target: first the arms, then what is left. */
static enum stop switch_on(struct machine *m, struct frame *f, const struct op *o)
{
	struct switch_table *t = &m->ir->tables.data[o->imm];
	expr_id v = operand(m, f, o->a, o->w);

	if (m->guide->sites && site_here(f))
		return recorded_switch(m, f, o, t, v);
	for (uint32_t i = 0; i < t->n; i++) {
		expr_id hit;
		bool first = true;

		for (uint32_t j = 0; j < i && first; j++)
			first = t->targets[j] != t->targets[i];
		if (!first || t->targets[i] == t->targets[t->n])
			continue;
		hit = 0;
		for (uint32_t j = i; j < t->n; j++) {
			expr_id eq;

			if (t->targets[j] != t->targets[i])
				continue;
			eq = expr_binary(&m->exprs, EX_EQ, v,
					 expr_const(&m->exprs, o->w, t->values[j]));
			hit = hit ? expr_binary(&m->exprs, EX_OR, hit, eq) : eq;
		}
		bool taken =
			expr_is_const(&m->exprs, hit) && (!m->guide->follows || m->guide->sites)
				? expr_get(&m->exprs, hit)->imm != 0
				: machine_branch(m, hit, t->targets[i], f->pc);

		if (m->halted)
			return STOP_END;
		if (m->undecided)
			return m->guide->sites->undecided(m);
		if (taken) {
			f->pc = t->targets[i];
			return STOP_NONE;
		}
	}
	f->pc = t->targets[t->n];
	return STOP_NONE;
}

static struct val address(struct machine *m, struct frame *f, const struct op *o, bool indexed)
{
	struct val a = get_reg(f, o->a), b;
	struct exprs *e = &m->exprs;
	uint64_t scale, offset;
	expr_id x;

	if (!indexed) {
		if (!a.x)
			return (struct val){ a.c + o->imm, 0 };
		return expr_val(m, expr_binary(e, EX_ADD, a.x, expr_const(e, 64, o->imm)));
	}
	b = get_reg(f, o->b);
	scale = (uint64_t)(int64_t)(int32_t)o->imm;
	offset = (uint64_t)((int64_t)o->imm >> 32);
	if (!a.x && !b.x)
		return (struct val){ a.c + b.c * scale + offset, 0 };
	x = expr_binary(e, EX_MUL, val_expr(m, b, 64), expr_const(e, 64, scale));
	x = expr_binary(e, EX_ADD, val_expr(m, a, 64), x);
	return expr_val(m, expr_binary(e, EX_ADD, x, expr_const(e, 64, offset)));
}

static enum stop load(struct machine *m, struct frame *f, const struct op *o, bool indexed)
{
	struct val v = { 0 }, at = address(m, f, o, indexed);
	bool shared = m->guide->sites && site_here(f);
	enum stop st;

	if (shared)
		at = (struct val){ machine_concretise(m, at, 64, "the address of a shared read"),
				   0 };
	st = mem_load(m, at, o->w, &v);
	if (!st && shared)
		st = m->guide->sites->read(m, at.c, o->w, &v);
	return st ? st : put(m, f, o->d, v);
}

static enum stop store(struct machine *m, struct frame *f, const struct op *o, bool indexed)
{
	struct val at = address(m, f, o, indexed);
	bool shared = m->guide->sites && site_here(f);
	enum stop st;

	if (shared)
		at = (struct val){ machine_concretise(m, at, 64, "the address of a shared write"),
				   0 };
	if (shared) { /* the step is told before it happens: memory still holds the old value */
		struct object *object;
		uint32_t off;

		st = mem_resolve(m, at.c, (o->w + 7u) / 8, true, &object, &off);
		if (st)
			return st;
		m->guide->sites->write(m, at.c, o->w, get_reg(f, o->d));
	}
	st = mem_store(m, at, o->w, get_reg(f, o->d));
	return st ? st : next(f);
}

static enum stop fp(struct machine *m, struct frame *f, const struct op *o)
{
	struct exprs *e = &m->exprs;
	expr_id a = operand(m, f, o->a, o->w), b, r;

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
		b = operand(m, f, o->b, o->w);
		if (o->code == OP_FREM) {
			uint64_t ca = machine_concretise(m, get_reg(f, o->a), o->w, "fmod"),
				 cb = machine_concretise(m, get_reg(f, o->b), o->w, "fmod");

			return put(m, f, o->d, (struct val){ fp_value(o, ca, cb), 0 });
		}
		r = expr_fp(e,
			    o->code == OP_FADD	 ? EX_FADD
			    : o->code == OP_FSUB ? EX_FSUB
			    : o->code == OP_FMUL ? EX_FMUL
			    : o->code == OP_FDIV ? EX_FDIV
						 : EX_FCMP,
			    o->code == OP_FCMP ? 1 : o->w, a, b, o->code == OP_FCMP ? o->aux : 0);
	}
	return put(m, f, o->d, expr_val(m, r));
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

static enum stop intrinsic(struct machine *m, struct frame *f, const struct op *o)
{
	bool three = o->code == OP_INTRIN3;
	expr_id r = 0;
	uint64_t c[3] = { 0 };

	if (o->aux != IN_ISFPCLASS)
		r = intrin_expr(m, o, operand(m, f, o->a, o->w),
				o->aux == IN_CTLZ || o->aux == IN_CTTZ || o->aux == IN_ABS
					? 0
					: operand(m, f, o->b, o->w),
				three ? operand(m, f, (int32_t)o->imm, o->w) : 0);
	if (r)
		return put(m, f, o->d, expr_val(m, r));
	c[0] = machine_concretise(m, get_reg(f, o->a), o->w, "an intrinsic");
	c[1] = machine_concretise(m, get_reg(f, o->b), o->w, "an intrinsic");
	if (three)
		c[2] = machine_concretise(m, get_reg(f, (int32_t)o->imm), o->w, "an intrinsic");
	return put(m, f, o->d, (struct val){ intrin_value(o, c[0], c[1], c[2]), 0 });
}

static enum stop overflow(struct machine *m, struct frame *f, const struct op *o)
{
	struct exprs *e = &m->exprs;
	expr_id a = operand(m, f, o->a, o->w), b = operand(m, f, o->b, o->w), r, over, zero;
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
	return next(f);
}

/* Concrete operands stay concrete: nothing is built. */
static struct val combine(struct machine *m, enum expr_op op, unsigned w, struct val a,
			  struct val b)
{
	if (!a.x && !b.x)
		return (struct val){ expr_fold(op, w, a.c, b.c), 0 };
	return expr_val(m, expr_binary(&m->exprs, op, val_expr(m, a, w), val_expr(m, b, w)));
}

static struct val choose(struct machine *m, struct val cond, unsigned w, struct val a, struct val b)
{
	if (!cond.x)
		return cond.c ? a : b;
	return expr_val(m, expr_ite(&m->exprs, cond.x, val_expr(m, a, w), val_expr(m, b, w)));
}

static enum stop atomic(struct machine *m, struct frame *f, const struct op *o)
{
	struct val at = get_reg(f, o->a), a = { 0 }, b = get_reg(f, o->b), r;
	unsigned w = o->w;
	bool shared = m->guide->sites && site_here(f);
	enum stop st;

	if (shared)
		at = (struct val){ machine_concretise(m, at, 64, "the address of an atomic"), 0 };
	st = mem_load(m, at, w, &a);
	if (!st && shared)
		st = m->guide->sites->rmw_read(m, at.c, w, &a);
	if (st)
		return st;
	if (o->code == OP_CMPXCHG) {
		struct val same = combine(m, EX_EQ, w, a, b);

		r = choose(m, same, w, get_reg(f, (int32_t)o->imm), a);
		if (shared)
			m->guide->sites->rmw_write(m, at.c, w, r);
		st = mem_store(m, at, w, r);
		if (st)
			return st;
		set_reg(m, f, o->d + 1, same);
		return put(m, f, o->d, a);
	}
	switch (o->aux) { /* LLVMAtomicRMWBinOp */
	case 0:
		r = b;
		break;
	case 1:
		r = combine(m, EX_ADD, w, a, b);
		break;
	case 2:
		r = combine(m, EX_SUB, w, a, b);
		break;
	case 3:
		r = combine(m, EX_AND, w, a, b);
		break;
	case 4: /* nand */
		r = combine(m, EX_XOR, w, combine(m, EX_AND, w, a, b),
			    (struct val){ mask_of(w), 0 });
		break;
	case 5:
		r = combine(m, EX_OR, w, a, b);
		break;
	case 6:
		r = combine(m, EX_XOR, w, a, b);
		break;
	case 7:
		r = choose(m, combine(m, EX_SLT, w, a, b), w, b, a);
		break;
	case 8:
		r = choose(m, combine(m, EX_SLT, w, a, b), w, a, b);
		break;
	case 9:
		r = choose(m, combine(m, EX_ULT, w, a, b), w, b, a);
		break;
	case 10:
		r = choose(m, combine(m, EX_ULT, w, a, b), w, a, b);
		break;
	case 11:
	case 12:
		r = expr_val(m, expr_fp(&m->exprs, o->aux == 11 ? EX_FADD : EX_FSUB, w,
					val_expr(m, a, w), val_expr(m, b, w), 0));
		break;
	default:
		return machine_fault(m, SYM_UNSUPPORTED, "atomic operation number %d", o->aux);
	}
	if (shared)
		m->guide->sites->rmw_write(m, at.c, w, r);
	st = mem_store(m, at, w, r);
	return st ? st : put(m, f, o->d, a);
}

static enum stop va_start_op(struct machine *m, struct frame *f, const struct op *o)
{
	uint64_t list = machine_concretise(m, get_reg(f, o->a), 64, "a va_list");
	/* gp_offset 48 and fp_offset 176: every argument register is used up */
	uint64_t fields[3] = { 48 | 176ull << 32, f->r[o->b], 0 };
	enum stop st = mem_write(m, list, fields, sizeof(fields));

	return st ? st : next(f);
}

static enum stop indirect_call(struct machine *m, struct frame *f, const struct op *o)
{
	uint64_t to = machine_concretise(m, get_reg(f, o->a), 64, "a function pointer");
	struct function *callee = ir_function_at(m->ir, to);
	uint32_t n = (uint32_t)(o->imm >> 32);
	struct val args[64];

	if (!callee)
		return machine_fault(m, to < 4096 ? SYM_NULL : SYM_BAD_POINTER,
				     "call through %s pointer 0x%llx",
				     to < 4096 ? "a null" : "a bad", (unsigned long long)to);
	if (m->guide->sites) {
		bool done = false;
		enum stop st = m->guide->sites->call(m, f, o, callee, &done);

		if (st || done)
			return st;
	}
	if (callee->declared_only && ir_builtin(callee->name) >= 0) {
		struct op direct = *o;

		direct.b = ir_builtin(callee->name);
		return call_builtin(m, f, &direct);
	}
	if (callee->declared_only)
		return call_unknown(m, f, o, callee);
	if (n > ARRAY_SIZE(args))
		return machine_fault(m, SYM_UNSUPPORTED, "a call with more than 64 arguments");
	for (uint32_t i = 0; i < n; i++)
		args[i] = get_reg(f, m->ir->args.data[(uint32_t)o->imm + i]);
	f->pc++;
	return push_call(m, callee, args, n, o->d, o->w);
}

static enum stop slow_call(struct machine *m, struct frame *f, const struct op *o,
			   struct function *callee)
{
	uint32_t n = (uint32_t)(o->imm >> 32);
	struct val args[64];

	if (n > ARRAY_SIZE(args))
		return machine_fault(m, SYM_UNSUPPORTED, "a call with more than 64 arguments");
	for (uint32_t i = 0; i < n; i++)
		args[i] = get_reg(f, m->ir->args.data[(uint32_t)o->imm + i]);
	f->pc++;
	return push_call(m, callee, args, n, o->d, o->w);
}

static enum stop block_op(struct machine *m, struct frame *f, const struct op *o)
{
	struct val to = get_reg(f, o->d), from = get_reg(f, o->a), n = get_reg(f, o->b);
	bool fill = o->code == OP_MEMSET;
	enum stop st;

	if (m->guide->sites && site_here(f)) {
		to = (struct val){ machine_concretise(m, to, 64, "the target of a copy"), 0 };
		n = (struct val){ machine_concretise(m, n, 64, "the length of a copy"), 0 };
		if (!fill)
			from = (struct val){
				machine_concretise(m, from, 64, "the source of a copy"), 0
			};
		st = m->guide->sites->copy(m, to.c, fill ? 0 : from.c, n.c, false);
		if (st)
			return st;
	}
	st = fill ? mem_fill(m, to, from, n) : mem_copy(m, to, from, n);
	if (!st && m->guide->sites && site_here(f))
		st = m->guide->sites->copy(m, to.c, fill ? 0 : from.c, n.c, true);
	return st ? st : next(f);
}

static enum stop wide(struct machine *m, struct frame *f, const struct op *o)
{
	bool div0 = false;

	if (f->x && (f->x[o->a] || f->x[o->a + 1] ||
		     (o->code != OP_WCONV && (f->x[o->b] || f->x[o->b + 1])))) {
		machine_concretise(m, get_reg(f, o->a), 64, "128-bit arithmetic");
		for (int32_t k = 0; k < 2; k++) {
			set_reg(m, f, o->a + k,
				(struct val){
					machine_concretise(
						m, get_reg(f, o->a + k),
						f->x[o->a + k]
							? expr_get(&m->exprs, f->x[o->a + k])->w
							: 64,
						"128-bit arithmetic"),
					0 });
			if (o->code != OP_WCONV)
				set_reg(m, f, o->b + k,
					(struct val){ machine_concretise(
							      m, get_reg(f, o->b + k),
							      f->x[o->b + k]
								      ? expr_get(&m->exprs,
										 f->x[o->b + k])
										->w
								      : 64,
							      "128-bit arithmetic"),
						      0 });
		}
	}
	wide_op(f, o, &div0);
	if (div0)
		return machine_fault(m, SYM_DIV_ZERO, "division by zero");
	if (f->x) {
		f->x[o->d] = 0;
		if (o->code != OP_WCMP)
			f->x[o->d + 1] = 0;
	}
	return next(f);
}

static enum stop long_double(struct machine *m, struct frame *f, const struct op *o)
{
	if (f->x && (f->x[o->a] || (o->code != OP_LDCONV && f->x[o->b])))
		return machine_fault(m, SYM_UNSUPPORTED, "long double with a symbolic value");
	long_double_op(f, o);
	if (f->x) {
		f->x[o->d] = 0;
		if (o->code == OP_LDBIN ||
		    (o->code == OP_LDCONV && (o->aux < LD_TO_F32 || o->aux == LD_FROM_SI ||
					      o->aux == LD_FROM_UI || o->aux >= LD_NEG)))
			f->x[o->d + 1] = 0;
	}
	return next(f);
}

static enum stop fmath(struct machine *m, struct frame *f, const struct op *o)
{
	uint64_t c[3];
	int32_t r[3] = { o->a, o->b, (int32_t)o->imm };

	for (int i = 0; i < 3; i++)
		c[i] = machine_concretise(m, get_reg(f, r[i]), o->w, "a mathematical function");
	return put(m, f, o->d, (struct val){ fmath_value(o, c[0], c[1], c[2]), 0 });
}

static enum stop allocate(struct machine *m, struct frame *f, const struct op *o)
{
	uint64_t size = o->imm, at;
	struct object *obj;

	if (o->code == OP_ALLOCAV)
		size *= machine_concretise(m, get_reg(f, o->a), 64, "the size of a stack array");
	if (size > 1u << 30)
		return machine_fault(m, SYM_STACK, "a stack object of %llu bytes",
				     (unsigned long long)size);
	at = mem_new(m, OBJ_STACK, size);
	obj = memory_find(&m->s->memory, (uint32_t)(at >> 32) & 0x3fffffff);
	obj->below = f->allocas;
	f->allocas = obj->id;
	return put(m, f, o->d, (struct val){ at, 0 });
}

/* A symbolic entry may be any of the table's; which table it was is no longer known here, so every
 * address of every table is a candidate. */
static enum stop relative(struct machine *m, struct frame *f, const struct op *o)
{
	struct val v = get_reg(f, o->a);
	struct exprs *e = &m->exprs;
	size_t n = m->ir->relatives.len;
	expr_id x;

	if (v.x && n > 256)
		v = (struct val){
			machine_concretise(m, v, 32, "an index into a table of addresses"), 0
		};
	if (!v.x) {
		if (!(v.c & RELATIVE_TAG) || (v.c & ~RELATIVE_TAG) >= n)
			return machine_fault(m, SYM_UNSUPPORTED,
					     "a relative table that was changed at run time");
		return put(m, f, o->d,
			   (struct val){ m->ir->relatives.data[v.c & ~RELATIVE_TAG], 0 });
	}
	x = expr_const(e, 64, 0);
	for (size_t i = 0; i < n; i++)
		x = expr_ite(e, expr_binary(e, EX_EQ, v.x, expr_const(e, 32, RELATIVE_TAG | i)),
			     expr_const(e, 64, m->ir->relatives.data[i]), x);
	return put(m, f, o->d, expr_val(m, x));
}

enum stop slow_op(struct machine *m, struct frame *f, const struct op *o)
{
	struct exprs *e = &m->exprs;
	enum stop st;
	expr_id c;

	switch (o->code) {
	case OP_UDIV:
	case OP_UREM:
	case OP_SDIV:
	case OP_SREM:
		return divide(m, f, o);
	case OP_ADD64:
	case OP_ADD32:
	case OP_ADDN:
	case OP_SUB64:
	case OP_SUB32:
	case OP_SUBN:
	case OP_MUL64:
	case OP_MUL32:
	case OP_MULN:
	case OP_AND:
	case OP_OR:
	case OP_XOR:
	case OP_SHL:
	case OP_LSHR:
	case OP_ASHR:
	case OP_EQ:
	case OP_ULT:
	case OP_ULE:
	case OP_SLT:
	case OP_SLE:
		return put(m, f, o->d,
			   expr_val(m, expr_binary(e, binary_op(o->code), operand(m, f, o->a, o->w),
						   operand(m, f, o->b, o->w))));
	case OP_NE:
		return put(m, f, o->d,
			   expr_val(m, expr_not(e, expr_binary(e, EX_EQ, operand(m, f, o->a, o->w),
							       operand(m, f, o->b, o->w)))));
	case OP_TRUNC:
		c = get_reg(f, o->a).x;
		return put(
			m, f, o->d,
			expr_val(m, expr_get(e, c)->w <= o->w ? c : expr_extract(e, c, 0, o->w)));
	case OP_SEXT:
		return put(m, f, o->d,
			   expr_val(m, expr_sext(e, operand(m, f, o->a, o->w), o->aux)));
	case OP_SELECT:
		c = operand(m, f, o->a, 1);
		if (m->guide->sites && site_here(f)) {
			bool yes = machine_branch(m, c, 0, 0);

			return m->halted
				       ? STOP_END
				       : put(m, f, o->d, get_reg(f, yes ? o->b : (int32_t)o->imm));
		}
		return put(m, f, o->d,
			   expr_val(m, expr_ite(e, c, operand(m, f, o->b, o->w),
						operand(m, f, (int32_t)o->imm, o->w))));
	case OP_GEP:
		return put(m, f, o->d, address(m, f, o, true));
	case OP_INTRIN2:
	case OP_INTRIN3:
		return intrinsic(m, f, o);
	case OP_OVERFLOW:
		return overflow(m, f, o);
	case OP_FADD:
	case OP_FSUB:
	case OP_FMUL:
	case OP_FDIV:
	case OP_FREM:
	case OP_FNEG:
	case OP_FCMP:
	case OP_FPTOSI:
	case OP_FPTOUI:
	case OP_SITOFP:
	case OP_UITOFP:
	case OP_FPCAST:
		return fp(m, f, o);
	case OP_FMATH:
		return fmath(m, f, o);
	case OP_LDBIN:
	case OP_LDCMP:
	case OP_LDCONV:
		return long_double(m, f, o);
	case OP_WBIN:
	case OP_WCMP:
	case OP_WCONV:
		return wide(m, f, o);
	case OP_LOAD8:
	case OP_LOAD16:
	case OP_LOAD32:
	case OP_LOAD64:
	case OP_LOADN:
		return load(m, f, o, false);
	case OP_LOADX8:
	case OP_LOADX16:
	case OP_LOADX32:
	case OP_LOADX64:
		return load(m, f, o, true);
	case OP_STORE8:
	case OP_STORE16:
	case OP_STORE32:
	case OP_STORE64:
	case OP_STOREN:
		return store(m, f, o, false);
	case OP_STOREX8:
	case OP_STOREX16:
	case OP_STOREX32:
	case OP_STOREX64:
		return store(m, f, o, true);
	case OP_ALLOCA:
	case OP_ALLOCAV:
		return allocate(m, f, o);
	case OP_MEMCPY:
	case OP_MEMMOVE:
	case OP_MEMSET:
		return block_op(m, f, o);
	case OP_RMW:
	case OP_CMPXCHG:
		return atomic(m, f, o);
	case OP_RELATIVE:
		return relative(m, f, o);
	case OP_TLS:
		return put(m, f, o->d,
			   (struct val){
				   object_address(current_thread(m)->tls_first + (uint32_t)o->imm),
				   0 });
	case OP_BR:
	case OP_BREQ:
	case OP_BRNE:
	case OP_BRULT:
	case OP_BRULE:
	case OP_BRSLT64:
	case OP_BRSLE64:
	case OP_BRSLT32:
	case OP_BRSLE32:
	case OP_BRSLTN:
	case OP_BRSLEN:
		return branch(m, f, o);
	case OP_SWITCH:
		return switch_on(m, f, o);
	case OP_CALL:
		if (m->guide->sites) {
			bool done = false;

			st = m->guide->sites->call(m, f, o, m->ir->functions.data[o->b], &done);
			if (st || done)
				return st;
			if (site_here(f) && !m->ir->functions.data[o->b]->declared_only)
				return slow_call(m, f, o, m->ir->functions.data[o->b]);
		}
		if (m->ir->functions.data[o->b]->declared_only)
			return call_unknown(m, f, o, m->ir->functions.data[o->b]);
		if ((uint32_t)(o->imm >> 32) < m->ir->functions.data[o->b]->nparams)
			return machine_fault(m, SYM_UNSUPPORTED,
					     "a call of %s with too few arguments",
					     m->ir->functions.data[o->b]->name);
		return machine_fault(m, SYM_STACK, "recursion deeper than %u calls", f->depth);
	case OP_CALLI:
		return indirect_call(m, f, o);
	case OP_BUILTIN:
		if (m->guide->sites && site_here(f)) {
			bool done = false;

			st = m->guide->sites->call(m, f, o, NULL, &done);
			if (st || done)
				return st;
		}
		return call_builtin(m, f, o);
	case OP_RET: /* of the thread's first function */
		return thread_finish(m, (o->imm >> 32) ? get_reg(f, (int32_t)o->imm)
						       : (struct val){ 0 });
	case OP_VASTART:
		return va_start_op(m, f, o);
	case OP_STACKSAVE:
		return put(m, f, o->d, (struct val){ f->allocas, 0 });
	case OP_STACKRESTORE:
		mem_release_to(m, f, (uint32_t)f->r[o->a]);
		return next(f);
	case OP_LANDING:
		set_reg(m, f, o->d, (struct val){ current_thread(m)->exception, 0 });
		return put(m, f, o->d + 1, (struct val){ current_thread(m)->handler, 0 });
	case OP_RESUME:
		return unwind(m, machine_concretise(m, get_reg(f, o->a), 64, "an exception"));
	case OP_UNREACHABLE:
		return machine_fault(m, SYM_UNREACHABLE,
				     "code that the compiler was promised never runs");
	case OP_UNSUPPORTED:
		return machine_fault(m, SYM_UNSUPPORTED, "%s", m->ir->messages.data[o->imm]);
	default:
		BUG("operation %s in the slow path", op_name(o->code));
	}
}
