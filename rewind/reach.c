/* rewind/reach.c - see reach.h.
 *
 * Why this file is long: one computation, what a part of the code may write, over one set of shapes.
 *
 * Registers are followed along all jumps as "what register k held at the beginning, plus a number", as rewind/fixed.h does
 * with the frame. What is read from memory is not known, and a store through it is loose. Only blocks count that lie on a way
 * from the beginning to the end; what ends in abort() does not come back.
 *
 * What we take for granted: a function gives back the registers that callees keep, and an element of an array on the part's
 * own stack lies on that stack. */
#include "rewind/reach.h"

#include "base/mem.h"
#include "debug/dump.h"
#include "rewind/fixed.h"
#include "rewind/step.h"
#include "sym/value/expr.h"

#include <elf.h>
#include <string.h>

enum {
	ROUNDS = 40,
	MOST_LOOSE = 256,
	MOST_WRITES = 256,
	MOST_BLOCKS = 1500,
	MOST_FUNCTIONS = 4000
};

enum shape_kind { SHAPE_NOT_REACHED, SHAPE_NUMBER, SHAPE_ENTRY, SHAPE_ANY };

/* Registers of a shape: the general ones, then the words on the stack at the beginning, from its pointer up. */
enum { SHAPE_SLOTS = 16, MOST_SLOTS = 200 };

/* What a register or a temporary holds. */
struct shape {
	uint8_t kind, reg;
	bool indexed; /* and something that is not known */
	uint64_t number;
};

struct shapes {
	struct shape regs[16];
};

struct reaches {
	struct history *h;
	struct map functions; /* low -> struct reach * */
	struct map parts;     /* hash -> struct reach * */
	struct map befores;   /* low -> uint32_t *, one per block */
	VEC(struct reach *) all;
	VEC(uint32_t *) orders;
	size_t nfunctions;
	bool has_tables;
	VEC(uint64_t) tables; /* of virtual functions */
	uint32_t depth,
		lowest; /* of the functions that are being looked at; the outermost that was called again */
	struct reach library;
};

struct reaches *reaches_new(struct history *h)
{
	struct reaches *r = xcalloc(1, sizeof(*r));

	r->h = h;
	r->lowest = UINT32_MAX;
	return r;
}

void reaches_free(struct reaches *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->all.len; i++) {
		vec_deinit(&r->all.data[i]->writes);
		vec_deinit(&r->all.data[i]->loose);
		free(r->all.data[i]);
	}
	for (size_t i = 0; i < r->orders.len; i++)
		free(r->orders.data[i]);
	vec_deinit(&r->all);
	vec_deinit(&r->tables);
	vec_deinit(&r->library.writes);
	vec_deinit(&r->orders);
	map_deinit(&r->functions);
	map_deinit(&r->parts);
	map_deinit(&r->befores);
	free(r);
}

static struct reach *new_reach(struct reaches *r)
{
	struct reach *x = xcalloc(1, sizeof(*x));

	vec_push(&r->all, x);
	return x;
}

/* ---- ways between blocks ---- */

struct edges {
	uint32_t to[64];
	unsigned n;
	bool more; /* it has others, that are not known */
};

static void add_edge(const struct function *f, uint64_t to, struct edges *e)
{
	const struct block *b = function_block(f, to);

	if (!b || b->start != to)
		return;
	if (e->n < ARRAY_SIZE(e->to))
		e->to[e->n++] = (uint32_t)(b - f->blocks.data);
	else
		e->more = true;
}

