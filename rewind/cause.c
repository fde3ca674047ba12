/* rewind/cause.c - see cause.h.
 *
 * The failing instruction computed an address (or jumped to one) from registers. We take the register
 * that holds the bad pointer and follow it backwards along the suffix: to the instruction that set it, to the
 * memory that was read there, to the write that put the value there, and so on, until a constant, a
 * call that was skipped, a computation from several values, or the suffix's beginning. The oldest
 * write on that chain, or one outside its object, is what broke the program; what is known about the
 * memory makes it a kind of cause. */
#include "rewind/cause.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "debug/heap.h"
#include "rewind/rewind.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_CHAIN = 64, NEAR = 1 << 16 };

const char *cause_kind_name(enum cause_kind kind)
{
	static const char *const names[] = {
#define X(id, name) name,
		CAUSE_KINDS(X)
#undef X
	};

	return names[kind];
}

void cause_deinit(struct cause *c)
{
	free(c->text);
	vec_deinit(&c->chain);
}

/* What is being followed: a register, or bytes of memory. */
struct place {
	bool in_memory;
	unsigned reg;
	uint64_t address;
	unsigned w;
};

/* A position in the suffix, walked backwards: the instruction before it is the next to look at. */
struct cursor {
	const struct node *node;
	uint32_t piece, insn; /* behind this one */
};

struct trail {
	struct rewind *r;
	struct history *h;
	const struct past *best;
	struct place place;
	struct cursor at;
};

static const struct insn *insn_at(const struct cursor *c, const struct function **f)
{
	const struct piece *p = &c->node->step.pieces[c->piece];

	*f = p->function;
	return &p->function->insns.data[p->first + c->insn];
}

/* One instruction back; false at the suffix's beginning. */
static bool back(struct trail *t)
{
	struct cursor *c = &t->at;

	for (;;) {
		if (c->insn > 0) {
			c->insn--;
			return true;
		}
		if (c->piece > 0) {
			c->piece--;
			c->insn = c->node->step.pieces[c->piece].n;
			continue;
		}
		/* to the step before: the child on the way to the best leaf */
		const struct node *n = t->r->best;

		if (n == c->node)
			return false;
		while (n->parent != c->node)
			n = n->parent;
		if (!n->step.npieces) /* part of a longer step */
			while (!n->step.npieces && n != t->r->best) {
				const struct node *m = t->r->best;

				while (m->parent != n)
					m = m->parent;
				n = m;
			}
		if (!n->step.npieces)
			return false;
		c->node = n;
		c->piece = n->step.npieces;
		c->insn = 0;
	}
}

/* The order of the cursor's instruction in its step, as accesses count. */
static uint32_t order_of(const struct cursor *c)
{
	uint32_t n = c->insn;

	for (uint32_t i = 0; i < c->piece; i++)
		n += c->node->step.pieces[i].n;
	return n;
}

static void add_link(struct trail *t, struct link l)
{
	l.certain = t->at.node->parent == NULL || tree_is_certain(&t->r->tree, t->at.node);
	vec_push(&t->r->cause.chain, l);
}

/* The accesses of the cursor's instruction: the n-th of its kind. */
static const struct access *access_of(const struct trail *t, bool is_write, unsigned n)
{
	const struct step *s = &t->at.node->step;
	uint32_t order = order_of(&t->at);

	for (uint32_t i = 0; i < s->naccesses; i++)
		if (s->accesses[i].order == order && s->accesses[i].is_write == is_write &&
		    s->accesses[i].w && n-- == 0)
			return &s->accesses[i];
	return NULL;
}

/* Where a temporary of an instruction came from. */
struct origin {
	const struct lift_op *op; /* GET, LOAD, CONST, OPAQUE, or an operation of several values */
	unsigned loads;		  /* which LOAD of the instruction */
};

static const struct lift_op *definition(const struct lift_op *ops, unsigned n, uint16_t temp)
{
	for (unsigned i = 0; i < n; i++)
		if (ops[i].dst == temp)
			return &ops[i];
	return NULL;
}

