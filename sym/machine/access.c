/* sym/machine/access.c - memory accesses: from an address to an object, with every way that can go wrong.
 *
 * A concrete address names its object. A symbolic one is first given the object that the state's
 * model puts it into; the part of the path on which it leaves that object is examined: if it can be
 * out of bounds there, that is an error, reported with the input that does it; if it can be in
 * another object, a fork follows it, a bounded number of times. Inside one object a symbolic offset
 * reads from a snapshot of the bytes, and a store makes every byte it may hit conditional. */
#include "sym/machine/machine.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SYMBOLIC_STORE                                                                         \
	1024 /* bytes of an object that a symbolic offset may make conditional                     \
	      */
#define MAX_SNAPSHOT 65536

static uint32_t id_of(uint64_t addr)
{
	return (uint32_t)(addr >> 32) & 0x3fffffff;
}

struct object *mem_find(const struct machine *m, uint64_t addr)
{
	return addr & ADDR_TAG ? memory_find(&m->s->memory, id_of(addr)) : NULL;
}

void cache_clear(struct machine *m)
{
	memset(m->cache, 0, sizeof(m->cache));
}

static struct cache_line *line_of(struct machine *m, uint32_t id)
{
	return &m->cache[id % CACHE_SIZE];
}

static void cache_fill(struct machine *m, struct object *o, bool owned)
{
	struct cache_line *c = line_of(m, o->id);
	uint32_t key = (uint32_t)(ADDR_TAG >> 32) | o->id;

	if (o->sym) {
		c->key = 0;
		c->rsize = c->wsize = 0;
		return;
	}
	if (c->key == key && c->wsize && c->bytes == o->bytes)
		owned = true;
	c->key = key;
	c->rsize = o->size;
	c->wsize = owned && !o->readonly ? o->size : 0;
	c->bytes = o->bytes;
}

static void cache_forget(struct machine *m, uint32_t id)
{
	struct cache_line *c = line_of(m, id);

	c->key = 0;
	c->rsize = c->wsize = 0;
}

static struct object *own(struct machine *m, uint32_t id)
{
	struct object *o = memory_own(&m->s->memory, id);

	cache_fill(m, o, true);
	return o;
}

/* While schedules are explored, the n-th object of a thread has the same number whatever the other
 * threads did, and a stack object's is used again: states that are the same are to look the same.
 */
#define OWN_BASE (1u << 14)

static uint32_t own_number(uint32_t thread, enum object_kind kind, uint32_t n)
{
	return OWN_BASE + (n * MAX_EXPLORED_THREADS + thread) * 2 + (kind == OBJ_STACK);
}

static struct object *new_object(struct machine *m, enum object_kind kind, uint32_t size)
{
	struct state *s = m->s;
	struct thread *t = s->nthreads ? current_thread(m) : NULL;
	uint32_t n;

	if (!m->guide->points || !t)
		return memory_new(&s->memory, kind, size);
	n = kind == OBJ_STACK ? t->stack++ : t->heap++;
	return memory_new_at(&s->memory, own_number(s->current, kind, n), kind, size);
}

static void give_back_number(struct machine *m, uint32_t id)
{
	struct thread *t = current_thread(m);

	if (m->guide->points && t->stack &&
	    id == own_number(m->s->current, OBJ_STACK, t->stack - 1))
		t->stack--;
}

uint64_t mem_new(struct machine *m, enum object_kind kind, uint64_t size)
{
	struct object *o = new_object(m, kind, (uint32_t)size);
	struct frame *f = m->s->nthreads ? current_thread(m)->top : NULL;

	if (f) {
		o->function = f->f->index;
		o->pc = f->pc;
	}
	cache_fill(m, o, true);
	return object_address(o->id);
}

static void mem_release(struct machine *m, uint32_t id)
{
	cache_forget(m, id);
	memory_release(&m->s->memory, id);
}

void mem_release_to(struct machine *m, struct frame *f, uint32_t until)
{
	while (f->allocas != until && f->allocas) {
		uint32_t id = f->allocas;

		f->allocas = memory_find(&m->s->memory, id)->below;
		mem_release(m, id);
		give_back_number(m, id);
	}
}

static const char *describe(struct machine *m, const struct object *o, char *buf, size_t len)
{
	char where[160];

	if (o->name)
		snprintf(buf, len, "%s, %u bytes", o->name, o->size);
	else if (o->function != UINT32_MAX)
		snprintf(buf, len, "the %u bytes %s at %s", o->size,
			 o->kind == OBJ_HEAP ? "allocated" : "on the stack,",
			 ir_where(m->ir, m->ir->functions.data[o->function], o->pc, where,
				  sizeof(where)));
	else
		snprintf(buf, len, "an object of %u bytes", o->size);
	return buf;
}

