/* rewind/forward.c - see forward.h.
 *
 * Registers and memory hold expressions. What the code reads and nobody has written comes from the
 * state after the step, unless the step overwrites it: then it is a symbol (r->before). A call that
 * is not entered does what summaries.def says; a system call does what its arguments allow. */
#include "rewind/forward.h"

#include "base/mem.h"
#include "debug/dump.h"
#include "debug/heap.h"
#include "rewind/compute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WRITTEN = 1 << 16, FREE_BLOCKS = 64, BOOKKEEPING = 16 /* of a free block, in it */ };

expr_id run_fresh(struct run *r, unsigned w, enum owner owner, uint64_t number, const char *what)
{
	uint64_t place = owner == OF_MEMORY ? 0 : r->place;
	uint64_t key = hash_u64(hash_u64(place << 3 | owner) ^ number);
	uint64_t *known = map_find(r->fresh, key);

	if (!known)
		known = map_put(r->fresh, key, past_unknown(r->h, w, what));
	return (expr_id)*known;
}

/* ---- memory of the run ---- */

static expr_id load_byte(struct run *r, uint64_t address)
{
	uint64_t *v = map_find(&r->stored, address);

	if (!v)
		v = map_find(r->before, address);
	return v ? past_simplify(r->h, r->now, (expr_id)*v) : past_byte(r->h, r->now, address);
}

static void note(struct run *r, expr_id address, unsigned w, bool is_write, expr_id value)
{
	vec_push(&r->accesses, ((struct access){ .insn = r->insn,
						 .order = r->order,
						 .address = address,
						 .w = (uint8_t)w,
						 .is_write = is_write,
						 .value = value }));
}

bool run_readable(struct run *r, uint64_t address)
{
	const struct dump *d = r->h->dump;

	if (address < 4096 || address >= 1ull << 47)
		return false;
	for (size_t i = 0; i < d->segments.len; i++)
		if (address >= d->segments.data[i].address &&
		    address - d->segments.data[i].address < d->segments.data[i].size)
			return true;
	return r->after->floor || r->floor;
}

static expr_id load(struct run *r, expr_id address, unsigned w)
{
	struct exprs *x = &r->h->exprs;
	uint64_t at;
	expr_id v;

	address = past_simplify(r->h, r->now, address);
	if (!expr_is_const(x, address) || r->lost) {
		v = run_fresh(r, w, OF_OPERATION, 0, "load");
		note(r, address, w, false, v);
		return past_simplify(r->h, r->now, v);
	}
	at = expr_get(x, address)->imm;
	if (!run_readable(r, at)) { /* it would have failed here, not later */
		r->refuted = true;
		return run_fresh(r, w, OF_OPERATION, 0, "load");
	}
	v = load_byte(r, at + w / 8 - 1);
	for (unsigned i = w / 8 - 1; i-- > 0;)
		v = expr_concat(x, v, load_byte(r, at + i));
	note(r, address, w, false, v);
	return v;
}

static void store(struct run *r, expr_id address, unsigned w, expr_id value)
{
	struct exprs *x = &r->h->exprs;
	uint64_t at;

	address = past_simplify(r->h, r->now, address);
	note(r, address, w, true, value);
	if (!expr_is_const(x, address)) {
		if (!r->lost)
			r->lost_at = r->insn;
		r->lost = true;
		return;
	}
	at = expr_get(x, address)->imm;
	if (!run_readable(r, at)) {
		r->refuted = true;
		return;
	}
	for (unsigned i = 0; i < w / 8; i++)
		*map_put(&r->stored, at + i, 0) = expr_extract(x, value, 8 * i, 8);
}

/* ---- operations ---- */

/* The exits of an instruction: only the one that was taken is. */
static void leave(struct run *r, expr_id guard, bool taken)
{
	if (!taken)
		guard = expr_not(&r->h->exprs, guard);
	if (!past_assume(r->h, r->now, guard))
		r->refuted = true;
}

