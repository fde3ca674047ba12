/* rewind/trail.c - see trail.h. */
#include "rewind/trail.h"

#include "rewind/pointers.h"
#include "rewind/reach.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_CHAIN = 64, NULL_PAGES = 1 << 16, FAR_LARGER = 16 };

const struct insn *trail_insn(const struct trail *t, const struct function **f)
{
	const struct piece *p = &t->at.node->step.pieces[t->at.piece];

	*f = p->function;
	return &p->function->insns.data[p->first + t->at.insn];
}

bool trail_back(struct trail *t)
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

uint32_t trail_order(const struct cursor *c)
{
	uint32_t n = c->insn;

	for (uint32_t i = 0; i < c->piece; i++)
		n += c->node->step.pieces[i].n;
	return n;
}

void trail_add(struct trail *t, struct link l)
{
	l.node = t->at.node;
	vec_push(&t->r->cause.chain, l);
}

/* The accesses of the cursor's instruction: the n-th of its kind. */
static const struct access *access_of(const struct trail *t, bool is_write, unsigned n)
{
	const struct step *s = &t->at.node->step;
	uint32_t order = trail_order(&t->at);

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

const struct lift_op *trail_definition(const struct lift_op *ops, unsigned n, uint16_t temp)
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
	const struct lift_op *d = trail_definition(ops, n, temp);

	if (d && (d->kind == LIFT_EXTRACT || d->kind == LIFT_ZEXT))
		return is_constant(ops, n, d->a);
	if (d && d->kind == LIFT_AND) /* as shifts take their count */
		return is_constant(ops, n, d->a) && is_constant(ops, n, d->b);
	return d && d->kind == LIFT_CONST;
}

/* Through moves, extensions, parts, and sums with constants. */
static struct origin origin_of(const struct lift_op *ops, unsigned n, uint16_t temp)
{
	const struct lift_op *d;