static unsigned count_loads(const struct lift_op *ops, const struct lift_op *until)
{
	unsigned n = 0;

	for (; ops < until; ops++)
		n += ops->kind == LIFT_LOAD;
	return n;
}

static bool is_constant(const struct lift_op *ops, unsigned n, uint16_t temp)
{
	const struct lift_op *d = definition(ops, n, temp);

	return d && d->kind == LIFT_CONST;
}

/* Through moves, extensions, parts, and sums with constants. */
static struct origin origin_of(const struct lift_op *ops, unsigned n, uint16_t temp)
{
	const struct lift_op *d;

	while ((d = definition(ops, n, temp))) {
		switch (d->kind) {
		case LIFT_ZEXT:
		case LIFT_SEXT:
		case LIFT_EXTRACT:
			temp = d->a;
			continue;
		case LIFT_CONCAT: /* the low part is the new one, or a register's old high half */
			temp = d->b;
			continue;
		case LIFT_ADD:
		case LIFT_SUB:
			if (is_constant(ops, n, d->b)) {
				temp = d->a;
				continue;
			}
			if (is_constant(ops, n, d->a)) {
				temp = d->b;
				continue;
			}
			break;
		default:
			break;
		}
		break;
	}
	return (struct origin){ d, d && d->kind == LIFT_LOAD ? count_loads(ops, d) : 0 };
}

/* ---- the failing instruction ---- */

struct bad_use {
	bool found, is_write, is_jump;
	uint64_t address; /* that could not be used */
	unsigned reg;
	bool has_reg;
};

/* Registers that an address is made of; the one nearest to the address is the pointer. */
static void pointer_of(struct trail *t, const struct lift_op *ops, unsigned n, uint16_t temp,
		       struct bad_use *use, uint64_t *nearest)
{
	const struct lift_op *d = definition(ops, n, temp);
	uint64_t v, distance;

	if (!d)
		return;
	if (d->kind == LIFT_GET && d->imm < 16) {
		if (!past_value(t->h, t->r->start, t->r->start->registers[d->imm], &v))
			return;
		distance = use->address > v ? use->address - v : v - use->address;
		if (!use->has_reg || distance < *nearest) {
			use->reg = (unsigned)d->imm;
			use->has_reg = true;
			*nearest = distance;
		}
		return;
	}
	if (d->kind == LIFT_CONST || d->kind == LIFT_LOAD || d->kind == LIFT_GET)
		return;
	pointer_of(t, ops, n, d->a, use, nearest);
	if (d->b)
		pointer_of(t, ops, n, d->b, use, nearest);
}

/* The address that a temporary has in the dump's state; only sums, products and shifts are needed. */
static bool evaluate(struct trail *t, const struct lift_op *ops, unsigned n, uint16_t temp,
		     uint64_t *ret)
{
	const struct lift_op *d = definition(ops, n, temp);
	uint64_t a, b;

	if (!d)
		return false;
	switch (d->kind) {
	case LIFT_CONST:
		*ret = d->imm;
		return true;
	case LIFT_GET:
		return past_value(t->h, t->r->start, t->r->start->registers[d->imm], ret);
	case LIFT_LOAD:
		return evaluate(t, ops, n, d->a, &a) &&
		       past_value(t->h, t->r->start, past_load(t->h, t->r->start, a, d->w), ret);
	case LIFT_ZEXT:
		return evaluate(t, ops, n, d->a, ret);
	case LIFT_EXTRACT:
		if (!evaluate(t, ops, n, d->a, &a))
			return false;
		*ret = a >> d->imm & mask_of(d->w);
		return true;
	case LIFT_ADD:
	case LIFT_SUB:
	case LIFT_SHL:
	case LIFT_MUL:
	case LIFT_AND:
		if (!evaluate(t, ops, n, d->a, &a) || !evaluate(t, ops, n, d->b, &b))
			return false;
		*ret = expr_fold(d->kind == LIFT_ADD   ? EX_ADD
				 : d->kind == LIFT_SUB ? EX_SUB
				 : d->kind == LIFT_SHL ? EX_SHL
				 : d->kind == LIFT_MUL ? EX_MUL
						       : EX_AND,
				 d->w, a, b);
		return true;
	default:
		return false;
	}
}