/* ---- system calls ---- */

static const uint8_t arguments[6] = { LIFT_RDI, LIFT_RSI, LIFT_RDX, LIFT_RCX, LIFT_R8, LIFT_R9 };

static bool argument(struct run *r, unsigned n, uint64_t *ret)
{
	return past_value(r->h, r->now, r->now->registers[arguments[n]], ret);
}

static void overwrite(struct run *r, uint64_t at, uint64_t len)
{
	if (len > MOST_WRITTEN || !run_readable(r, at)) {
		r->why = "a call that wrote too much";
		return;
	}
	for (uint64_t i = 0; i < len; i++)
		*map_put(&r->stored, at + i, 0) =
			run_fresh(r, 8, OF_BYTE, at + i, "written by a call");
}

/* What system calls change in the program: nothing, or a buffer (argument, length or argument). Others
 * cannot be stepped over. */
static void system_call(struct run *r, uint64_t next)
{
	static const struct {
		uint16_t number;
		int8_t buffer, length; /* numbers of arguments; -1 = none */
		uint8_t fixed;
	} known[] = { { 0, 1, 2, 0 },			      /* read */
		      { 1, -1, -1, 0 },	  { 3, -1, -1, 0 },   /* write, close */
		      { 14, 2, -1, 8 },	  { 24, -1, -1, 0 },  /* rt_sigprocmask, sched_yield */
		      { 39, -1, -1, 0 },  { 186, -1, -1, 0 }, /* getpid, gettid */
		      { 202, -1, -1, 0 }, { 234, -1, -1, 0 } /* futex, tgkill */ };
	expr_id *regs = r->now->registers;
	uint64_t number, at, len = 0;
	size_t i = 0;

	r->why = "a system call";
	if (!past_value(r->h, r->now, regs[LIFT_RAX], &number))
		return;
	while (i < ARRAY_SIZE(known) && known[i].number != number)
		i++;
	if (i == ARRAY_SIZE(known))
		return;
	if (known[i].buffer >= 0) {
		len = known[i].fixed;
		if (!argument(r, (unsigned)known[i].buffer, &at) ||
		    (known[i].length >= 0 && !argument(r, (unsigned)known[i].length, &len)))
			return;
		r->why = NULL;
		if (at)
			overwrite(r, at, len);
	}
	r->why = NULL;
	regs[LIFT_RAX] = past_simplify(r->h, r->now, run_fresh(r, 64, OF_OPERATION, 0, "result"));
	regs[LIFT_RCX] = expr_const(&r->h->exprs, 64, next);
	regs[LIFT_R11] = past_simplify(r->h, r->now, run_fresh(r, 64, OF_FLAGS, 0, "flags"));
}

/* ---- instructions ---- */

static void run_insn(struct run *r, const struct function *f, const struct insn *in, bool is_last,
		     const struct piece *piece)
{
	const struct lift_op *ops = insn_ops(f, in);
	int exit = 0;

	r->insn = in->address;
	for (unsigned i = 0; i < in->nops && !r->why; i++) {
		const struct lift_op *op = &ops[i];

		r->place++;
		switch (op->kind) {
		case LIFT_CONST:
			r->temps[op->dst] = expr_const(&r->h->exprs, op->w, op->imm);
			break;
		case LIFT_GET:
			r->temps[op->dst] = r->now->registers[op->imm];
			break;
		case LIFT_PUT:
			r->now->registers[op->imm] = r->temps[op->a];
			break;
		case LIFT_LOAD:
			r->temps[op->dst] = load(r, r->temps[op->a], op->w);
			break;
		case LIFT_STORE:
			store(r, r->temps[op->a], op->w, r->temps[op->b]);
			break;
		case LIFT_OPAQUE:
			r->temps[op->dst] = past_simplify(
				r->h, r->now, run_fresh(r, op->w, OF_OPERATION, 0, "some value"));
			break;
		case LIFT_EXIT:
			leave(r, r->temps[op->a], is_last && exit == piece->exit);
			if (is_last && exit++ == piece->exit)
				return;
			break;
		case LIFT_NEXT:
			if (op->w == LIFT_SYSCALL)
				system_call(r, op->imm);
			if (is_last && op->a)
				leave(r,
				      expr_binary(&r->h->exprs, EX_EQ, r->temps[op->a],
						  expr_const(&r->h->exprs, 64, piece->to)),
				      true);
			break;
		case LIFT_REFUSE:
			r->why = "an instruction that cannot be lifted";
			break;
		default:
			r->temps[op->dst] = compute(&r->h->exprs, op, r->temps);
		}
	}
}