static void bad_address(struct machine *m, struct sym_outcome *out, uint64_t addr, uint64_t len,
			bool write)
{
	struct object *o = mem_find(m, addr);
	const char *what = write ? "write" : "read";
	char text[200];

	if (o && o->freed)
		machine_outcome(m, out, SYM_USE_AFTER_FREE, "%s of %llu bytes after free, in %s",
				what, (unsigned long long)len, describe(m, o, text, sizeof(text)));
	else if (o && write && o->readonly &&
		 (uint64_t)((uint32_t)addr - ADDR_BIAS) + len <= o->size)
		machine_outcome(m, out, SYM_READONLY, "write to a constant: %s",
				describe(m, o, text, sizeof(text)));
	else if (o)
		machine_outcome(m, out, SYM_BOUNDS, "%s of %llu bytes at offset %lld of %s", what,
				(unsigned long long)len,
				(long long)((int64_t)(uint32_t)addr - ADDR_BIAS),
				describe(m, o, text, sizeof(text)));
	else if (addr & ADDR_TAG && id_of(addr) < m->s->memory.next_id)
		machine_outcome(m, out, SYM_USE_AFTER_FREE,
				"%s of a stack object whose function has returned", what);
	else if (addr < 65536)
		machine_outcome(m, out, SYM_NULL, "%s through a null pointer (address %llu)", what,
				(unsigned long long)addr);
	else if (addr & FUNC_TAG)
		machine_outcome(m, out, SYM_BAD_POINTER, "%s of a function's code", what);
	else
		machine_outcome(m, out, SYM_BAD_POINTER, "%s through a pointer to nothing (0x%llx)",
				what, (unsigned long long)addr);
}

/* Data of code that is not in the bitcode. On a recorded path it is taken for zeroes, with a note.
 */
static bool refuse_foreign(struct machine *m, const struct object *o)
{
	if (m->guide->sites) {
		machine_note(m, "%s, which is defined outside of the bitcode: taken for zeroes",
			     o->name);
		return false;
	}
	machine_outcome(
		m, &m->outcome, SYM_UNSUPPORTED,
		"the contents of %s, which is defined outside of the bitcode; build it with the "
		"program, or give it a model",
		o->name);
	return true;
}

enum stop mem_resolve(struct machine *m, uint64_t addr, uint64_t len, bool write,
		      struct object **ret, uint32_t *off)
{
	struct object *o = mem_find(m, addr);

	*off = (uint32_t)addr - ADDR_BIAS;
	if (!o || o->freed || *off > o->size || len > o->size - *off || (write && o->readonly)) {
		bad_address(m, &m->outcome, addr, len, write);
		return STOP_END;
	}
	if (o->foreign && refuse_foreign(m, o))
		return STOP_END;
	*ret = o;
	return STOP_NONE;
}

/* --- symbolic addresses --- */

/* A condition that can be true on the path but does not have to: report the error it leads to and
 * go on where it is false. STOP_END when it is always true. */
static enum stop exclude(struct machine *m, expr_id bad, uint64_t len, bool write, expr_id addr)
{
	struct model *model = NULL;
	struct sym_outcome out;
	uint64_t at;

	if (expr_is_const(&m->exprs, bad) && !expr_get(&m->exprs, bad)->imm)
		return STOP_NONE;
	switch (machine_may(m, bad, &model)) {
	case ANSWER_NO:
		return STOP_NONE;
	case ANSWER_UNKNOWN:
		machine_note(m,
			     "the solver could not decide whether an address stays in its object");
		return STOP_NONE;
	default:
		break;
	}
	expr_eval_begin(&m->exprs);
	at = expr_eval(&m->exprs, addr, model->values, model->count);
	bad_address(m, &out, at, len, write);
	m->guide->error(m, m->s, &out, model);
	model_unref(model);
	model = NULL;
	if (machine_may(m, expr_not(&m->exprs, bad), &model) != ANSWER_YES) {
		m->outcome = out;
		return STOP_END;
	}
	machine_assume(m, m->s, expr_not(&m->exprs, bad), model);
	return STOP_NONE;
}