static bool is_mapped(const struct dump *d, uint64_t address, uint32_t flag)
{
	for (size_t i = 0; i < d->segments.len; i++)
		if (address >= d->segments.data[i].address &&
		    address - d->segments.data[i].address < d->segments.data[i].size)
			return d->segments.data[i].flags & flag;
	return false;
}

/* Which access of the instruction failed? */
static struct bad_use find_use(struct trail *t, const struct function *f, const struct insn *in)
{
	const struct lift_op *ops = insn_ops(f, in);
	const struct dump *d = &t->r->dump;
	struct bad_use use = { 0 };
	uint64_t nearest = 0;

	for (unsigned i = 0; i < in->nops && !use.found; i++) {
		bool is_write = ops[i].kind == LIFT_STORE;

		if ((!is_write && ops[i].kind != LIFT_LOAD) ||
		    !evaluate(t, ops, in->nops, ops[i].a, &use.address) ||
		    is_mapped(d, use.address, is_write ? 2 : 4))
			continue;
		use.found = true;
		use.is_write = is_write;
		pointer_of(t, ops, in->nops, ops[i].a, &use, &nearest);
	}
	return use;
}

/* ---- the chain ---- */

static bool value_at(struct trail *t, const struct access *a, uint64_t *address, uint64_t *value,
		     struct link *l)
{
	l->has_address = past_value(t->h, t->best, a->address, address);
	l->has_value = past_value(t->h, t->best, a->value, value);
	l->w = a->w;
	return l->has_address;
}

/* The value that `temp` of the cursor's instruction has comes from somewhere: go there. False: the
 * chain ends. */
static bool follow(struct trail *t, const struct function *f, const struct insn *in, uint16_t temp)
{
	const struct lift_op *ops = insn_ops(f, in);
	struct origin o = origin_of(ops, in->nops, temp);
	struct link l = { .insn = in->address };
	const struct access *a;

	if (o.op && o.op->kind == LIFT_GET) {
		t->place = (struct place){ .reg = (unsigned)o.op->imm };
		return true;
	}
	if (o.op && o.op->kind == LIFT_LOAD) {
		a = access_of(t, false, o.loads);
		l.kind = LINK_READ;
		if (!a || !value_at(t, a, &l.address, &l.value, &l)) {
			l.kind = LINK_COMPUTED;
			add_link(t, l);
			return false;
		}
		add_link(t, l);
		t->place = (struct place){ .in_memory = true, .address = l.address, .w = l.w };
		return true;
	}
	l.kind = o.op && o.op->kind == LIFT_CONST ? LINK_CONSTANT : LINK_COMPUTED;
	if (l.kind == LINK_CONSTANT) {
		l.value = o.op->imm;
		l.has_value = true;
	}
	add_link(t, l);
	return false;
}

static const struct lift_op *last_put(const struct lift_op *ops, unsigned n, unsigned reg)
{
	const struct lift_op *found = NULL;

	for (unsigned i = 0; i < n; i++)
		if (ops[i].kind == LIFT_PUT && ops[i].imm == reg)
			found = &ops[i];
	return found;
}

static bool is_lost_in_call(unsigned reg)
{
	return reg < 16 && reg != LIFT_RBX && reg != LIFT_RBP && reg != LIFT_RSP && reg < LIFT_R12;
}