static bool never_returns(struct reaches *r, const struct function *f, const struct insn *call)
{
	static const char *const names[] = { "abort",
					     "exit",
					     "_exit",
					     "__assert_fail",
					     "__stack_chk_fail",
					     "_Unwind_Resume",
					     "__cxa_throw",
					     "__cxa_rethrow",
					     "longjmp",
					     "__longjmp_chk",
					     "siglongjmp",
					     "__fortify_fail",
					     "_ZSt9terminatev",
					     "__chk_fail",
					     "err",
					     "errx" };
	const char *name = code_import(r->h->code, f, call);

	for (size_t i = 0; name && i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return name && strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw_");
}

static void edges_of(struct reaches *r, const struct function *f, uint32_t block, struct edges *e)
{
	const struct block *b = &f->blocks.data[block];
	const struct insn *last = &f->insns.data[b->first + b->n - 1];
	const struct lift_op *ops = insn_ops(f, last), *end = block_end(f, b);

	*e = (struct edges){ 0 };
	for (unsigned i = 0; i < last->nops; i++)
		if (ops[i].kind == LIFT_EXIT)
			add_edge(f, ops[i].imm, e);
	if (end->kind == LIFT_REFUSE) {
		e->more = true;
		add_edge(f, b->end, e);
	} else if (end->w == LIFT_CALL) {
		if (!never_returns(r, f, last))
			add_edge(f, b->end, e);
	} else if ((end->w == LIFT_JUMP || end->w == LIFT_SYSCALL) && !end->a) {
		add_edge(f, end->imm, e);
	}
	for (size_t i = 0;
	     end->kind == LIFT_NEXT && end->w == LIFT_JUMP && end->a && i < f->indirect.len; i++)
		add_edge(f, f->indirect.data[i], e);
}

static const uint8_t arguments[] = { LIFT_RDI, LIFT_RSI, LIFT_RDX, LIFT_RCX, LIFT_R8, LIFT_R9 };

/* ---- shapes ---- */

static struct shape any(void)
{
	return (struct shape){ .kind = SHAPE_ANY };
}

static struct shape a_number(uint64_t n)
{
	return (struct shape){ .kind = SHAPE_NUMBER, .number = n };
}

static bool same(struct shape a, struct shape b)
{
	return a.kind == b.kind && a.reg == b.reg && a.number == b.number && a.indexed == b.indexed;
}

static struct shape join(struct shape a, struct shape b)
{
	if (a.kind == SHAPE_NOT_REACHED)
		return b;
	if (b.kind == SHAPE_NOT_REACHED || same(a, b))
		return a;
	if (a.kind == b.kind && a.kind != SHAPE_ANY && a.reg == b.reg && a.kind == SHAPE_ENTRY) {
		a.number = 0;
		a.indexed = true;
		return a;
	}
	return any();
}

static struct shape add(struct shape a, struct shape b, bool minus)
{
	uint64_t n = minus ? a.number - b.number : a.number + b.number;

	if (b.kind == SHAPE_NUMBER && a.kind != SHAPE_ANY) {
		a.number = n;
		return a;
	}
	if (!minus && a.kind == SHAPE_NUMBER)
		return add(b, a, false);
	if (a.kind == SHAPE_ENTRY && b.kind == SHAPE_ANY && !minus) {
		a.indexed = true;
		return a;
	}
	if (!minus && a.kind == SHAPE_ANY && b.kind == SHAPE_ENTRY)
		return add(b, a, false);
	return any();
}

static struct shape compute(const struct lift_op *op, struct shape a, struct shape b)
{
	static const uint8_t ops[LIFT_KINDS] = {
#define X(NAME) [LIFT_##NAME] = EX_##NAME,
#include "lift/lifted.def"
#undef X
	};

	if ((op->kind == LIFT_ADD || op->kind == LIFT_SUB) && op->w == 64)
		return add(a, b, op->kind == LIFT_SUB);
	if (op->kind == LIFT_AND && op->w == 64 && a.kind == SHAPE_ENTRY && a.reg == LIFT_RSP) {
		a.indexed = true; /* a stack that is aligned */
		return a;
	}
	if (a.kind != SHAPE_NUMBER)
		return any();
	if (op->kind == LIFT_ZEXT)
		return a;
	if (op->kind == LIFT_EXTRACT)
		return a_number(a.number >> op->imm & mask_of(op->w));
	if (b.kind != SHAPE_NUMBER || op->kind == LIFT_ITE || op->kind == LIFT_SEXT ||
	    op->kind == LIFT_CONCAT || (op->kind >= LIFT_EQ && op->kind <= LIFT_SLE))
		return any();
	return a_number(expr_fold(ops[op->kind], op->w, a.number, b.number));
}

/* ---- what one part does ---- */

struct part {
	struct reaches *r;
	const struct function *f;
	struct reach *ret;
	bool *in;	   /* per block */
	struct shapes *at; /* per block: at its beginning */
	bool whole;	   /* a function: below its frame nothing counts */
	bool second;	   /* what was stored on the own stack is known */
	struct map slots;  /* offset on the stack -> index in `stored` + 1 */
	VEC(struct shape) stored;
	struct shape temps[LIFT_MAX_OPS + 1];
};

/* A word on the stack, whatever writes to it in the part. */
static struct shape *slot_of(struct part *p, const struct shape *at, bool make)
{
	uint64_t *i;

	if (at->kind != SHAPE_ENTRY || at->reg != LIFT_RSP || at->indexed)
		return NULL;
	i = map_find(&p->slots, at->number);
	if (!i && !make)
		return NULL;
	if (!i) {
		vec_push(&p->stored, ((struct shape){ 0 }));
		i = map_put(&p->slots, at->number, p->stored.len);
	}
	return &p->stored.data[*i - 1];
}

static void store_slot(struct part *p, const struct shape *at, unsigned w,
		       const struct shape *value)
{
	struct shape *slot = p->second ? NULL : slot_of(p, at, true), part = *at;

	if (!slot)
		return;
	*slot = w == 64 ? join(*slot, *value) : any();
	for (unsigned i = 1; i < 8; i++) { /* words that overlap */
		part.number = at->number + i;
		if (i < w / 8 && (slot = slot_of(p, &part, true)))
			*slot = any();
		part.number = at->number - i;
		if ((slot = slot_of(p, &part, false)))
			*slot = any();
	}
}

static struct shape load_slot(struct part *p, const struct shape *at, unsigned w)
{
	const struct shape *slot = slot_of(p, at, false);

	if (!p->second || w != 64 || at->kind != SHAPE_ENTRY || at->reg != LIFT_RSP || at->indexed)
		return any();
	if (slot)
		return (int64_t)at->number < 0 || p->whole ? *slot : any();
	if (at->number % 8 || at->number / 8 >= MOST_SLOTS || p->whole)
		return any();
	return (struct shape){ .kind = SHAPE_ENTRY,
			       .reg = (uint8_t)(SHAPE_SLOTS + at->number / 8) };
}

static void give_up(struct part *p, const char *why)
{
	if (!p->ret->opaque)
		p->ret->opaque = why;
}

static bool keeps(unsigned reg)
{
	return reg == LIFT_RBX || reg == LIFT_RBP || reg == LIFT_RSP || reg >= LIFT_R12;
}

/* Is it below what the stack held at the part's beginning? */
static bool is_own_stack(const struct shape *s)
{
	return s->kind == SHAPE_ENTRY && s->reg == LIFT_RSP &&
	       ((int64_t)s->number < 0 || s->indexed);
}

static void add_loose(struct part *p, struct reach_loose l)
{
	if (p->ret->loose.len == MOST_LOOSE)
		give_up(p, "too many stores through pointers");
	else
		vec_push(&p->ret->loose, l);
}

static void add_write(struct part *p, uint64_t insn, struct shape to, uint64_t length,
		      const struct shape *value, bool is_text)
{
	struct reach_write w = { .base = to.kind == SHAPE_NUMBER ? REACH_ABSOLUTE : to.reg,
				 .offset = to.number,
				 .length = to.indexed ? 0 : length,
				 .w = (uint8_t)(length <= 8 ? 8 * length : 0) };

	if (is_own_stack(&to) && (p->whole || (int64_t)to.number < 0))
		return;
	if (is_own_stack(&to)) {
		give_up(p, "an array on the stack");
		return;
	}
	if (to.kind == SHAPE_ANY || (to.indexed && is_text)) {
		add_loose(p,
			  (struct reach_loose){ .insn = insn,
						.w = (uint8_t)(length <= 8 ? 8 * length : 0),
						.is_text = is_text,
						.has_value = value && value->kind == SHAPE_NUMBER,
						.value = value ? value->number : 0 });
		return;
	}
	for (size_t i = 0; i < p->ret->writes.len; i++) {
		const struct reach_write *k = &p->ret->writes.data[i];

		if (k->base == w.base && !k->length == !w.length && k->w == w.w &&
		    (w.length
			     ? w.offset - k->offset <= k->length - w.length && w.length <= k->length
			     : w.offset == k->offset))
			return;
	}
	if (p->ret->writes.len == MOST_WRITES)
		give_up(p, "too many writes");
	else
		vec_push(&p->ret->writes, w);
}

/* What it points to is written by a call, so many bytes; 0 = not known how many. */
static void add_target(struct part *p, uint64_t insn, const struct shapes *s, unsigned argument,
		       uint64_t length, bool is_text)
{
	struct shape to = s->regs[arguments[argument]];

	if (to.kind == SHAPE_NUMBER && to.number == 0)
		return;
	if (is_own_stack(&to) && (p->whole || (int64_t)to.number < 0))
		return;
	if (!length)
		to = any();
	add_write(p, insn, to, length, NULL, is_text);
}

static void add_summary(struct part *p, uint64_t insn, const struct effect *e,
			const struct shapes *s)
{
	struct shape n = e->length >= 0 ? s->regs[arguments[e->length]] : a_number(e->fixed);

	if (e->also >= 0)
		add_target(p, insn, s, (unsigned)e->also, e->also_bytes, false);
	switch (e->kind) {
	case EFFECT_NONE:
	case EFFECT_LENGTH:
	case EFFECT_COMPARES:
	case EFFECT_SEARCHES:
		return;
	case EFFECT_FREES:
	case EFFECT_ALLOCATES:
		p->ret->frees = true;
		p->ret->gives_back |= e->kind == EFFECT_FREES;
		return;
	case EFFECT_SCANS:
		for (unsigned i = e->where + 1u; i < ARRAY_SIZE(arguments); i++)
			if (s->regs[arguments[i]].kind == SHAPE_ENTRY)
				add_target(p, insn, s, i, 0, false);
		return;
	case EFFECT_WRITES:
	case EFFECT_COPIES:
	case EFFECT_SETS:
		if (e->scale)
			n = n.kind == SHAPE_NUMBER &&
					    s->regs[arguments[e->scale - 1]].kind == SHAPE_NUMBER
				    ? a_number(n.number * s->regs[arguments[e->scale - 1]].number)
				    : any();
		add_target(p, insn, s, e->where, n.kind == SHAPE_NUMBER ? n.number : 0, false);
		return;
	case EFFECT_TEXT:
	case EFFECT_APPENDS:
	case EFFECT_PRINTS:
		add_target(p, insn, s, e->where, 0, true);
		return;
	case EFFECT_CUTS:
		add_loose(p, (struct reach_loose){ .insn = insn, .w = 8, .has_value = true });
		return;
	case EFFECT_WIDE:
		add_target(p, insn, s, e->where, n.kind == SHAPE_NUMBER ? 4 * n.number : 0, false);
		return;
	case EFFECT_LINES:
	case EFFECT_TELLS:
		add_target(p, insn, s, e->where, 8, false);
		if (e->kind == EFFECT_LINES)
			add_target(p, insn, s, 1, 8, false);
		p->ret->frees = p->ret->gives_back = true;
		add_loose(p, (struct reach_loose){ .insn = insn, .is_text = true });
		return;
	case EFFECT_DOUBLES:
	case EFFECT_MAKES:
	case EFFECT_ZEROES:
	case EFFECT_RESIZES:
		p->ret->frees = true;
		p->ret->gives_back |= e->kind == EFFECT_RESIZES;
		add_loose(p, (struct reach_loose){ .insn = insn,
						   .is_text = e->kind == EFFECT_DOUBLES ||
							      e->kind == EFFECT_MAKES,
						   .has_value = e->kind == EFFECT_ZEROES });
		return;
	case EFFECT_SORTS:
		add_target(p, insn, s, e->where, 0, false);
		return;
	default:
		give_up(p, "a call that is not followed");
	}
}

/* What a function that is called writes, by the registers at our beginning. */
static void add_callee(struct part *p, uint64_t insn, const struct reach *callee,
		       const struct shapes *s)
{
	if (callee->opaque)
		give_up(p, callee->opaque);
	if (callee->open) /* this function itself */
		return;
	p->ret->frees |= callee->frees;
	p->ret->gives_back |= callee->gives_back;
	for (size_t i = 0; i < callee->writes.len; i++) {
		const struct reach_write *w = &callee->writes.data[i];
		struct shape to = w->base == REACH_ABSOLUTE ? a_number(0) : s->regs[w->base];

		if (w->maybe && to.kind != SHAPE_ENTRY)
			continue;
		to = add(to, a_number(w->offset), false);
		to.indexed |= !w->length;
		add_write(p, insn, to, w->length ? w->length : w->w / 8u, NULL, false);
	}
	for (size_t i = 0; i < callee->loose.len; i++)
		add_loose(p, callee->loose.data[i]);
}

/* ---- calls through tables of virtual functions ---- */

static bool is_code(struct reaches *r, uint64_t address)
{
	const struct dump_module *m = dump_module_at(r->h->dump, address);
	const struct text *t;
	const struct text_range *f;
	const char *why;

	if (!m || !(t = code_text(r->h->code, m, &why)))
		return false;
	f = text_function(t, address - m->bias);
	return f && f->low == address - m->bias;
}

/* Tables as C++ has them: the distance to the object's beginning, the type, functions. */
static void find_tables(struct reaches *r)
{
	const struct dump *d = r->h->dump;

	r->has_tables = true;
	for (size_t i = 0; i < d->segments.len; i++) {
		const struct dump_segment *s = &d->segments.data[i];
		const struct dump_module *m = dump_module_at(d, s->address);
		uint64_t w[3];

		if (!m || strstr(m->path, ".so") || s->flags & PF_X || s->size > 1 << 22)
			continue;
		for (uint64_t at = s->address; at + sizeof(w) <= s->address + s->size; at += 8)
			if (dump_read(d, at, w, sizeof(w)) && (int64_t)w[0] <= 0 &&
			    (int64_t)w[0] > -4096 && dump_module_at(d, w[1]) && is_code(r, w[2]))
				vec_push(&r->tables, at + 16);
	}
}

/* A temporary is an entry of a table: offset(%rax). */
static bool entry_of(const struct lift_op *ops, const struct lift_op *end, uint16_t temp,
		     uint64_t *ret)
{
	for (const struct lift_op *op = ops; op < end; op++) {
		if (op->kind != LIFT_LOAD || op->dst != temp)
			continue;
		for (const struct lift_op *k = ops; k < op; k++) {
			if (k->dst != op->a)
				continue;
			*ret = 0;
			if (k->kind == LIFT_GET)
				return k->imm != LIFT_RSP;
			if (k->kind != LIFT_ADD)
				return false;
			for (const struct lift_op *c = ops; c < k; c++)
				if (c->dst == k->b && c->kind == LIFT_CONST) {
					*ret = c->imm;
					return true;
				}
		}
	}
	return false;
}

static bool add_entry(struct part *p, uint64_t insn, uint64_t entry, const struct shapes *s);

/* The function was read into the register somewhere else. */
static bool add_by_register(struct part *p, const struct insn *call, const struct shapes *s)
{
	const struct lift_op *ops = insn_ops(p->f, call), *end = ops + call->nops - 1;
	unsigned reg = 16;
	bool found = false;

	for (const struct lift_op *op = ops; op < end; op++)
		if (op->dst == end->a && op->kind == LIFT_GET && op->imm < 16)
			reg = (unsigned)op->imm;
	for (size_t i = 0; reg < 16 && i < p->f->insns.len; i++) {
		const struct insn *in = &p->f->insns.data[i];
		const struct lift_op *o = insn_ops(p->f, in), *last = o + in->nops - 1, *put = NULL;
		uint64_t entry;

		for (const struct lift_op *k = o; k < last; k++)
			if (k->kind == LIFT_PUT && k->imm == reg)
				put = k;
		if (!put || !entry_of(o, last, put->a, &entry))
			continue;
		found |= add_entry(p, call->address, entry, s);
	}
	return found;
}

/* It called the function with this number in one of the tables. False: it is no such call. */
static bool add_virtual(struct part *p, const struct insn *in, const struct shapes *s)
{
	const struct lift_op *ops = insn_ops(p->f, in), *end = ops + in->nops - 1;
	uint64_t entry;

	if (end->kind != LIFT_NEXT || !end->a)
		return false;
	return entry_of(ops, end, end->a, &entry) ? add_entry(p, in->address, entry, s)
						  : add_by_register(p, in, s);
}

static bool add_entry(struct part *p, uint64_t insn, uint64_t entry, const struct shapes *s)
{
	struct map seen = { 0 };

	if (entry > 4096 || entry % 8)
		return false;
	if (!p->r->has_tables)
		find_tables(p->r);
	for (size_t i = 0; i < p->r->tables.len; i++) {
		uint64_t to;

		for (uint64_t at = 0; at <= entry; at += 8)
			if (!dump_read(p->r->h->dump, p->r->tables.data[i] + at, &to, 8) ||
			    !is_code(p->r, to))
				to = 0, at = entry;
		if (!to || map_find(&seen, to))
			continue;
		map_put(&seen, to, 1);
		add_callee(p, insn, reach_of_function(p->r, to), s);
	}
	entry = seen.len;
	map_deinit(&seen);
	return entry > 0;
}

/* ---- calls through variables ---- */

/* A function's address in memory that lies at a fixed place. It is taken to have been the same then. */
static struct shape load_function(struct part *p, const struct shape *at)
{
	uint64_t v;

	return at->kind == SHAPE_NUMBER && dump_read(p->r->h->dump, at->number, &v, 8) &&
			       is_code(p->r, v)
		       ? a_number(v)
		       : any();
}

/* What a temporary of the call holds, by the registers. */
static struct shape shape_of(struct part *p, const struct lift_op *ops, const struct lift_op *end,
			     uint16_t temp, const struct shapes *s)
{
	for (const struct lift_op *op = ops; op < end; op++) {
		struct shape a;

		if (op->dst != temp)
			continue;
		switch (op->kind) {
		case LIFT_CONST:
			return a_number(op->imm);
		case LIFT_GET:
			return op->imm < 16 ? s->regs[op->imm] : any();
		case LIFT_ADD:
			return add(shape_of(p, ops, op, op->a, s), shape_of(p, ops, op, op->b, s),
				   false);
		case LIFT_LOAD:
			a = shape_of(p, ops, op, op->a, s);
			return op->w == 64 ? load_function(p, &a) : any();
		default:
			return any();
		}
	}
	return any();
}

/* Where a call through a variable or register leads; 0 = not known. */
static uint64_t target_of(struct part *p, const struct insn *in, const struct shapes *s)
{
	const struct lift_op *ops = insn_ops(p->f, in), *end = ops + in->nops - 1;
	struct shape to = any();

	if (end->kind == LIFT_NEXT && end->a)
		to = shape_of(p, ops, end, end->a, s);
	return to.kind == SHAPE_NUMBER && is_code(p->r, to.number) ? to.number : 0;
}

static void add_call(struct part *p, const struct insn *in, const struct shapes *s)
{
	struct code *code = p->r->h->code;
	const char *name = code_import(code, p->f, in);
	uint64_t to = code_target(code, p->f, in);
	const struct effect *e = name ? effect_of(&p->r->h->arena, name, 0) : NULL;

	if (!to && !name)
		to = target_of(p, in, s);
	p->ret->calls = true;
	if (name && never_returns(p->r, p->f, in))
		return;
	if (e)
		add_summary(p, in->address, e, s);
	else if (name && to && !is_code(p->r, code_behind_stub(code, to)))
		return; /* the loader has not looked for it yet: this call never ran */
	else if (name && !strstr(name, "_Z"))
		add_callee(p, in->address, reach_of_library(p->r), s);
	else if (!to && !add_virtual(p, in, s))
		give_up(p, "a call through a pointer");
	else if (!to)
		return;
	else
		add_callee(p, in->address, reach_of_function(p->r, code_behind_stub(code, to)), s);
}

/* collect: note what it writes. */
static void run_insn(struct part *p, const struct insn *in, struct shapes *s, bool collect)
{
	const struct lift_op *ops = insn_ops(p->f, in);

	for (unsigned i = 0; i < in->nops; i++) {
		const struct lift_op *op = &ops[i];

		switch (op->kind) {
		case LIFT_CONST:
			p->temps[op->dst] = a_number(op->imm);
			break;
		case LIFT_GET:
			p->temps[op->dst] = op->imm < 16 ? s->regs[op->imm] : any();
			break;
		case LIFT_PUT:
			if (op->imm < 16) {
				s->regs[op->imm] = p->temps[op->a];
				if (op->imm != LIFT_RSP)
					p->ret->registers |= (uint16_t)(1u << op->imm);
			}
			break;
		case LIFT_STORE:
			store_slot(p, &p->temps[op->a], op->w, &p->temps[op->b]);
			if (collect)
				add_write(p, in->address, p->temps[op->a], op->w / 8,
					  &p->temps[op->b], false);
			break;
		case LIFT_LOAD:
			p->temps[op->dst] = load_slot(p, &p->temps[op->a], op->w);
			if (p->temps[op->dst].kind == SHAPE_ANY && op->w == 64)
				p->temps[op->dst] = load_function(p, &p->temps[op->a]);
			break;
		case LIFT_OPAQUE:
			p->temps[op->dst] = any();
			break;
		case LIFT_EXIT:
		case LIFT_NEXT:
			break;
		case LIFT_REFUSE:
			give_up(p, "an instruction that is not known");
			break;
		default:
			p->temps[op->dst] = compute(op, p->temps[op->a], p->temps[op->b]);
		}
	}
}

static void behind_call(struct shapes *s)
{
	for (unsigned i = 0; i < 16; i++)
		if (!keeps(i))
			s->regs[i] = any();
	s->regs[LIFT_RSP] = add(s->regs[LIFT_RSP], a_number(8), false);
}

static bool flow_into(struct shapes *to, const struct shapes *from)
{
	bool changed = false;

	for (unsigned i = 0; i < 16; i++) {
		struct shape j = join(to->regs[i], from->regs[i]);

		changed |= !same(j, to->regs[i]);
		to->regs[i] = j;
	}
	return changed;
}

/* Along all jumps until nothing changes. */
static void settle(struct part *p)
{
	bool changed = true;
	struct edges e;

	for (int round = 0; changed; round++) {
		changed = false;
		if (round == ROUNDS) {
			give_up(p, "too many ways through it");
			return;
		}
		for (uint32_t i = 0; i < p->f->blocks.len; i++) {
			const struct block *b = &p->f->blocks.data[i];
			struct shapes s = p->at[i];

			if (!p->in[i] || s.regs[LIFT_RSP].kind == SHAPE_NOT_REACHED)
				continue;
			for (uint32_t k = 0; k < b->n; k++)
				run_insn(p, &p->f->insns.data[b->first + k], &s, false);
			if (block_end(p->f, b)->kind == LIFT_NEXT &&
			    block_end(p->f, b)->w == LIFT_CALL)
				behind_call(&s);
			edges_of(p->r, p->f, i, &e);
			for (unsigned k = 0; k < e.n; k++)
				if (p->in[e.to[k]])
					changed |= flow_into(&p->at[e.to[k]], &s);
		}
	}
}

/* Again, with what was stored on the stack. */
static void settle_twice(struct part *p)
{
	size_t bytes = (p->f->blocks.len + 1) * sizeof(*p->at);
	struct shapes *start = memcpy(xmalloc(bytes), p->at, bytes);

	settle(p);
	p->second = true;
	memcpy(p->at, start, bytes);
	settle(p);
	free(start);
}

/* Does control leave the function here, by a jump? */
static bool jumps_out(const struct function *f, const struct lift_op *end)
{
	return end->kind == LIFT_NEXT && end->w == LIFT_JUMP &&
	       ((end->a && !f->indirect.len) ||
		(!end->a && (end->imm < f->low || end->imm >= f->high)));
}

static void collect_block(struct part *p, uint32_t block, struct shapes *s)
{
	const struct block *b = &p->f->blocks.data[block];
	const struct insn *last = &p->f->insns.data[b->first + b->n - 1];
	const struct lift_op *end = block_end(p->f, b);

	for (uint32_t k = 0; k < b->n; k++)
		run_insn(p, &p->f->insns.data[b->first + k], s, true);
	if (end->kind != LIFT_NEXT)
		return;
	if (end->w == LIFT_SYSCALL)
		give_up(p, "a system call");
	if (end->w == LIFT_CALL || (p->whole && jumps_out(p->f, end)))
		add_call(p, last, s);
}

/* Behind all of it: what may have changed. */
static void finish(struct part *p)
{
	for (uint32_t i = 0; i < p->f->blocks.len; i++) {
		struct shapes s = p->at[i];

		if (p->in[i] && s.regs[LIFT_RSP].kind != SHAPE_NOT_REACHED)
			collect_block(p, i, &s);
	}
}

static void mark_calls(struct part *p)
{
	for (unsigned i = 0; p->ret->calls && i < 16; i++)
		if (!keeps(i))
			p->ret->registers |= (uint16_t)(1u << i);
}

/* ---- whole functions ---- */

/* It jumps to a rarely executed part of it, which lies elsewhere and from which nothing returns: it ends in abort() or throws. */
static bool jumps_to_end(struct reaches *r, const struct function *f, const struct lift_op *end)
{
	const char *why;
	const struct function *g;

	if (end->kind != LIFT_NEXT || end->w != LIFT_JUMP || end->a ||
	    (end->imm >= f->low && end->imm < f->high))
		return false;
	g = code_function(r->h->code, end->imm, &why);
	if (!g || g->incomplete || !g->is_part)
		return false;
	for (size_t i = 0; i < g->insns.len; i++) {
		const struct lift_op *op = insn_ops(g, &g->insns.data[i]);
		const struct lift_op *last = op + g->insns.data[i].nops - 1;

		for (; op <= last; op++)
			if ((op->kind == LIFT_EXIT && (op->imm < g->low || op->imm >= g->high)) ||
			    (op->kind == LIFT_NEXT && (op->w == LIFT_RETURN || jumps_out(g, op))))
				return false;
	}
	return true;
}

/* Blocks from which the function is left: the others end in abort() and the like. */
static void find_coming_back(struct reaches *r, const struct function *f, bool *in)
{
	bool changed = true;
	struct edges e;

	for (uint32_t i = 0; i < f->blocks.len; i++) {
		const struct lift_op *end = block_end(f, &f->blocks.data[i]);

		in[i] = (end->kind == LIFT_NEXT && end->w == LIFT_RETURN) ||
			(jumps_out(f, end) && !jumps_to_end(r, f, end));
	}
	while (changed) {
		changed = false;
		for (uint32_t i = (uint32_t)f->blocks.len; i-- > 0;) {
			edges_of(r, f, i, &e);
			for (unsigned k = 0; !in[i] && k < e.n; k++)
				changed |= in[i] = in[e.to[k]];
		}
	}
}

/* It calls itself with other arguments. */
static void loosen(struct part *p)
{
	for (size_t i = 0; i < p->ret->writes.len; i++) {
		const struct reach_write *w = &p->ret->writes.data[i];

		if (w->base != REACH_ABSOLUTE)
			add_loose(p, (struct reach_loose){ .w = w->w });
	}
}

const struct reach *reach_of_library(struct reaches *r)
{
	struct reach *x = &r->library;

	if (x->calls)
		return x;
	x->calls = x->frees = x->gives_back = true;
	for (unsigned i = 0; i < 4; i++)
		vec_push(&x->writes, ((struct reach_write){ .base = arguments[i], .maybe = true }));
	for (unsigned i = 0; i < 16; i++)
		if (!keeps(i))
			x->registers |= (uint16_t)(1u << i);
	return x;
}

static void find_function(struct reaches *r, const struct function *f, struct reach *ret)
{
	struct part *p = xcalloc(1, sizeof(*p));

	*p = (struct part){ .r = r,
			    .f = f,
			    .ret = ret,
			    .whole = true,
			    .in = xcalloc(f->blocks.len + 1, sizeof(bool)),
			    .at = xcalloc(f->blocks.len + 1, sizeof(struct shapes)) };
	ret->open = true;
	find_coming_back(r, f, p->in);
	for (unsigned i = 0; i < 16; i++)
		p->at[0].regs[i] = (struct shape){ .kind = SHAPE_ENTRY, .reg = (uint8_t)i };
	settle_twice(p);
	finish(p);
	ret->calls = true;
	ret->registers = 0;
	ret->open = false;
	mark_calls(p);
	if (ret->calls_itself)
		loosen(p);
	map_deinit(&p->slots);
	vec_deinit(&p->stored);
	free(p->in);
	free(p->at);
	free(p);
}

const struct reach *reach_of_function(struct reaches *r, uint64_t address)
{
	const char *why;
	const struct function *f = code_function(r->h->code, address, &why);
	uint64_t *known = f ? map_find(&r->functions, f->low) : NULL;
	struct reach *x;

	if (known) {
		x = (struct reach *)(uintptr_t)*known;
		if (x && x->open) { /* it calls itself, perhaps through others */
			x->calls_itself = true;
			r->lowest = MIN(r->lowest, x->depth);
		}
		if (x)
			return x;
	}
	x = new_reach(r);
	if (!f || f->low != address || f->incomplete || f->blocks.len > MOST_BLOCKS ||
	    r->nfunctions++ > MOST_FUNCTIONS || history_over(r->h)) {
		x->opaque = "code that cannot be read";
		return x;
	}
	*map_put(&r->functions, f->low, 0) = (uint64_t)(uintptr_t)x;
	x->depth = ++r->depth;
	find_function(r, f, x);
	if (r->lowest < r->depth) /* what it was told of a function around it was not all */
		*map_put(&r->functions, f->low, 0) = 0;
	else
		r->lowest = UINT32_MAX;
	r->depth--;
	return x;
}

/* ---- between two blocks ---- */

/* For each block the last one that every way to it goes through (Cooper, Harvey and Kennedy 2001). */
struct order {
	uint32_t *number; /* per block, in reverse postorder from 1 on; 0 = not reached */
	uint32_t *blocks; /* by that number */
	uint32_t n;
};

static void visit(struct reaches *r, const struct function *f, uint32_t at, struct order *o,
		  bool *seen)
{
	struct edges e;

	seen[at] = true;
	edges_of(r, f, at, &e);
	for (unsigned i = 0; i < e.n; i++)
		if (!seen[e.to[i]])
			visit(r, f, e.to[i], o, seen);
	o->blocks[o->n++] = at;
}

static uint32_t meet(const uint32_t *before, const uint32_t *number, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (number[a] < number[b]) /* postorder: later blocks have smaller numbers */
			a = before[a];
		while (number[b] < number[a])
			b = before[b];
	}
	return a;
}