/* The run has happened: the object is the one that was accessed, and nobody is asked. */
static enum stop resolve_known(struct machine *m, expr_id addr, uint64_t at, uint64_t len,
			       bool write, struct object **ret, expr_id *off)
{
	struct exprs *e = &m->exprs;
	uint32_t offset;
	enum stop st = mem_resolve(m, at, len, write, ret, &offset);

	if (st)
		return st;
	*off = expr_binary(e, EX_SUB, addr, expr_const(e, 64, object_address((*ret)->id)));
	machine_assume(m, m->s, expr_binary(e, EX_ULE, *off, expr_const(e, 64, (*ret)->size - len)),
		       NULL);
	return STOP_NONE;
}

/* Fix the object: after this the address lies within *ret, for `len` bytes; *off is 64 bits wide.
 */
static enum stop resolve_symbolic(struct machine *m, expr_id addr, uint64_t len, bool write,
				  struct object **ret, expr_id *off)
{
	struct exprs *e = &m->exprs;
	uint64_t at = machine_value(m, m->s, addr), base;
	struct object *o = mem_find(m, at);
	expr_id inside, rel;
	struct model *model = NULL;
	enum answer elsewhere = ANSWER_NO;
	enum stop st;

	if (m->known)
		return resolve_known(m, addr, at, len, write, ret, off);
	if (!o || o->freed) {
		/* the model's own choice is a bad address: report it, look for another */
		expr_id same = expr_binary(e, EX_EQ, expr_extract(e, addr, 32, 32),
					   expr_const(e, 32, at >> 32));

		st = exclude(m, same, len, write, addr);
		if (st)
			return st;
		return STOP_SWITCH; /* again, with the new model */
	}
	base = object_address(o->id);
	/* same high half: the object's own 4 GiB */
	inside =
		expr_binary(e, EX_EQ, expr_extract(e, addr, 32, 32), expr_const(e, 32, base >> 32));
	if (!expr_is_const(e, inside))
		elsewhere = machine_may(m, expr_not(e, inside), &model);
	if (elsewhere == ANSWER_UNKNOWN) {
		/* what may be another object must not count as outside of this one */
		m->s->bounded = true;
		machine_note(m,
			     "the solver could not decide whether an address means another object");
		machine_assume(m, m->s, inside, NULL);
	}
	if (elsewhere == ANSWER_YES) {
		uint64_t other;

		expr_eval_begin(e);
		other = expr_eval(e, addr, model->values, model->count);
		if (m->s->nthreads && other & ADDR_TAG &&
		    memory_find(&m->s->memory, id_of(other))) {
			/* another object: a fork runs this operation again without this one */
			struct state *c = state_fork(m->s, m->next_state++);

			m->stats.forks++;
			frame_own(&c->threads[c->current].top); /* ours goes on and changes */
			machine_assume(m, c, expr_not(e, inside), model);
			cache_clear(m);
			m->guide->forked(m, c);
		} else {
			struct sym_outcome out;

			bad_address(m, &out, other, len, write);
			m->guide->error(m, m->s, &out, model);
			model_unref(model);
		}
		machine_assume(m, m->s, inside, NULL);
	}
	rel = expr_binary(e, EX_SUB, addr, expr_const(e, 64, base));
	if (len > o->size) {
		bad_address(m, &m->outcome, at, len, write);
		return STOP_END;
	}
	st = exclude(m, expr_not(e, expr_binary(e, EX_ULE, rel, expr_const(e, 64, o->size - len))),
		     len, write, addr);
	if (st)
		return st;
	if (write && o->readonly) {
		bad_address(m, &m->outcome, base, len, write);
		return STOP_END;
	}
	*ret = memory_find(&m->s->memory, id_of(base));
	if ((*ret)->foreign && refuse_foreign(m, *ret))
		return STOP_END;
	*off = rel;
	return STOP_NONE;
}

static enum stop resolve_any(struct machine *m, expr_id addr, uint64_t len, bool write,
			     struct object **o, expr_id *off)
{
	enum stop st;

	for (int tries = 0; tries < 64; tries++) {
		st = resolve_symbolic(m, addr, len, write, o, off);
		if (st != STOP_SWITCH)
			return st;
	}
	return machine_fault(m, SYM_UNSUPPORTED,
			     "a pointer that may point to more places than the machine tries");
}

/* One place for an access of n bytes. *xoff is not 0 where the offset stays symbolic: in objects of at
 * most `largest` bytes; in larger ones the offset gets one value. */
static enum stop locate(struct machine *m, struct val addr, uint64_t n, bool write, size_t largest,
			struct object **o, uint32_t *off, expr_id *xoff)
{
	enum stop st;