/* Did a skipped call at the end of this piece set the place? */
static bool set_by_call(struct trail *t, const struct piece *p)
{
	struct link l = { .kind = LINK_RESULT,
			  .insn = p->function->insns.data[p->first + p->n - 1].address,
			  .function = p->effect->function };
	const struct step *s = &t->at.node->step;
	uint64_t at, len;

	if (!t->place.in_memory) {
		if (!is_lost_in_call(t->place.reg))
			return false;
		if (t->place.reg == LIFT_RAX)
			l.has_value =
				past_value(t->h, t->best, s->after->registers[LIFT_RAX], &l.value);
		add_link(t, l);
		return true;
	}
	for (uint32_t i = 0; i < s->naccesses; i++)
		if (!s->accesses[i].w && s->accesses[i].insn == l.insn &&
		    past_value(t->h, t->best, s->accesses[i].address, &at) &&
		    past_value(t->h, t->best, s->accesses[i].value, &len) &&
		    t->place.address >= at && t->place.address < at + MAX(len, 16u)) {
			l.kind = LINK_WRITTEN;
			l.from = at;
			l.address = t->place.address;
			l.w = (uint8_t)t->place.w;
			l.has_address = true;
			add_link(t, l);
			return true;
		}
	return false;
}

/* Does the instruction at the cursor set the place? *go_on: the chain goes on. */
static bool set_here(struct trail *t, bool *go_on)
{
	const struct function *f;
	const struct insn *in = insn_at(&t->at, &f);
	const struct lift_op *ops = insn_ops(f, in), *put;
	unsigned n = 0;

	*go_on = false;
	if (!t->place.in_memory) {
		put = last_put(ops, in->nops, t->place.reg);
		if (!put)
			return false;
		*go_on = follow(t, f, in, put->a);
		return true;
	}
	for (unsigned i = 0; i < in->nops; i++) {
		const struct access *a;
		struct link l = { .kind = LINK_WRITTEN, .insn = in->address };

		if (ops[i].kind != LIFT_STORE)
			continue;
		a = access_of(t, true, n++);
		if (!a || !value_at(t, a, &l.address, &l.value, &l) ||
		    l.address >= t->place.address + t->place.w / 8 ||
		    l.address + a->w / 8 <= t->place.address)
			continue;
		add_link(t, l);
		*go_on = l.address == t->place.address && follow(t, f, in, ops[i].b);
		return true;
	}
	return false;
}

static void walk(struct trail *t)
{
	while (t->r->cause.chain.len < LONGEST_CHAIN) {
		const struct piece *p;
		bool go_on;

		if (!back(t)) {
			struct link l = { .kind = LINK_BEFORE,
					  .address = t->place.address,
					  .has_address = t->place.in_memory,
					  .w = (uint8_t)t->place.w };

			add_link(t, l);
			return;
		}
		p = &t->at.node->step.pieces[t->at.piece];
		if (p->way == WAY_SKIPPED && t->at.insn + 1 == p->n && set_by_call(t, p))
			return;
		if (set_here(t, &go_on) && !go_on)
			return;
	}
}

/* ---- kinds ---- */

static void say(struct cause *c, struct strbuf *sb)
{
	free(c->text);
	c->text = strbuf_detach(sb);
}

static bool chain_is_certain(const struct cause *c, size_t upto)
{
	for (size_t i = 0; i <= upto && i < c->chain.len; i++)
		if (!c->chain.data[i].certain)
			return false;
	return true;
}

/* A write outside the object that its instruction means: another write of the same instruction, just
 * beside it, hits another variable. */
static bool runs_over(struct rewind *r, const struct link *l, uint64_t *object)
{
	uint64_t base, size, at, own_base, own_size;
	bool own = dump_names_global(&r->names, l->address, &own_base, &own_size);

	for (const struct node *n = r->best; n && n->parent; n = n->parent)
		for (uint32_t i = 0; i < n->step.naccesses; i++) {
			const struct access *a = &n->step.accesses[i];

			if (!a->is_write || a->insn != l->insn ||
			    !past_value(&r->h, r->best->past, a->address, &at) ||
			    !dump_names_global(&r->names, at, &base, &size))
				continue;
			if ((own && base != own_base) || (!own && l->address >= base + size)) {
				*object = at;
				return true;
			}
		}
	return false;
}