static uint32_t *find_befores(struct reaches *r, const struct function *f)
{
	uint32_t n = (uint32_t)f->blocks.len;
	uint32_t *before = xcalloc(n + 1, sizeof(*before));
	struct order o = { .number = xcalloc(n + 1, sizeof(uint32_t)),
			   .blocks = xcalloc(n + 1, sizeof(uint32_t)) };
	bool *seen = xcalloc(n + 1, sizeof(*seen)), changed = true;
	struct edges e;

	visit(r, f, 0, &o, seen);
	for (uint32_t i = 0; i < n; i++)
		before[i] = UINT32_MAX;
	for (uint32_t i = 0; i < o.n; i++)
		o.number[o.blocks[i]] = i + 1;
	before[0] = 0;
	while (changed) {
		changed = false;
		for (uint32_t i = o.n; i-- > 0;) {
			uint32_t from = o.blocks[i];

			if (before[from] == UINT32_MAX)
				continue;
			edges_of(r, f, from, &e);
			for (unsigned k = 0; k < e.n; k++) {
				uint32_t to = e.to[k], x;

				if (to == 0)
					continue;
				x = before[to] == UINT32_MAX
					    ? from
					    : meet(before, o.number, before[to], from);
				changed |= x != before[to];
				before[to] = x;
			}
		}
	}
	free(o.number);
	free(o.blocks);
	free(seen);
	vec_push(&r->orders, before);
	return before;
}

