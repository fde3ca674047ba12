/* rewind/forward.c - see forward.h.
 *
 * Registers and memory hold expressions. What the code reads and nobody has written comes from the
 * state after the step, unless the step overwrites it: then it is a symbol (r->before). A call that
 * is not entered does what summaries.def says; a system call does what its arguments allow. */
#include "rewind/forward.h"

#include "base/mem.h"
#include "debug/dump.h"
#include "rewind/compute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WRITTEN = 1 << 16 };

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

/* Was there memory? A skipped call may have given some back, so then only the obvious counts. */
static bool readable(struct run *r, uint64_t address)
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
	if (!readable(r, at)) { /* it would have failed here, not later */
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
	if (!readable(r, at)) {
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
	if (len > MOST_WRITTEN || !readable(r, at)) {
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

static bool allocates(const struct effect *e)
{
	return e->kind == EFFECT_ALLOCATES || e->kind == EFFECT_ZEROES;
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

/* Where and how much a call wrote. */
static void apply(struct run *r, const struct effect *e)
{
	uint64_t at, len = e->fixed, scale = 1;

	if (e->kind == EFFECT_NONE || e->kind == EFFECT_LENGTH)
		return;
	if (e->kind == EFFECT_THREADS)
		overwrite_shared(r);
	if (!(allocates(e) ? past_value(r->h, r->now, result_of(r), &at)
			   : argument(r, e->where, &at)) ||
	    (e->length >= 0 && !argument(r, (unsigned)e->length, &len)) ||
	    (e->scale && !argument(r, e->scale - 1u, &scale))) {
		r->lost = true;
		r->lost_at = r->insn;
		return;
	}
	if (is_strange_thread(r, e, at)) {
		r->why = "a thread that the dump does not know";
		return;
	}
	if (at == 0 && (e->kind != EFFECT_WRITES || e->fixed)) /* free(NULL), strtol(s, NULL, 0) */
		return;
	vec_push(
		&r->accesses,
		((struct access){ .insn = r->insn,
				  .order = r->order,
				  .address = expr_const(&r->h->exprs, 64, at),
				  .w = 0,
				  .is_write = e->kind == EFFECT_WRITES || e->kind == EFFECT_THREADS,
				  .value = expr_const(&r->h->exprs, 64, len * scale) }));
	overwrite(r, at, e->kind == EFFECT_FREES ? 16 : MAX(len * scale, e->fixed));
	for (uint64_t i = 0; e->kind == EFFECT_ZEROES && !r->why && i < len * scale; i++)
		*map_put(&r->stored, at + i, 0) = expr_const(&r->h->exprs, 8, 0);
}

/* The length of a text, where all of it is known. */
static bool text_length(struct run *r, uint64_t *ret)
{
	uint64_t at, byte;

	if (!argument(r, 0, &at) || r->lost)
		return false;
	for (*ret = 0; *ret < MOST_WRITTEN; ++*ret) {
		if (!readable(r, at + *ret) ||
		    !past_value(r->h, r->now, load_byte(r, at + *ret), &byte))
			return false;
		if (!byte)
			return true;
	}
	return false;
}

static void skip_call(struct run *r, const struct piece *piece)
{
	const struct effect *e = piece->effect;
	static const uint8_t lost[] = { LIFT_RAX, LIFT_RCX, LIFT_RDX, LIFT_RSI, LIFT_RDI,
					LIFT_R8,  LIFT_R9,  LIFT_R10, LIFT_R11, LIFT_CF,
					LIFT_PF,  LIFT_AF,  LIFT_ZF,  LIFT_SF,	LIFT_OF };
	struct exprs *x = &r->h->exprs;
	uint64_t sp, length = 0;
	bool is_length = e->kind == EFFECT_LENGTH && text_length(r, &length);

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
	r->lost = r->refuted = false;
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