/* A call that began to write in one member or element and came to another. */
static bool call_runs_over(struct rewind *r, const struct link *l)
{
	struct strbuf from = { 0 }, to = { 0 };
	char *bracket;
	bool over;

	if (!l->from)
		return false;
	dump_names_add_object(&r->names, l->from, &from);
	dump_names_add_object(&r->names, l->address, &to);
	bracket = strrchr(from.data, '[');
	if (bracket && from.data[from.len - 1] == ']')
		*bracket = '\0';
	over = strncmp(from.data, "0x", 2) != 0 && strncmp(from.data, "stack", 5) != 0 &&
	       strncmp(strbuf_str(&from), strbuf_str(&to), strlen(from.data)) != 0;
	strbuf_deinit(&from);
	strbuf_deinit(&to);
	return over;
}

static void name_write(struct rewind *r, const struct link *l, size_t i)
{
	struct cause *c = &r->cause;
	struct strbuf sb = { 0 };
	struct heap_chunk chunk;
	uint64_t object;

	c->insn = l->insn;
	c->address = l->address;
	c->certain = chain_is_certain(c, i);
	c->kind = CAUSE_BAD_WRITE;
	dump_names_add_object(&r->names, l->address, &sb);
	if (heap_chunk_at(&r->dump, l->address, &chunk) && chunk.state == HEAP_FREE)
		c->kind = CAUSE_FREED;
	object = l->from;
	if (call_runs_over(r, l) || runs_over(r, l, &object)) {
		c->kind = CAUSE_PAST_END;
		strbuf_adds(&sb, " was overwritten past the end of ");
		dump_names_add_object(&r->names, object, &sb);
		strbuf_addf(&sb, l->function ? " by %s" : "%s", l->function ? l->function : "");
	} else if (l->function) {
		strbuf_addf(&sb, " was written by %s", l->function);
	} else if (l->has_value) {
		strbuf_addf(&sb, " was set to 0x%" PRIx64, l->value);
	} else {
		strbuf_adds(&sb, " was written");
	}
	strbuf_adds(&sb, " at ");
	dump_names_add_place(&r->names, l->insn, &sb);
	say(c, &sb);
}

static void name_result(struct rewind *r, const struct link *l, size_t i)
{
	struct strbuf sb = { 0 };

	r->cause.kind = CAUSE_RESULT;
	r->cause.insn = l->insn;
	r->cause.certain = chain_is_certain(&r->cause, i);
	strbuf_addf(&sb, "the result of %s", l->function);
	if (l->has_value)
		strbuf_addf(&sb, ", 0x%" PRIx64 ",", l->value);
	strbuf_adds(&sb, " was used without a check; called at ");
	dump_names_add_place(&r->names, l->insn, &sb);
	say(&r->cause, &sb);
}

/* The suffix has no write on the chain. What does the memory itself tell? */
static void name_memory(struct rewind *r)
{
	struct cause *c = &r->cause;
	struct heap_chunk chunk;

	for (size_t i = 0; i < c->chain.len; i++) {
		const struct link *l = &c->chain.data[i];
		struct strbuf sb = { 0 };

		if (l->kind != LINK_READ || !heap_chunk_at(&r->dump, l->address, &chunk) ||
		    chunk.state == HEAP_USED)
			continue;
		c->kind = chunk.state == HEAP_FREE ? CAUSE_FREED : CAUSE_NOT_WRITTEN;
		c->insn = l->insn;
		c->address = l->address;
		c->certain = chain_is_certain(c, i);
		dump_names_add_object(&r->names, l->address, &sb);
		strbuf_adds(&sb, chunk.state == HEAP_FREE ? " was read after it was freed, at "
							  : " was read and never allocated, at ");
		dump_names_add_place(&r->names, l->insn, &sb);
		say(c, &sb);
		return;
	}
}