	*xoff = 0;
	if (!addr.x)
		return mem_resolve(m, addr.c, n, write, o, off);
	st = resolve_any(m, addr.x, n, write, o, xoff);
	if (st || (!expr_is_const(&m->exprs, *xoff) && (*o)->size <= largest))
		return st;
	*off = (uint32_t)machine_concretise(m, (struct val){ 0, *xoff }, 64,
					    "an offset into a large object");
	*o = memory_find(&m->s->memory, (*o)->id);
	*xoff = 0;
	return STOP_NONE;
}

/* --- loads and stores --- */

static struct val read_bytes(struct machine *m, const struct object *o, uint32_t off, unsigned w)
{
	unsigned n = (w + 7) / 8;
	uint64_t c = 0;
	expr_id x = 0;
	bool symbolic = false;

	for (unsigned i = 0; o->sym && i < n; i++)
		symbolic |= o->sym[off + i] != 0;
	if (!symbolic) {
		memcpy(&c, o->bytes + off, n);
		return (struct val){ c & mask_of(w), 0 };
	}
	for (unsigned i = 0; i < n; i++) {
		expr_id b = o->sym[off + i] ? o->sym[off + i]
					    : expr_const(&m->exprs, 8, o->bytes[off + i]);

		x = i ? expr_concat(&m->exprs, b, x) : b;
	}
	return expr_val(m, w < 8 * n ? expr_extract(&m->exprs, x, 0, w) : x);
}

static struct val read_at(struct machine *m, const struct object *o, expr_id off, unsigned w)
{
	struct exprs *e = &m->exprs;
	uint32_t snap = expr_snapshot(e, o->bytes, o->sym, o->size);
	expr_id x = 0;

	for (unsigned i = 0; i < (w + 7) / 8; i++) {
		expr_id b = expr_read(e, snap, expr_binary(e, EX_ADD, off, expr_const(e, 64, i)));

		x = i ? expr_concat(e, b, x) : b;
	}
	return expr_val(m, w % 8 ? expr_extract(e, x, 0, w) : x);
}

enum stop mem_load(struct machine *m, struct val addr, unsigned w, struct val *ret)
{
	struct object *o;
	uint32_t off;
	expr_id xoff;
	enum stop st = locate(m, addr, (w + 7) / 8, false, MAX_SNAPSHOT, &o, &off, &xoff);

	if (st)
		return st;
	if (!addr.x)
		cache_fill(m, o, false);
	*ret = xoff ? read_at(m, o, xoff, w) : read_bytes(m, o, off, w);
	return STOP_NONE;
}

static void write_bytes(struct machine *m, struct object *o, uint32_t off, unsigned w, struct val v)
{
	unsigned n = (w + 7) / 8;

	if (v.x) {
		expr_id x = val_expr(m, v, 8 * n);

		object_make_symbolic(o);
		cache_forget(m, o->id);
		for (unsigned i = 0; i < n; i++) {
			expr_id b = expr_extract(&m->exprs, x, 8 * i, 8);
			bool known = expr_is_const(&m->exprs, b);

			o->sym[off + i] = known ? 0 : b;
			o->bytes[off + i] = known ? (uint8_t)expr_get(&m->exprs, b)->imm : 0;
		}
		return;
	}
	memcpy(o->bytes + off, &v.c, n);
	if (o->sym)
		memset(o->sym + off, 0, n * sizeof(*o->sym));
}

/* Every byte that the store may hit becomes "hit ? new : old". */
static void write_at(struct machine *m, struct object *o, expr_id off, unsigned w, struct val v)
{
	struct exprs *e = &m->exprs;
	unsigned n = (w + 7) / 8;
	expr_id x = val_expr(m, v, 8 * n);

	object_make_symbolic(o);
	cache_forget(m, o->id);
	for (uint32_t k = 0; k < o->size; k++) {
		expr_id old = o->sym[k] ? o->sym[k] : expr_const(e, 8, o->bytes[k]), now = old;

		for (unsigned i = 0; i < n && i <= k; i++)
			now = expr_ite(e, expr_binary(e, EX_EQ, off, expr_const(e, 64, k - i)),
				       expr_extract(e, x, 8 * i, 8), now);
		if (expr_is_const(e, now)) {
			o->bytes[k] = (uint8_t)expr_get(e, now)->imm;
			o->sym[k] = 0;
		} else {
			o->sym[k] = now;
		}
	}
}

enum stop mem_store(struct machine *m, struct val addr, unsigned w, struct val v)
{
	struct object *o;
	uint32_t off;
	expr_id xoff;
	enum stop st = locate(m, addr, (w + 7) / 8, true, MAX_SYMBOLIC_STORE, &o, &off, &xoff);