/* ---- calls that are not entered ---- */

/* What the call returned, a symbol. */
static expr_id result_of(struct run *r)
{
	return run_fresh(r, 64, OF_REGISTER, LIFT_RAX, "result of a call");
}

/* Does it write to what it returns? */
static bool is_result(const struct effect *e)
{
	return e->kind == EFFECT_ALLOCATES || e->kind == EFFECT_ZEROES ||
	       e->kind == EFFECT_RESIZES || e->kind == EFFECT_DOUBLES;
}

/* A thread is started or joined that the dump does not know: a loop over threads ran too often, or the thread's
 * memory is gone. */
static bool is_strange_thread(struct run *r, const struct effect *e, uint64_t at)
{
	bool joins = e->where == 1;
	uint64_t thread;

	if (e->kind != EFFECT_THREADS || !r->h->threads.len)
		return false;
	if (!(joins ? argument(r, 0, &thread)
		    : past_value(r->h, r->now, past_load(r->h, r->after, at, 64), &thread)))
		return false;
	return !map_find(&r->h->threads, thread);
}

/* While the call waited, other threads may have changed what they share. */
static void overwrite_shared(struct run *r)
{
	for (size_t i = 0; i < r->h->shared.len; i++)
		overwrite(r, r->h->shared.entries[i].key, 1);
}

/* The length of a text, where all of it is known. */
static bool text_length(struct run *r, uint64_t at, uint64_t *ret)
{
	uint64_t byte;

	if (r->lost)
		return false;
	for (*ret = 0; *ret < MOST_WRITTEN; ++*ret) {
		if (!run_readable(r, at + *ret) ||
		    !past_value(r->h, r->now, load_byte(r, at + *ret), &byte))
			return false;
		if (!byte)
			return true;
	}
	return false;
}

/* How long the text is that lies there behind the step; strcat() does not tell otherwise. */
static bool length_after(struct run *r, uint64_t at, uint64_t *ret)
{
	uint64_t byte;

	for (*ret = 0; *ret < MOST_WRITTEN; ++*ret) {
		if (!run_readable(r, at + *ret) ||
		    !past_value(r->h, r->now, past_byte(r->h, r->after, at + *ret), &byte))
			return false;
		if (!byte)
			return true;
	}
	return false;
}

/* Where and how much a call wrote. */
struct extent {
	uint64_t at, len;
	uint64_t from; /* that it copied; 0 = nothing */
};

