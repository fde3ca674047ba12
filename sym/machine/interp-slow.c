/* sym/machine/interp-slow.c - the operations that the inner loop hands over: those with an expression among
 * their operands, and those that are rare or long.
 *
 * This file holds the branches and calls and says who does the rest. */
#include "sym/machine/interp-slow.h"

#include <string.h>

/* Behind a decision: the guide may take the state back into its queue. */
static enum stop parked(struct machine *m)
{
	return m->guide->park && m->guide->park(m, m->s) ? STOP_PARK : STOP_NONE;
}

static enum stop branch(struct machine *m, struct frame *f, const struct op *o)
{
	uint32_t yes = (uint32_t)o->imm, no = (uint32_t)(o->imm >> 32);
	expr_id cond;

	if (o->code == OP_BR) {
		cond = slow_operand(m, f, o->a, 1);
	} else {
		cond = expr_binary(&m->exprs, slow_binary_op(o->code),
				   slow_operand(m, f, o->a, o->w), slow_operand(m, f, o->b, o->w));
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
	return m->halted ? STOP_END : parked(m);
}

/* The recording says which successor it was; the value must agree. */
static enum stop recorded_switch(struct machine *m, struct frame *f, const struct op *o,
				 const struct switch_table *t, expr_id v)
{
	struct exprs *e = &m->exprs;
	expr_id cond = expr_const(e, 1, 1);
	uint32_t arm, target = t->targets[t->n];
	enum stop st = m->guide->sites->pick(m, t, v, &arm);

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
	expr_id v = slow_operand(m, f, o->a, o->w);

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
			return parked(m);
		}
	}
	f->pc = t->targets[t->n];
	return parked(m);
}

static enum stop va_start_op(struct machine *m, struct frame *f, const struct op *o)
{
	uint64_t list = machine_concretise(m, get_reg(f, o->a), 64, "a va_list");
	/* gp_offset 48 and fp_offset 176: every argument register is used up */
	uint64_t fields[3] = { 48 | 176ull << 32, f->r[o->b], 0 };
	enum stop st = mem_write(m, list, fields, sizeof(fields));

	return st ? st : slow_next(f);
}

static enum stop indirect_call(struct machine *m, struct frame *f, const struct op *o)
{
	struct val pointer = get_reg(f, o->a);
	enum stop decided = machine_decide(m, &pointer, 64, "a function pointer");
	uint64_t to = pointer.c;
	struct function *callee = ir_function_at(m->ir, to);
	uint32_t n = (uint32_t)(o->imm >> 32);
	struct val args[64];

	if (decided)
		return decided;
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
		return slow_divide(m, f, o);
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
		return slow_put(m, f, o->d,
				expr_val(m, expr_binary(e, slow_binary_op(o->code),
							slow_operand(m, f, o->a, o->w),
							slow_operand(m, f, o->b, o->w))));
	case OP_NE:
		return slow_put(
			m, f, o->d,
			expr_val(m,
				 expr_not(e, expr_binary(e, EX_EQ, slow_operand(m, f, o->a, o->w),
							 slow_operand(m, f, o->b, o->w)))));
	case OP_TRUNC:
		c = get_reg(f, o->a).x;
		return slow_put(
			m, f, o->d,
			expr_val(m, expr_get(e, c)->w <= o->w ? c : expr_extract(e, c, 0, o->w)));
	case OP_SEXT:
		return slow_put(m, f, o->d,
				expr_val(m, expr_sext(e, slow_operand(m, f, o->a, o->w), o->aux)));
	case OP_SELECT:
		c = slow_operand(m, f, o->a, 1);
		if (m->guide->sites && site_here(f)) {
			bool yes = machine_branch(m, c, 0, 0);

			return m->halted ? STOP_END
					 : slow_put(m, f, o->d,
						    get_reg(f, yes ? o->b : (int32_t)o->imm));
		}
		return slow_put(m, f, o->d,
				expr_val(m, expr_ite(e, c, slow_operand(m, f, o->b, o->w),
						     slow_operand(m, f, (int32_t)o->imm, o->w))));
	case OP_GEP:
		return slow_put(m, f, o->d, slow_address(m, f, o, true));
	case OP_INTRIN2:
	case OP_INTRIN3:
		return slow_intrinsic(m, f, o);
	case OP_OVERFLOW:
		return slow_overflow(m, f, o);
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
		return slow_fp(m, f, o);
	case OP_FMATH:
		return slow_fmath(m, f, o);
	case OP_LDBIN:
	case OP_LDCMP:
	case OP_LDCONV:
		return slow_long_double(m, f, o);
	case OP_WBIN:
	case OP_WCMP:
	case OP_WCONV:
		return slow_wide(m, f, o);
	case OP_LOAD8:
	case OP_LOAD16:
	case OP_LOAD32:
	case OP_LOAD64:
	case OP_LOADN:
		return slow_load(m, f, o, false);
	case OP_LOADX8:
	case OP_LOADX16:
	case OP_LOADX32:
	case OP_LOADX64:
		return slow_load(m, f, o, true);
	case OP_STORE8:
	case OP_STORE16:
	case OP_STORE32:
	case OP_STORE64:
	case OP_STOREN:
		return slow_store(m, f, o, false);
	case OP_STOREX8:
	case OP_STOREX16:
	case OP_STOREX32:
	case OP_STOREX64:
		return slow_store(m, f, o, true);
	case OP_ALLOCA:
	case OP_ALLOCAV:
		return slow_allocate(m, f, o);
	case OP_MEMCPY:
	case OP_MEMMOVE:
	case OP_MEMSET:
		return slow_block_op(m, f, o);
	case OP_RMW:
	case OP_CMPXCHG:
		return slow_atomic(m, f, o);
	case OP_RELATIVE:
		return slow_relative(m, f, o);
	case OP_TLS:
		return slow_put(m, f, o->d,
				(struct val){ object_address(current_thread(m)->tls_first +
							     (uint32_t)o->imm),
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
		if (m->ir->functions.data[o->b]->watched && m->guide->called)
			m->guide->called(m, f, f->pc);
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
		return slow_put(m, f, o->d, (struct val){ f->allocas, 0 });
	case OP_STACKRESTORE:
		mem_release_to(m, f, (uint32_t)f->r[o->a]);
		return slow_next(f);
	case OP_LANDING:
		set_reg(m, f, o->d, (struct val){ current_thread(m)->exception, 0 });
		return slow_put(m, f, o->d + 1, (struct val){ current_thread(m)->handler, 0 });
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