	if (st)
		return st;
	if (xoff)
		write_at(m, own(m, o->id), xoff, w, v);
	else
		write_bytes(m, own(m, o->id), off, w, v);
	return STOP_NONE;
}

/* --- blocks --- */

enum stop mem_copy(struct machine *m, struct val to, struct val from, struct val len)
{
	uint64_t n = machine_concretise(m, len, 64, "the length of a copy");
	uint64_t d = machine_concretise(m, to, 64, "the target of a copy");
	uint64_t s = machine_concretise(m, from, 64, "the source of a copy");
	struct object *a, *b;
	uint32_t ao, bo;
	enum stop st;

	if (!n)
		return STOP_NONE;
	st = mem_resolve(m, s, n, false, &a, &ao);
	if (!st)
		st = mem_resolve(m, d, n, true, &b, &bo);
	if (st)
		return st;
	b = own(m, b->id);
	a = memory_find(&m->s->memory, id_of(s)); /* may be the same object, just copied */
	memmove(b->bytes + bo, a->bytes + ao, n);
	if (a->sym) {
		object_make_symbolic(b);
		cache_forget(m, b->id);
		memmove(b->sym + bo, a->sym + ao, n * sizeof(*a->sym));
	} else if (b->sym) {
		memset(b->sym + bo, 0, n * sizeof(*b->sym));
	}
	return STOP_NONE;
}

enum stop mem_fill(struct machine *m, struct val to, struct val byte, struct val len)
{
	uint64_t n = machine_concretise(m, len, 64, "the length of a memset");
	uint64_t d = machine_concretise(m, to, 64, "the target of a memset");
	struct object *o;
	uint32_t off;
	enum stop st;

	if (!n)
		return STOP_NONE;
	st = mem_resolve(m, d, n, true, &o, &off);
	if (st)
		return st;
	o = own(m, o->id);
	if (byte.x) {
		for (uint64_t i = 0; i < n; i++)
			write_bytes(m, o, off + (uint32_t)i, 8,
				    (struct val){ 0, val_expr(m, byte, 8) });
		return STOP_NONE;
	}
	memset(o->bytes + off, (int)byte.c, n);
	if (o->sym)
		memset(o->sym + off, 0, n * sizeof(*o->sym));
	return STOP_NONE;
}

enum stop mem_bytes(struct machine *m, uint64_t addr, uint64_t len, uint8_t *out)
{
	struct object *o;
	uint32_t off;
	enum stop st;

	if (!len)
		return STOP_NONE;
	st = mem_resolve(m, addr, len, false, &o, &off);
	if (st)
		return st;
	for (uint64_t i = 0; i < len; i++) {
		if (o->sym && o->sym[off + i])
			out[i] = (uint8_t)machine_value(m, m->s, o->sym[off + i]);
		else
			out[i] = o->bytes[off + i];
	}
	return STOP_NONE;
}

enum stop mem_string(struct machine *m, uint64_t addr, char *out, size_t cap)
{
	size_t n = 0;
	enum stop st;

	do {
		st = mem_bytes(m, addr + n, 1, (uint8_t *)out + n);
		if (st)
			return st;
	} while (out[n] && ++n < cap - 1);
	out[n] = '\0';
	return STOP_NONE;
}

enum stop mem_write(struct machine *m, uint64_t addr, const void *data, uint64_t len)
{
	struct object *o;
	uint32_t off;
	enum stop st;

	if (!len)
		return STOP_NONE;
	st = mem_resolve(m, addr, len, true, &o, &off);
	if (st)
		return st;
	o = own(m, o->id);
	memcpy(o->bytes + off, data, len);
	if (o->sym)
		memset(o->sym + off, 0, len * sizeof(*o->sym));
	return STOP_NONE;
}

enum stop mem_free_call(struct machine *m, struct val addr)
{
	uint64_t at = machine_concretise(m, addr, 64, "a pointer to free");
	struct object *o;
	char text[200];

	if (!at || m->guide->sites) /* on a recorded path nothing is freed: sym/follow/plait.c */
		return STOP_NONE;
	o = mem_find(m, at);
	if (o && o->freed)
		return machine_fault(m, SYM_DOUBLE_FREE, "second free of %s",
				     describe(m, o, text, sizeof(text)));
	if (!o || o->kind != OBJ_HEAP || at != object_address(o->id))
		return machine_fault(m, SYM_BAD_FREE,
				     "free of something that malloc did not return: %s",
				     o ? describe(m, o, text, sizeof(text)) : "no object");
	mem_release(m, o->id);
	return STOP_NONE;
}