/* False: one of its arguments is not known. */
static bool find_extent(struct run *r, const struct effect *e, struct extent *ret)
{
	uint64_t scale = 1, result, tail;

	*ret = (struct extent){ .len = e->fixed };
	if (!(is_result(e) ? past_value(r->h, r->now, result_of(r), &ret->at)
			   : argument(r, e->where, &ret->at)) ||
	    (e->length >= 0 && !argument(r, (unsigned)e->length, &ret->len)) ||
	    (e->scale && !argument(r, e->scale - 1u, &scale)))
		return false;
	ret->len *= scale;
	switch (e->kind) {
	case EFFECT_COPIES:
		return argument(r, 1, &ret->from);
	case EFFECT_TEXT:
	case EFFECT_APPENDS:
		if (!argument(r, 1, &ret->from) || !text_length(r, ret->from, &ret->len))
			return false;
		if (e->kind == EFFECT_APPENDS) {
			if (!length_after(r, ret->at, &tail) || tail < ret->len)
				return false;
			ret->at += tail - ret->len;
		}
		ret->len++;
		return true;
	case EFFECT_DOUBLES:
		if (!argument(r, 0, &ret->from) || !text_length(r, ret->from, &ret->len))
			return false;
		ret->len++;
		return true;
	case EFFECT_PRINTS:
		if (!past_value(r->h, r->now, result_of(r), &result))
			return false;
		ret->len = (uint32_t)result + 1ull;
		return true;
	default:
		return true;
	}
}

static void note_call(struct run *r, const struct effect *e, const struct extent *x)
{
	struct exprs *ex = &r->h->exprs;
	bool is_heap =
		e->kind == EFFECT_FREES || e->kind == EFFECT_ALLOCATES || e->kind == EFFECT_ZEROES;
	struct access a = { .insn = r->insn,
			    .order = r->order,
			    .address = expr_const(ex, 64, x->at),
			    .is_write = !is_heap,
			    .value = expr_const(ex, 64, x->len) };

	if (e->kind == EFFECT_COPIES)
		a.before = expr_const(ex, 64, x->from);
	vec_push(&r->accesses, a);
}

/* What it wrote is known as far as its source is. */
static void fill_in(struct run *r, const struct effect *e, const struct extent *x)
{
	expr_id *bytes;

	if (r->lost || x->len > MOST_WRITTEN)
		return;
	bytes = xcalloc(x->len + 1, sizeof(*bytes));
	for (uint64_t i = 0; i < x->len; i++) { /* all of it first: memmove() */
		if (x->from && run_readable(r, x->from + i))
			bytes[i] = load_byte(r, x->from + i);
		else if (e->kind == EFFECT_SETS)
			bytes[i] = expr_extract(&r->h->exprs, r->now->registers[LIFT_RSI], 0, 8);
		else if (e->kind == EFFECT_ZEROES)
			bytes[i] = expr_const(&r->h->exprs, 8, 0);
	}
	overwrite(r, x->at, MAX(x->len, e->fixed));
	for (uint64_t i = 0; i < x->len && !r->why; i++)
		if (bytes[i])
			*map_put(&r->stored, x->at + i, 0) = bytes[i];
	free(bytes);
}

/* Which block was freed is not known any more. It is one of those that are free in the dump, or was handed out again by
 * a later call, which then says so; or free(NULL), which does nothing. */
static void free_some_block(struct run *r)
{
	struct history *h = r->h;

	if (!h->free_blocks) {
		h->free_blocks = xcalloc(FREE_BLOCKS, sizeof(*h->free_blocks));
		h->nfree_blocks = heap_free_blocks(h->dump, h->free_blocks, FREE_BLOCKS);
	}
	if (h->nfree_blocks > FREE_BLOCKS || heap_broken_at(h->dump)) {
		r->lost = true;
		r->lost_at = r->insn;
		return;
	}
	r->some_block = true;
	for (size_t i = 0; i < h->nfree_blocks && !r->why; i++)
		overwrite(r, h->free_blocks[i], BOOKKEEPING);
}

/* The block stayed where it is, or was copied. */
static void resize(struct run *r, const struct extent *x)
{
	uint64_t old;

	if (!argument(r, 0, &old))
		free_some_block(r);
	else if (old && old != x->at)
		overwrite(r, old, BOOKKEEPING);
	if (x->at && !r->why && !(argument(r, 0, &old) && old == x->at))
		overwrite(r, x->at, MAX(x->len, (uint64_t)BOOKKEEPING));
}