	while ((d = trail_definition(ops, n, temp))) {
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

/* Which of two registers of an address is to blame? If one of them points to memory, the other is an index that leads out
 * of it. A pointer to nowhere is most often 0 or, beside an index, the larger one. */
static bool is_worse(const struct trail *t, uint64_t address, uint64_t v, uint64_t than)
{
	const struct dump *d = &t->r->dump;

	if (is_mapped(d, v, 4) != is_mapped(d, than, 4))
		return is_mapped(d, than, 4);
	if (address < NULL_PAGES && (v == 0 || than == 0))
		return v == 0;
	return v > than;
}

/* Near null a register that is multiplied with a size is an index, and the one beside it to blame, unless that points to
 * memory. */
static bool is_blamed(const struct trail *t, const struct bad_use *use, uint64_t v, bool scaled,
		      uint64_t than)
{
	if (scaled != use->scaled && use->address < NULL_PAGES &&
	    !is_mapped(&t->r->dump, scaled ? than : v, 4))
		return !scaled;
	return is_worse(t, use->address, v, than);
}

/* Registers that an address is made of. */
static void pointer_of(struct trail *t, const struct lift_op *ops, unsigned n, uint16_t temp,
		       bool scaled, struct bad_use *use, uint64_t *worst)
{
	const struct lift_op *d = trail_definition(ops, n, temp);
	uint64_t v;

	if (!d)
		return;
	if (d->kind == LIFT_GET && d->imm < 16) {
		if (past_value(t->h, t->r->start, t->r->start->registers[d->imm], &v) &&
		    (!use->has_reg || is_blamed(t, use, v, scaled, *worst))) {
			use->reg = (unsigned)d->imm;
			use->has_reg = true;
			use->scaled = scaled;
			*worst = v;
		}
		return;
	}
	if (d->kind == LIFT_CONST || d->kind == LIFT_LOAD || d->kind == LIFT_GET)
		return;
	scaled |= d->kind == LIFT_SHL || d->kind == LIFT_MUL;
	pointer_of(t, ops, n, d->a, scaled, use, worst);
	if (d->b)
		pointer_of(t, ops, n, d->b, scaled, use, worst);
}

static uint64_t sign_extended(uint64_t v, unsigned w)
{
	return w && w < 64 && v >> (w - 1) & 1 ? v | ~mask_of(w) : v;
}

/* Only sums, products and shifts are needed. */
bool trail_evaluate(const struct trail *t, const struct past *p, const struct lift_op *ops,
		    unsigned n, uint16_t temp, uint64_t *ret)
{
	const struct lift_op *d = trail_definition(ops, n, temp);
	uint64_t a, b;

	if (!d)
		return false;
	switch (d->kind) {
	case LIFT_CONST:
		*ret = d->imm;
		return true;
	case LIFT_GET:
		return past_value(t->h, p, p->registers[d->imm], ret);
	case LIFT_LOAD:
		return trail_evaluate(t, p, ops, n, d->a, &a) &&
		       past_value(t->h, p, past_load(t->h, p, a, d->w), ret);
	case LIFT_ZEXT:
		return trail_evaluate(t, p, ops, n, d->a, ret);
	case LIFT_SEXT:
		if (!trail_evaluate(t, p, ops, n, d->a, &a))
			return false;
		*ret = sign_extended(a, trail_definition(ops, n, d->a)->w) & mask_of(d->w);
		return true;
	case LIFT_EXTRACT:
		if (!trail_evaluate(t, p, ops, n, d->a, &a))
			return false;
		*ret = a >> d->imm & mask_of(d->w);
		return true;
	case LIFT_ADD:
	case LIFT_SUB:
	case LIFT_SHL:
	case LIFT_MUL:
	case LIFT_AND:
		if (!trail_evaluate(t, p, ops, n, d->a, &a) ||
		    !trail_evaluate(t, p, ops, n, d->b, &b))
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

bool is_mapped(const struct dump *d, uint64_t address, uint32_t flag)
{
	for (size_t i = 0; i < d->segments.len; i++)
		if (address >= d->segments.data[i].address &&
		    address - d->segments.data[i].address < d->segments.data[i].size)
			return d->segments.data[i].flags & flag;
	return false;
}

/* A jump or call to where no code is. */
static void find_bad_jump(struct trail *t, const struct lift_op *ops, unsigned n,
			  struct bad_use *use)
{
	const struct lift_op *end = &ops[n - 1];
	struct origin o;
	uint64_t worst = 0;

	if (end->kind != LIFT_NEXT || !end->a ||
	    !trail_evaluate(t, t->r->start, ops, n, end->a, &use->address) ||
	    is_mapped(&t->r->dump, use->address, 1))
		return;
	use->found = use->is_jump = true;
	o = origin_of(ops, n, end->a);
	if (!o.op || o.op->kind != LIFT_LOAD ||
	    !trail_evaluate(t, t->r->start, ops, n, o.op->a, &use->from))
		pointer_of(t, ops, n, end->a, false, use, &worst);
}

/* A division that failed: its divisor. */
static void find_divisor(struct trail *t, const struct lift_op *ops, unsigned n,
			 struct bad_use *use)
{
	for (unsigned i = 0; i < n && !use->found; i++) {
		struct origin o;

		if (ops[i].kind < LIFT_UDIV || ops[i].kind > LIFT_SREM)
			continue;
		o = origin_of(ops, n, ops[i].b);
		if (!o.op || (o.op->kind != LIFT_GET && o.op->kind != LIFT_LOAD))
			continue;
		use->found = use->is_divisor = true;
		use->has_reg = o.op->kind == LIFT_GET && o.op->imm < 16;
		use->reg = (unsigned)o.op->imm;
		use->w = ops[i].w;
		if (o.op->kind == LIFT_LOAD) {
			use->w = o.op->w;
			use->found = trail_evaluate(t, t->r->start, ops, n, o.op->a, &use->from);
		}
	}
}

/* Is the address made of a number and an index that is multiplied with a size? */
static bool has_no_base(const struct lift_op *ops, unsigned n, uint16_t temp)
{
	const struct lift_op *d = trail_definition(ops, n, temp);

	if (!d || (d->kind != LIFT_ADD && d->kind != LIFT_SHL))
		return d && d->kind == LIFT_CONST;
	return d->kind == LIFT_SHL || (has_no_base(ops, n, d->a) && has_no_base(ops, n, d->b));
}

struct bad_use trail_find_use(struct trail *t, const struct function *f, const struct insn *in)
{
	const struct lift_op *ops = insn_ops(f, in);
	const struct dump *d = &t->r->dump;
	struct bad_use use = { .w = 64 };
	uint64_t worst = 0;

	if (d->signal == SIGFPE) {
		find_divisor(t, ops, in->nops, &use);
		return use;
	}
	for (unsigned i = 0; i < in->nops && !use.found; i++) {
		bool is_write = ops[i].kind == LIFT_STORE;

		if ((!is_write && ops[i].kind != LIFT_LOAD) ||
		    !trail_evaluate(t, t->r->start, ops, in->nops, ops[i].a, &use.address) ||
		    is_mapped(d, use.address, is_write ? 2 : 4))
			continue;
		use.found = true;
		use.is_write = is_write;
		if (use.address >= NULL_PAGES || !has_no_base(ops, in->nops, ops[i].a))
			pointer_of(t, ops, in->nops, ops[i].a, false, &use, &worst);
	}
	if (!use.found)
		find_bad_jump(t, ops, in->nops, &use);
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

/* Through an index that was multiplied with a size. */
static struct origin origin_of_index(const struct lift_op *ops, unsigned n, uint16_t temp)
{
	struct origin o = origin_of(ops, n, temp);

	while (o.op && (o.op->kind == LIFT_SHL || o.op->kind == LIFT_MUL) &&
	       is_constant(ops, n, o.op->b))
		o = origin_of(ops, n, o.op->a);
	return o;
}

/* A sum of a pointer to memory and something else: the something else led out of it. */
static struct origin origin_in_sum(struct trail *t, const struct lift_op *ops, unsigned n,
				   struct origin sum)
{
	struct past *p = step_inside(t->h, t->best, &t->at.node->step, trail_order(&t->at));
	const struct dump *d = &t->r->dump;
	uint64_t a, b;

	if (!trail_evaluate(t, p, ops, n, sum.op->a, &a) ||
	    !trail_evaluate(t, p, ops, n, sum.op->b, &b) ||
	    is_mapped(d, a, 4) == is_mapped(d, b, 4) || is_mapped(d, a + b, 4))
		return sum;
	return origin_of_index(ops, n, is_mapped(d, a, 4) ? sum.op->b : sum.op->a);
}

/* 0 + 24: a null pointer and a good offset, or a bad pointer and the index 0. Nobody can tell which. */
static bool may_be_null_and_offset(struct trail *t, const struct lift_op *ops, unsigned n,
				   const struct origin *o)
{
	struct past *p;
	uint64_t a, b;

	if (!o->op || o->op->kind != LIFT_ADD || o->op->w != 64)
		return false;
	p = step_inside(t->h, t->best, &t->at.node->step, trail_order(&t->at));
	return trail_evaluate(t, p, ops, n, o->op->a, &a) &&
	       trail_evaluate(t, p, ops, n, o->op->b, &b) && !a != !b && a + b < NULL_PAGES;
}

/* Is this instruction of the line that failed? */
static bool is_on_failing_line(struct trail *t, uint64_t insn)
{
	struct source_frames a = { 0 }, b = { 0 };
	bool same;

	dump_names_frames(&t->r->names, insn, &a);
	dump_names_frames(&t->r->names, t->r->start->pc, &b);
	same = a.len && b.len && a.data[0].line && a.data[0].line == b.data[0].line &&
	       a.data[0].file && b.data[0].file && strcmp(a.data[0].file, b.data[0].file) == 0;
	vec_deinit(&a);
	vec_deinit(&b);
	return same;
}

static uint64_t distance(uint64_t v, unsigned w)
{
	int64_t x = (int64_t)sign_extended(v & mask_of(w), w);

	return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

/* The line that failed computed the value from several: frame[y * width + x]. That it did so is no news; if one of them is
 * far larger than the others, that one led away. */
static struct origin origin_of_largest(struct trail *t, const struct lift_op *ops, unsigned n,
				       struct origin o)
{
	struct past *p = step_inside(t->h, t->best, &t->at.node->step, trail_order(&t->at));

	while (o.op && (o.op->kind == LIFT_ADD || o.op->kind == LIFT_SUB ||
			o.op->kind == LIFT_MUL || o.op->kind == LIFT_SHL)) {
		uint64_t a, b;

		if (o.op->kind != LIFT_ADD && o.op->kind != LIFT_SUB &&
		    is_constant(ops, n, o.op->b)) { /* the size of an element */
			o = origin_of(ops, n, o.op->a);
			continue;
		}
		if (o.op->kind == LIFT_SHL || !trail_evaluate(t, p, ops, n, o.op->a, &a) ||
		    !trail_evaluate(t, p, ops, n, o.op->b, &b))
			break;
		a = distance(a, o.op->w);
		b = distance(b, o.op->w);
		if (a / FAR_LARGER <= b && b / FAR_LARGER <= a)
			break;
		o = origin_of(ops, n, a > b ? o.op->a : o.op->b);
	}
	return o;
}

static bool is_computation(const struct origin *o)
{
	return o->op && o->op->kind != LIFT_GET && o->op->kind != LIFT_LOAD &&
	       o->op->kind != LIFT_CONST;
}

/* Nobody knows the address any more, but only one place had the value at that moment. */
static bool find_address(struct trail *t, struct link *l)
{
	uint64_t at[2];
	struct past *p;

	if (!l->has_value || l->w != 64)
		return false;
	p = step_inside(t->h, t->best, &t->at.node->step, trail_order(&t->at));
	if (word_places(t->h, p, l->value, at, ARRAY_SIZE(at)) != 1)
		return false;
	l->address = at[0];
	return l->has_address = l->searched = true;
}

/* The value that `temp` of the cursor's instruction has comes from somewhere: go there. False: the
 * chain ends. */
static bool follow(struct trail *t, const struct function *f, const struct insn *in, uint16_t temp)
{
	const struct lift_op *ops = insn_ops(f, in);
	struct origin o = origin_of(ops, in->nops, temp);
	struct link l = { .insn = in->address };
	const struct access *a;

	if (o.op && o.op->kind == LIFT_ADD)
		o = origin_in_sum(t, ops, in->nops, o);
	if (is_computation(&o) && is_on_failing_line(t, in->address) &&
	    !may_be_null_and_offset(t, ops, in->nops, &o)) {
		struct origin largest = origin_of_largest(t, ops, in->nops, o);

		if (largest.op && largest.op->kind != LIFT_CONST)
			o = largest;
	}
	if (o.op && o.op->kind == LIFT_GET) {
		t->place = (struct place){ .reg = (unsigned)o.op->imm };
		return true;
	}
	if (o.op && o.op->kind == LIFT_LOAD) {
		a = access_of(t, false, o.loads);
		l.kind = LINK_READ;
		if (!a || (!value_at(t, a, &l.address, &l.value, &l) && !find_address(t, &l))) {
			l.kind = LINK_COMPUTED;
			trail_add(t, l);
			t->lost = true;
			return false;
		}
		trail_add(t, l);
		t->place = (struct place){ .in_memory = true, .address = l.address, .w = l.w };
		return true;
	}
	t->lost |= may_be_null_and_offset(t, ops, in->nops, &o);
	l.kind = o.op && o.op->kind == LIFT_CONST ? LINK_CONSTANT : LINK_COMPUTED;
	if (l.kind == LINK_CONSTANT) {
		l.value = o.op->imm;
		l.has_value = true;
	}
	trail_add(t, l);
	return false;
}

const struct lift_op *trail_last_put(const struct lift_op *ops, unsigned n, unsigned reg)
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

/* A call that copied whole pointers: the value is older, at its source. Text that lands on a pointer is the culprit
 * itself. */
static bool follow_copy(struct trail *t, const struct access *a, uint64_t at)
{
	uint64_t from, offset = t->place.address - at;

	if (!a->before || !past_value(t->h, t->best, a->before, &from) || t->place.w != 64 ||
	    offset % 8 || from % 8)
		return false;
	if (!is_mapped(&t->r->dump, from + offset, 2)) {
		trail_add(t, (struct link){ .kind = LINK_CONSTANT, .insn = a->insn });
		return false;
	}
	t->place.address = from + offset;
	return true;
}

/* The walk passed over this part for another place, or it made the register: then nobody knows. */
static bool set_by_part(struct trail *t, const struct piece *p)
{
	const struct reach *x = p->effect->reach;
	const struct skim *s = &t->h->skim;

	if (t->place.in_memory ? t->place.address == s->address && t->place.w == s->w
			       : !(x->registers >> (t->place.reg % 16) & 1) && t->place.reg < 16)
		return false;
	if (t->place.in_memory && !x->loose.len && !x->frees && !x->writes.len)
		return false;
	trail_add(t, (struct link){ .kind = LINK_BEFORE,
				    .address = t->place.address,
				    .has_address = t->place.in_memory,
				    .w = (uint8_t)t->place.w });
	return t->lost = true;
}

/* Did a skipped call at the end of this piece set the place? *go_on: the chain goes on. */
static bool set_by_call(struct trail *t, const struct piece *p, bool *go_on)
{
	struct link l = { .kind = LINK_RESULT,
			  .insn = p->function->insns.data[p->first + p->n - 1].address,
			  .function = p->effect->function };
	const struct step *s = &t->at.node->step;
	uint64_t at, len;

	*go_on = false;
	if (p->effect->kind == EFFECT_PART)
		return set_by_part(t, p);
	if (!t->place.in_memory) {
		if (!is_lost_in_call(t->place.reg))
			return false;
		if (t->place.reg == LIFT_RAX && effect_returns_target(p->effect)) {
			t->place.reg = LIFT_RDI;
			return *go_on = true;
		}
		if (t->place.reg != LIFT_RAX) {
			l.kind = LINK_COMPUTED;
			t->lost = true;
		} else {
			l.has_value =
				past_value(t->h, t->best, s->after->registers[LIFT_RAX], &l.value);
		}
		trail_add(t, l);
		return true;
	}
	for (uint32_t i = 0; i < s->naccesses; i++)
		if (!s->accesses[i].w && s->accesses[i].insn == l.insn &&
		    past_value(t->h, t->best, s->accesses[i].address, &at) &&
		    past_value(t->h, t->best, s->accesses[i].value, &len) &&
		    t->place.address >= at &&
		    t->place.address < at + (s->accesses[i].is_write ? len : MAX(len, 16u))) {
			l.kind = LINK_WRITTEN;
			l.from = at;
			l.length = len;
			l.address = t->place.address;
			l.w = (uint8_t)t->place.w;
			l.has_address = true;
			trail_add(t, l);
			*go_on = follow_copy(t, &s->accesses[i], at);
			return true;
		}
	return false;
}

/* Does the instruction at the cursor set the place? *go_on: the chain goes on. */
static bool set_here(struct trail *t, bool *go_on)
{
	const struct function *f;
	const struct insn *in = trail_insn(t, &f);
	const struct lift_op *ops = insn_ops(f, in), *put;
	unsigned n = 0;

	*go_on = false;
	if (!t->place.in_memory) {
		put = trail_last_put(ops, in->nops, t->place.reg);
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
		trail_add(t, l);
		*go_on = l.address == t->place.address && follow(t, f, in, ops[i].b);
		return true;
	}
	return false;
}

bool trail_walk_from_jump(struct trail *t)
{
	const struct function *f;
	const struct insn *in;
	const struct lift_op *end;

	if (!trail_back(t))
		return false;
	in = trail_insn(t, &f);
	end = insn_ops(f, in) + in->nops - 1;
	if (end->kind != LIFT_NEXT || !end->a)
		return false;
	return follow(t, f, in, end->a) ? trail_walk(t) : !t->lost;
}

bool trail_walk(struct trail *t)
{
	while (t->r->cause.chain.len < LONGEST_CHAIN) {
		const struct piece *p;
		bool go_on;

		if (!trail_back(t)) {
			struct link l = { .kind = LINK_BEFORE,
					  .address = t->place.address,
					  .has_address = t->place.in_memory,
					  .w = (uint8_t)t->place.w };

			trail_add(t, l);
			return false;
		}
		p = &t->at.node->step.pieces[t->at.piece];
		if (p->way == WAY_SKIPPED && t->at.insn + 1 == p->n && set_by_call(t, p, &go_on)) {
			if (!go_on)
				return !t->lost;
			continue;
		}
		if (set_here(t, &go_on) && !go_on)
			return !t->lost;
	}
	return true;
}

/* ---- what a branch compared ---- */

/* The instruction before the cursor's that set the flags of its branch. */
static bool to_comparison(struct trail *t)
{
	const struct function *f;

	do {
		const struct insn *in;

		if (!trail_back(t))
			return false;
		in = trail_insn(t, &f);
		if (trail_last_put(insn_ops(f, in), in->nops, LIFT_ZF))
			return true;
	} while (t->at.insn > 0);
	return false;
}

/* The values that an instruction compares: memory first, else a register. */
static bool compared(struct trail *t, struct place *ret)
{
	const struct function *f;
	const struct insn *in = trail_insn(t, &f);
	const struct lift_op *ops = insn_ops(f, in);
	const struct access *a = access_of(t, false, 0);
	uint64_t at;

	if (a && past_value(t->h, t->best, a->address, &at)) {
		struct link l = { .kind = LINK_READ, .insn = in->address };

		value_at(t, a, &l.address, &l.value, &l);
		trail_add(t, l);
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

bool trail_to_operand(struct trail *t)
{
	return compared(t, &t->place);
}

bool trail_to_compared(struct trail *t)
{
	return to_comparison(t) && trail_to_operand(t);
}

bool trail_stored_at(struct trail *t, uint64_t *address)
{
	const struct access *a = access_of(t, true, 0);

	return a && past_value(t->h, t->best, a->address, address);
}

bool trail_to_store(struct trail *t)
{
	const struct function *f;
	struct link l = { .kind = LINK_WRITTEN, .insn = trail_insn(t, &f)->address };
	const struct access *a = access_of(t, true, 0);

	if (!a || !value_at(t, a, &l.address, &l.value, &l))
		return false;
	trail_add(t, l);
	return true;
}