/* Which link broke it? A write outside its object, if there is one; else the oldest write, because the
 * later ones only copied the value; else the call that returned it. If the value is older than the
 * suffix, every write in it only copied: then nobody here broke it. */
static size_t culprit(struct rewind *r)
{
	const struct cause *c = &r->cause;
	size_t found = c->chain.len;
	uint64_t object;

	for (size_t i = 0; i < c->chain.len; i++) {
		const struct link *l = &c->chain.data[i];

		if (l->kind == LINK_WRITTEN && (call_runs_over(r, l) || runs_over(r, l, &object)))
			return i;
		if (l->kind == LINK_WRITTEN || l->kind == LINK_RESULT)
			found = i;
		if (l->kind == LINK_BEFORE)
			found = c->chain.len;
	}
	return found;
}

/* The value stayed in a register, but the code that made it also stored it: that write is what a reader
 * of the source knows. Only the step in which it was made counts. */
static bool also_stored(struct rewind *r, struct link *l)
{
	uint64_t bad, v;

	if (!r->cause.chain.len || !r->cause.chain.data[0].has_value)
		return false;
	bad = r->cause.chain.data[0].value;
	for (const struct node *n = r->best; n && n->parent; n = n->parent) {
		bool made_here = false;

		for (uint32_t i = 0; i < n->step.npieces; i++) {
			const struct piece *p = &n->step.pieces[i];

			for (uint32_t k = 0; k < p->n; k++)
				made_here |=
					p->function->insns.data[p->first + k].address == l->insn;
		}
		for (uint32_t i = 0; made_here && i < n->step.naccesses; i++) {
			const struct access *a = &n->step.accesses[i];

			if (!a->is_write || a->w != 64 ||
			    !past_value(&r->h, r->best->past, a->value, &v) || v != bad ||
			    !past_value(&r->h, r->best->past, a->address, &l->address))
				continue;
			l->kind = LINK_WRITTEN;
			l->insn = a->insn;
			l->value = v;
			l->w = a->w;
			l->has_value = l->has_address = true;
			return true;
		}
	}
	return false;
}

static void judge(struct rewind *r)
{
	struct cause *c = &r->cause;
	size_t at;

	name_memory(r);
	if (c->kind == CAUSE_FREED)
		return;
	at = culprit(r);
	if (at < c->chain.len && c->chain.data[at].kind == LINK_WRITTEN)
		name_write(r, &c->chain.data[at], at);
	else if (at < c->chain.len)
		name_result(r, &c->chain.data[at], at);
	for (size_t i = 0; i < c->chain.len && !c->kind; i++) {
		const struct link *l = &c->chain.data[i];
		struct strbuf sb = { 0 };

		struct link stored = *l;

		if (l->kind != LINK_CONSTANT && l->kind != LINK_COMPUTED)
			continue;
		if (also_stored(r, &stored)) {
			name_write(r, &stored, i);
			return;
		}
		c->kind = CAUSE_BAD_VALUE;
		c->insn = l->insn;
		c->certain = chain_is_certain(c, i);
		strbuf_adds(&sb, "the bad value was made at ");
		dump_names_add_place(&r->names, l->insn, &sb);
		say(c, &sb);
	}
}

static bool is_stack_overflow(struct rewind *r, uint64_t fault)
{
	uint64_t sp = r->dump.threads.data[r->thread].registers.rsp;

	return fault + NEAR > sp && fault < sp + NEAR && !is_mapped(&r->dump, sp - 256, 4) &&
	       is_mapped(&r->dump, sp + NEAR, 4);
}

/* ---- a failed check ---- */

/* The instruction before the cursor's that set the flags of its branch. */
static bool to_comparison(struct trail *t)
{
	const struct function *f;

	do {
		const struct insn *in;

		if (!back(t))
			return false;
		in = insn_at(&t->at, &f);
		if (last_put(insn_ops(f, in), in->nops, LIFT_ZF))
			return true;
	} while (t->at.insn > 0);
	return false;
}