static void apply(struct run *r, const struct effect *e)
{
	struct extent x;

	if (e->kind == EFFECT_NONE || e->kind == EFFECT_LENGTH)
		return;
	if (e->kind == EFFECT_THREADS)
		overwrite_shared(r);
	if (!find_extent(r, e, &x)) {
		if (e->kind == EFFECT_FREES) {
			free_some_block(r);
		} else {
			r->lost = true;
			r->lost_at = r->insn;
		}
		return;
	}
	if (is_strange_thread(r, e, x.at)) {
		r->why = "a thread that the dump does not know";
		return;
	}
	if (x.at == 0 &&
	    (e->kind != EFFECT_WRITES || e->fixed)) /* free(NULL), strtol(s, NULL, 0) */
		return;
	note_call(r, e, &x);
	if (e->kind == EFFECT_FREES)
		overwrite(r, x.at, BOOKKEEPING);
	else if (e->kind == EFFECT_RESIZES)
		resize(r, &x);
	else
		fill_in(r, e, &x);
}

static void skip_call(struct run *r, const struct piece *piece)
{
	const struct effect *e = piece->effect;
	static const uint8_t lost[] = { LIFT_RAX, LIFT_RCX, LIFT_RDX, LIFT_RSI, LIFT_RDI,
					LIFT_R8,  LIFT_R9,  LIFT_R10, LIFT_R11, LIFT_CF,
					LIFT_PF,  LIFT_AF,  LIFT_ZF,  LIFT_SF,	LIFT_OF };
	struct exprs *x = &r->h->exprs;
	uint64_t sp, text, length = 0;
	bool is_length =
		e->kind == EFFECT_LENGTH && argument(r, 0, &text) && text_length(r, text, &length);

	leave(r,
	      expr_binary(x, EX_EQ, load(r, r->now->registers[LIFT_RSP], 64),
			  expr_const(x, 64, piece->to)),
	      true);
	if (past_value(r->h, r->now, r->now->registers[LIFT_RSP], &sp)) {
		r->floor = MAX(r->floor, sp);
	} else {
		r->lost = true;
		r->lost_at = r->insn;
	}
	r->skipped = e->address;
	apply(r, e);
	for (unsigned i = 0; i < ARRAY_SIZE(lost); i++)
		r->now->registers[lost[i]] =
			past_simplify(r->h, r->now,
				      run_fresh(r, lift_register_width(lost[i]), OF_REGISTER,
						lost[i], "result of a call"));
	for (unsigned i = LIFT_YMM; i < LIFT_REGISTERS; i++)
		r->now->registers[i] = run_fresh(r, 64, OF_REGISTER, i, "result of a call");
	if (is_length)
		r->now->registers[LIFT_RAX] = expr_const(x, 64, length);
	r->now->registers[LIFT_RSP] =
		expr_binary(x, EX_ADD, r->now->registers[LIFT_RSP], expr_const(x, 64, 8));
}

/* ---- all of it ---- */

void run_upto(struct run *r, uint32_t upto)
{
	map_clear(&r->stored);
	vec_clear(&r->accesses);
	r->lost = r->refuted = r->some_block = false;
	r->why = NULL;
	r->place = r->order = 0;
	r->floor = 0;
	memcpy(r->now->registers, r->start, sizeof(r->start));
	for (unsigned i = 0; i < LIFT_REGISTERS; i++)
		r->now->registers[i] = past_simplify(r->h, r->now, r->now->registers[i]);
	for (uint32_t i = 0; i < r->npieces && !r->why; i++) {
		const struct piece *p = &r->pieces[i];

		for (uint32_t k = 0; k < p->n && !r->why; k++) {
			if (r->order == upto)
				return;
			run_insn(r, p->function, &p->function->insns.data[p->first + k],
				 k + 1 == p->n, p);
			r->order++;
		}
		if (p->way == WAY_SKIPPED && !r->why)
			skip_call(r, p);
	}
}