bool reach_block_before(struct reaches *r, const struct function *f, uint32_t to, uint32_t *ret)
{
	uint64_t *known = map_find(&r->befores, f->low);
	const uint32_t *before;

	if (f->incomplete || f->blocks.len > MOST_BLOCKS || to == 0)
		return false;
	if (!known)
		known = map_put(&r->befores, f->low, (uint64_t)(uintptr_t)find_befores(r, f));
	before = (const uint32_t *)(uintptr_t)*known;
	*ret = before[to];
	return *ret != UINT32_MAX;
}

/* Blocks from which `to` is reached without coming through `from`. */
static void find_between(struct reaches *r, const struct function *f, uint32_t from, uint32_t to,
			 bool *in)
{
	bool changed = true;
	struct edges e;

	while (changed) {
		changed = false;
		for (uint32_t i = (uint32_t)f->blocks.len; i-- > 0;) {
			if (in[i] || i == from)
				continue;
			edges_of(r, f, i, &e);
			for (unsigned k = 0; !in[i] && k < e.n; k++)
				changed |= in[i] = e.to[k] == to || in[e.to[k]];
		}
	}
}

static bool leads_there(const struct function *f, uint64_t address, uint32_t to, const bool *in)
{
	const struct block *b = function_block(f, address);

	return b && b->start == address && (b - f->blocks.data == to || in[b - f->blocks.data]);
}