/* The values that an instruction compares: memory first, else a register. */
static bool compared(struct trail *t, struct place *ret)
{
	const struct function *f;
	const struct insn *in = insn_at(&t->at, &f);
	const struct lift_op *ops = insn_ops(f, in);
	const struct access *a = access_of(t, false, 0);
	uint64_t at;

	if (a && past_value(t->h, t->best, a->address, &at)) {
		struct link l = { .kind = LINK_READ, .insn = in->address };

		value_at(t, a, &l.address, &l.value, &l);
		add_link(t, l);
		*ret = (struct place){ .in_memory = true, .address = at, .w = a->w };
		return true;
	}
	for (unsigned i = 0; i < in->nops; i++)
		if (ops[i].kind == LIFT_GET && ops[i].imm < 16) {
			*ret = (struct place){ .reg = (unsigned)ops[i].imm };
			return true;
		}
	return false;
}

/* The program ended itself: the last branch before that decided it. What did it look at? */
static void find_check(struct trail *t)
{
	const struct function *f;

	while (back(t)) {
		const struct insn *in = insn_at(&t->at, &f);
		const struct lift_op *ops = insn_ops(f, in);
		bool branch = false;

		for (unsigned i = 0; i < in->nops; i++)
			branch |= ops[i].kind == LIFT_EXIT;
		if (!branch)
			continue;
		add_link(t, (struct link){ .kind = LINK_CHECKED, .insn = in->address });
		if (to_comparison(t) && compared(t, &t->place))
			walk(t);
		judge(t->r);
		return;
	}
}

/* libc failed on what it was given: which argument of the call is near the bad address? */
static bool find_argument(struct trail *t)
{
	static const uint8_t arguments[] = { LIFT_RDI, LIFT_RSI, LIFT_RDX, LIFT_RCX };
	const struct dump *d = &t->r->dump;
	struct link l = {
		.kind = LINK_USED, .insn = t->r->start->pc, .address = d->fault, .has_address = true
	};

	if (d->signal == SIGABRT || d->code <= 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(arguments); i++) {
		if (!past_value(t->h, t->best, t->r->start->registers[arguments[i]], &l.value) ||
		    d->fault - l.value + 4096 > 8192 || is_mapped(d, l.value, 4))
			continue;
		l.has_value = true;
		add_link(t, l);
		t->place = (struct place){ .reg = arguments[i] };
		walk(t);
		judge(t->r);
		return true;
	}
	return false;
}

void cause_find(struct rewind *r)
{
	uint64_t pc = r->start->pc;
	const char *why;
	const struct function *f = code_function(r->code, pc, &why);
	const struct insn *in = f ? function_insn(f, pc) : NULL;
	struct trail t = { .r = r, .h = &r->h };
	struct bad_use use;
	struct strbuf sb = { 0 };
	struct link used;

	if (!r->best || !in)
		return;
	t.best = r->best->past;
	t.at.node = r->tree.nodes.data[0];
	if (r->at_call) {
		if (!find_argument(&t) && r->dump.signal != SIGSEGV && r->dump.signal != SIGBUS)
			find_check(&t);
		return;
	}
	use = find_use(&t, f, in);
	if (!use.found)
		return;
	if (is_stack_overflow(r, use.address)) {
		r->cause.kind = CAUSE_STACK;
		r->cause.insn = pc;
		r->cause.certain = true;
		strbuf_adds(&sb, "the stack is exhausted at ");
		dump_names_add_place(&r->names, pc, &sb);
		say(&r->cause, &sb);
		return;
	}
	used = (struct link){
		.kind = LINK_USED, .insn = pc, .address = use.address, .has_address = true
	};
	used.has_value = use.has_reg &&
			 past_value(&r->h, r->start, r->start->registers[use.reg], &used.value);
	add_link(&t, used);
	if (!use.has_reg)
		return;
	t.place = (struct place){ .reg = use.reg };
	walk(&t);
	judge(r);
}
