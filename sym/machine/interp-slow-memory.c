/* sym/machine/interp-slow-memory.c - accesses that the inner loop hands over: not in its cache, at a site,
 * with an expression as address or value; atomics, copies, stack objects. */
#include "sym/machine/interp-slow.h"

#include <string.h>

struct val slow_address(struct machine *m, struct frame *f, const struct op *o, bool indexed)
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

enum stop slow_load(struct machine *m, struct frame *f, const struct op *o, bool indexed)
{
	struct val v = { 0 }, at = slow_address(m, f, o, indexed);
	bool shared = m->guide->sites && site_here(f);
	enum stop st;

	if (shared)
		at = (struct val){ machine_concretise(m, at, 64, "the address of a shared read"),
				   0 };
	st = mem_load(m, at, o->w, &v);
	if (!st && shared)
		st = m->guide->sites->read(m, at.c, o->w, &v);
	return st ? st : slow_put(m, f, o->d, v);
}

enum stop slow_store(struct machine *m, struct frame *f, const struct op *o, bool indexed)
{
	struct val at = slow_address(m, f, o, indexed);
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
	return st ? st : slow_next(f);
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

enum stop slow_atomic(struct machine *m, struct frame *f, const struct op *o)
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
		return slow_put(m, f, o->d, a);
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
	return st ? st : slow_put(m, f, o->d, a);
}

enum stop slow_block_op(struct machine *m, struct frame *f, const struct op *o)
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
	return st ? st : slow_next(f);
}

enum stop slow_allocate(struct machine *m, struct frame *f, const struct op *o)
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
	return slow_put(m, f, o->d, (struct val){ at, 0 });
}

/* A symbolic entry may be any of the table's; which table it was is no longer known here, so every
 * address of every table is a candidate. */
enum stop slow_relative(struct machine *m, struct frame *f, const struct op *o)
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
		return slow_put(m, f, o->d,
				(struct val){ m->ir->relatives.data[v.c & ~RELATIVE_TAG], 0 });
	}
	x = expr_const(e, 64, 0);
	for (size_t i = 0; i < n; i++)
		x = expr_ite(e, expr_binary(e, EX_EQ, v.x, expr_const(e, 32, RELATIVE_TAG | i)),
			     expr_const(e, 64, m->ir->relatives.data[i]), x);
	return slow_put(m, f, o->d, expr_val(m, x));
}