/* By which exit of the block does control get there? */
static int16_t exit_towards(const struct function *f, uint32_t from, uint32_t to, const bool *in)
{
	const struct block *b = &f->blocks.data[from];
	const struct insn *last = &f->insns.data[b->first + b->n - 1];
	const struct lift_op *ops = insn_ops(f, last), *end = block_end(f, b);
	int16_t found = REACH_SEVERAL, exit = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < last->nops; i++) {
		if (ops[i].kind != LIFT_EXIT)
			continue;
		if (leads_there(f, ops[i].imm, to, in)) {
			found = exit;
			n++;
		}
		exit++;
	}
	if (end->kind != LIFT_NEXT || end->a || end->w != LIFT_JUMP)
		return n || end->kind != LIFT_NEXT || end->w != LIFT_CALL ? REACH_SEVERAL : -1;
	if (leads_there(f, end->imm, to, in)) {
		found = -1;
		n++;
	}
	return n == 1 ? found : REACH_SEVERAL;
}

const struct reach *reach_between(struct reaches *r, const struct function *f, uint32_t from,
				  uint32_t to)
{
	uint64_t key = hash_u64(f->low ^ (uint64_t)from << 40 ^ (uint64_t)to << 20);
	uint64_t *known = map_find(&r->parts, key);
	const struct block *b = &f->blocks.data[from];
	const struct lift_op *end = block_end(f, b);
	struct part *p;
	struct shapes s;
	struct edges e;

	if (known)
		return (const struct reach *)(uintptr_t)*known;
	p = xcalloc(1, sizeof(*p));
	*p = (struct part){ .r = r,
			    .f = f,
			    .ret = new_reach(r),
			    .in = xcalloc(f->blocks.len + 1, sizeof(bool)),
			    .at = xcalloc(f->blocks.len + 1, sizeof(struct shapes)) };
	map_put(&r->parts, key, (uint64_t)(uintptr_t)p->ret);
	find_between(r, f, from, to, p->in);
	p->ret->exit = exit_towards(f, from, to, p->in);
	for (unsigned i = 0; i < 16; i++)
		s.regs[i] = (struct shape){ .kind = SHAPE_ENTRY, .reg = (uint8_t)i };
	if (end->kind == LIFT_NEXT && end->w == LIFT_CALL) {
		add_call(p, &f->insns.data[b->first + b->n - 1], &s);
		behind_call(&s);
	}
	edges_of(r, f, from, &e);
	for (unsigned i = 0; i < e.n; i++)
		if (p->in[e.to[i]])
			flow_into(&p->at[e.to[i]], &s);
	settle_twice(p);
	finish(p);
	mark_calls(p);
	const struct reach *ret = p->ret;
	map_deinit(&p->slots);
	vec_deinit(&p->stored);
	free(p->in);
	free(p->at);
	free(p);
	return ret;
}
