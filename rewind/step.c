/* rewind/step.c - see step.h.
 *
 * The code is run *forwards* on a guess of the state before it. The guess is the state after, with
 * everything the code writes replaced by symbols: registers are written by fixed instructions, bytes
 * of memory are found by running. What comes out must equal the state after; those equations give
 * the symbols their values, or show that this code did not run.
 *
 *   1. which bytes are written? Run, collect, run again with those bytes unknown, until the set stays
 *      the same. An address may follow only from what the registers must be afterwards, so each
 *      run is followed by the equations of the registers, and a new binding means a new run.
 *   2. equate memory, exits and registers for good.
 *   3. ask the solver about what could not be turned around.
 *
 * Step 1 takes a value that the code read from memory as unchanged if no write of the same code is
 * known to hit it. A write whose address depends on the very bytes it overwrites could deceive
 * it; the equations of step 2 then fail, unless the bytes happen to agree.
 *
 * A write whose address is not known may hit anything. Before the step is made longer we try whether the
 * writes to known addresses tell that address (p = calloc(...); p->size = 3), which holds if it
 * hits none of them. If that leads to a contradiction nothing was shown; if not, the step says
 * that it was guessed. */
#include "rewind/step.h"

#include "base/map.h"
#include "base/mem.h"
#include "debug/dump.h"
#include "rewind/compute.h"
#include "rewind/fixed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 8, INNER_ROUNDS = 6, MOST_WRITTEN = 1 << 16, MOST_EVIDENCE = 64 };

struct cell {
	uint64_t address;
	expr_id value; /* 8 bits */
};

/* A run of the code, forwards. */
struct run {
	struct history *h;
	const struct past *after;
	const struct piece *pieces;
	uint32_t npieces;
	struct past *now; /* bindings and constraints of this attempt; registers change */
	expr_id start[LIFT_REGISTERS]; /* the registers before */
	bool written[LIFT_REGISTERS];
	struct map *before; /* address -> expr_id: bytes that will be overwritten */
	struct map stored;  /* address -> expr_id: bytes written so far */
	struct map *fresh;  /* place in the code -> symbol, the same in every run */
	VEC(struct access) accesses;
	expr_id temps[LIFT_MAX_OPS + 1];
	uint64_t floor;	  /* the highest stack pointer at a call that was skipped */
	uint64_t skipped; /* address of a function that was skipped */
	bool lost;	  /* a write went to an unknown address */
	bool guess;	  /* take it that such a write hits nothing else that the code writes */
	uint64_t lost_at;
	const char *why; /* cannot be stepped over */
	bool refuted;
	uint32_t agreed; /* bits that agreed with the state after */
	uint64_t place;	 /* of the operation in the code; keys of `fresh` */
	uint32_t order;	 /* of the instruction */
	uint64_t insn;
};

/* What an unknown value belongs to: with a number, and the place in the code but for OF_MEMORY, what it
 * is known by. */
enum owner { OF_OPERATION, OF_FLAGS, OF_REGISTER, OF_BYTE, OF_MEMORY };

static expr_id fresh(struct run *r, unsigned w, enum owner owner, uint64_t number, const char *what)
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
		v = fresh(r, w, OF_OPERATION, 0, "load");
		note(r, address, w, false, v);
		return past_simplify(r->h, r->now, v);
	}
	at = expr_get(x, address)->imm;
	if (!readable(r, at)) { /* it would have failed here, not later */
		r->refuted = true;
		return fresh(r, w, OF_OPERATION, 0, "load");
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
		*map_put(&r->stored, at + i, 0) = fresh(r, 8, OF_BYTE, at + i, "written by a call");
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
	regs[LIFT_RAX] = past_simplify(r->h, r->now, fresh(r, 64, OF_OPERATION, 0, "result"));
	regs[LIFT_RCX] = expr_const(&r->h->exprs, 64, next);
	regs[LIFT_R11] = past_simplify(r->h, r->now, fresh(r, 64, OF_FLAGS, 0, "flags"));
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
				r->h, r->now, fresh(r, op->w, OF_OPERATION, 0, "some value"));
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
	return fresh(r, 64, OF_REGISTER, LIFT_RAX, "result of a call");
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
				      fresh(r, lift_register_width(lost[i]), OF_REGISTER, lost[i],
					    "result of a call"));
	for (unsigned i = LIFT_YMM; i < LIFT_REGISTERS; i++)
		r->now->registers[i] = fresh(r, 64, OF_REGISTER, i, "result of a call");
	if (is_length)
		r->now->registers[LIFT_RAX] = expr_const(x, 64, length);
	r->now->registers[LIFT_RSP] =
		expr_binary(x, EX_ADD, r->now->registers[LIFT_RSP], expr_const(x, 64, 8));
}

/* ---- the attempt ---- */

/* As far as the instruction number `upto`. */
static void run_upto(struct run *r, uint32_t upto)
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

/* Registers that the code overwrites, but that hold the same in every run (rewind/fixed.h). */
static void find_fixed(struct run *r)
{
	const struct piece *p = &r->pieces[0];
	const struct function *f = p->function;
	const struct block *b = function_block(f, f->insns.data[p->first].address);
	const struct fixed_block *fixed = &f->fixed[b - f->blocks.data];
	uint64_t sp, frame = 0;
	bool in_frame = r->npieces == 1 && p->first == b->first && p->n == b->n &&
			p->way != WAY_SKIPPED && fixed->behind[LIFT_RSP].kind == FIXED_FRAME &&
			past_value(r->h, r->after, r->after->registers[LIFT_RSP], &sp);

	if (in_frame)
		frame = sp - fixed->behind[LIFT_RSP].number;
	for (unsigned i = 0; i < 16; i++) {
		const struct fixed *x = &fixed->before[i];

		if (!r->written[i] || p->first != b->first)
			continue;
		if (x->kind == FIXED_NUMBER)
			r->start[i] = expr_const(&r->h->exprs, 64, x->number);
		else if (x->kind == FIXED_FRAME && in_frame)
			r->start[i] = expr_const(&r->h->exprs, 64, frame + x->number);
	}
}

/* Which registers the code writes, by its text. */
static void find_written(struct run *r)
{
	for (uint32_t i = 0; i < r->npieces; i++) {
		const struct piece *p = &r->pieces[i];

		for (uint32_t k = 0; k < p->n; k++) {
			const struct insn *in = &p->function->insns.data[p->first + k];
			const struct lift_op *ops = insn_ops(p->function, in);

			for (unsigned n = 0; n < in->nops; n++) {
				if (ops[n].kind == LIFT_PUT)
					r->written[ops[n].imm] = true;
				if (ops[n].kind == LIFT_NEXT && ops[n].w == LIFT_SYSCALL)
					r->written[LIFT_RAX] = r->written[LIFT_RCX] =
						r->written[LIFT_R11] = true;
			}
		}
		if (p->way != WAY_SKIPPED)
			continue;
		for (unsigned n = LIFT_CF; n <= LIFT_OF; n++)
			r->written[n] = true;
		for (unsigned n = 0; n < 16; n++)
			if (n != LIFT_RBX && n != LIFT_RBP && n < LIFT_R12)
				r->written[n] = true;
		for (unsigned n = LIFT_YMM; n < LIFT_REGISTERS; n++)
			r->written[n] = true;
	}
	find_fixed(r);
	for (unsigned i = 0; i < LIFT_REGISTERS; i++) {
		char name[24];

		if (r->start[i]) /* it is the same in every run */
			continue;
		r->start[i] = r->after->registers[i];
		if (!r->written[i])
			continue;
		snprintf(name, sizeof(name), "register %u", i);
		r->start[i] = past_unknown(r->h, lift_register_width(i), name);
	}
}

static bool equate_registers(struct run *r)
{
	for (unsigned i = 0; i < LIFT_REGISTERS; i++) {
		expr_id is = r->now->registers[i], must = r->after->registers[i];

		if (!r->written[i])
			continue;
		if (past_agrees(r->h, r->now, is, must))
			r->agreed += lift_register_width(i);
		else if (!past_equate(r->h, r->now, is, must))
			return false;
	}
	return true;
}

/* Whole writes first, where nothing was written over them. */
static bool equate_writes(struct run *r)
{
	struct exprs *x = &r->h->exprs;

	for (size_t i = 0; i < r->accesses.len; i++) {
		const struct access *a = &r->accesses.data[i];
		bool last = true;
		uint64_t at;

		if (!a->is_write || !a->w || !past_value(r->h, r->now, a->address, &at))
			continue;
		for (unsigned k = 0; k < a->w / 8u && last; k++) {
			const uint64_t *v = map_find(&r->stored, at + k);

			/* none: the address became known only behind this run */
			last = v && *v == expr_extract(x, a->value, 8 * k, 8);
		}
		if (!last)
			continue;
		if (past_agrees(r->h, r->now, a->value, past_load(r->h, r->after, at, a->w)))
			r->agreed += a->w;
		else if (!past_equate(r->h, r->now, a->value, past_load(r->h, r->after, at, a->w)))
			return false;
	}
	return true;
}

/* With the bytes in r->before unknown: run until the registers tell nothing new. False: there is a
 * contradiction, which means something only if these are the bytes that were written. */
static bool settle_run(struct run *r)
{
	uint32_t agreed = 0;

	*r->now = *r->after;
	for (int i = 0; i < INNER_ROUNDS; i++) {
		const struct trie *known = r->now->bindings;

		run_upto(r, UINT32_MAX);
		if (r->why)
			return true;
		r->agreed = 0;
		if (r->refuted || !equate_registers(r) ||
		    (r->guess && r->lost && !equate_writes(r)))
			return false;
		if (i == 0) /* later rounds repeat what this one has bound */
			agreed = r->agreed;
		r->agreed = agreed;
		if (r->now->bindings == known)
			break;
	}
	return true;
}

/* The bytes of one write become one symbol, so that an equation about all of them can be turned
 * around; bytes that an earlier write has made unknown stay as they are. */
static bool adopt_write(struct run *r, uint64_t at, unsigned bytes, struct map *next)
{
	bool same = true;
	expr_id word = 0;

	for (unsigned i = 0; i < bytes; i++) {
		uint64_t *old = map_find(r->before, at + i);

		if (map_find(next, at + i))
			continue;
		if (!old && !word)
			word = fresh(r, 8 * bytes, OF_MEMORY, at | (uint64_t)bytes << 56,
				     "overwritten");
		same &= old != NULL;
		map_put(next, at + i, old ? *old : expr_extract(&r->h->exprs, word, 8 * i, 8));
	}
	return same;
}

/* Make the bytes that were written, and no others, unknown. True: they were so already. */
static bool adopt_written(struct run *r)
{
	struct map next = { 0 };
	bool same = true;
	uint64_t at;

	for (size_t i = 0; i < r->accesses.len; i++) {
		const struct access *a = &r->accesses.data[i];

		if (a->is_write && a->w && past_value(r->h, r->now, a->address, &at))
			same &= adopt_write(r, at, a->w / 8, &next);
	}
	for (size_t i = 0; i < r->stored.len; i++) /* by calls */
		same &= adopt_write(r, r->stored.entries[i].key, 1, &next);
	if (next.len != r->before->len)
		same = false;
	map_deinit(r->before);
	*r->before = next;
	return same;
}

static bool equate_memory(struct run *r)
{
	if (!equate_writes(r))
		return false;
	for (size_t i = 0; i < r->stored.len; i++) {
		uint64_t at = r->stored.entries[i].key;

		if (!past_equate(r->h, r->now, (expr_id)r->stored.entries[i].value,
				 past_byte(r->h, r->after, at)))
			return false;
	}
	return true;
}

/* ---- the result ---- */

/* Is nothing of this write overwritten by a later one? */
static bool is_last_write(struct run *r, size_t i, uint64_t at, unsigned w)
{
	uint64_t other;

	for (size_t k = i + 1; k < r->accesses.len; k++) {
		const struct access *b = &r->accesses.data[k];

		if (b->is_write && past_value(r->h, r->now, b->address, &other) &&
		    other < at + w / 8 && at < other + MAX(b->w / 8u, 1u << 12))
			return false;
	}
	return true;
}

static void fill(struct run *r, struct step *ret)
{
	struct history *h = r->h;
	struct past *p = past_fork(h, r->now);
	uint32_t n = 0;

	memcpy(p->registers, r->start, sizeof(p->registers));
	if (r->floor) {
		const struct dump_module *m = dump_module_at(h->dump, r->skipped);

		past_forget(h, p, r->floor, m ? m->low : 0, m ? m->high : 0);
	}
	for (size_t i = 0; i < r->before->len; i++)
		past_store(h, p, r->before->entries[i].key, 8,
			   (expr_id)r->before->entries[i].value);
	p->evidence = r->after->evidence + MIN(r->agreed, (uint32_t)MOST_EVIDENCE);
	p->pc = r->pieces[0].function->insns.data[r->pieces[0].first].address;
	for (size_t i = 0; i < r->accesses.len; i++) {
		struct access *a = &r->accesses.data[i];
		uint64_t at;

		if (!a->is_write || !a->w || !past_value(h, p, a->address, &at))
			continue;
		a->before = past_load(h, p, at, a->w);
		if (is_last_write(r, i, at,
				  a->w)) /* simpler than what the code computed, and equal */
			a->value = past_load(h, r->after, at, a->w);
	}
	for (uint32_t i = 0; i < r->npieces; i++)
		n += r->pieces[i].n;
	*ret = (struct step){ .pieces = arena_memdup(&h->arena, r->pieces,
						     r->npieces * sizeof(*r->pieces)),
			      .npieces = r->npieces,
			      .ninsns = n,
			      .before = p,
			      .after = r->after,
			      .accesses = arena_memdup(&h->arena, r->accesses.data,
						       r->accesses.len * sizeof(struct access)),
			      .naccesses = (uint32_t)r->accesses.len,
			      .symbols = arena_memdup(&h->arena, r->fresh->entries,
						      r->fresh->len * sizeof(struct map_entry)),
			      .nsymbols = (uint32_t)r->fresh->len };
}

/* Run until the bytes that are unknown are those that are written. *fits: no contradiction. */
static enum step_result find_writes(struct run *r, struct step *ret, bool *fits)
{
	for (int i = 0;; i++) {
		*fits = settle_run(r);
		if (r->why) {
			ret->why = r->why;
			ret->where = r->insn;
			return STEP_STUCK;
		}
		if (adopt_written(r))
			return *fits ? STEP_DONE : STEP_REFUTED;
		if (i == ROUNDS) {
			ret->why = "a write that changes where it goes";
			ret->where = r->insn;
			return STEP_STUCK;
		}
	}
}

static enum step_result attempt(struct run *r, struct step *ret)
{
	uint32_t old = r->after->nconstraints;
	enum step_result result;
	bool fits;

	result = find_writes(r, ret, &fits);
	if (result == STEP_DONE && r->lost) {
		/* What the code wrote to known addresses often is the lost address itself. */
		ret->where = r->lost_at;
		r->guess = true;
		if (find_writes(r, ret, &fits) != STEP_DONE || r->lost)
			return STEP_OPEN;
	}
	if (result != STEP_DONE)
		return result;
	if (!equate_memory(r) || !past_settle(r->h, r->now) ||
	    !past_check(r->h, r->now, MIN(old, r->now->nconstraints)))
		return r->guess ? STEP_OPEN : STEP_REFUTED;
	fill(r, ret);
	ret->guessed = r->guess;
	return STEP_DONE;
}

enum step_result step_back(struct history *h, const struct past *after, const struct piece *pieces,
			   uint32_t npieces, struct step *ret)
{
	struct map before = { 0 }, symbols = { 0 };
	struct run *r = xcalloc(1, sizeof(*r));
	enum step_result result;
	struct past now;

	*r = (struct run){ .h = h,
			   .after = after,
			   .pieces = pieces,
			   .npieces = npieces,
			   .now = &now,
			   .before = &before,
			   .fresh = &symbols };
	*ret = (struct step){ 0 };
	find_written(r);
	result = attempt(r, ret);
	map_deinit(&before);
	map_deinit(&symbols);
	map_deinit(&r->stored);
	vec_deinit(&r->accesses);
	free(r);
	return result;
}

struct past *step_inside(struct history *h, const struct past *last, const struct step *s,
			 uint32_t n)
{
	struct map before = { 0 }, symbols = { 0 };
	struct run *r = xcalloc(1, sizeof(*r));
	struct past *p = past_fork(h, s->before), now = *s->before;
	uint32_t left = n;

	*r = (struct run){ .h = h,
			   .after = s->before,
			   .pieces = s->pieces,
			   .npieces = s->npieces,
			   .now = &now,
			   .before = &before,
			   .fresh = &symbols };
	now.bindings = last->bindings;
	for (uint32_t i = 0; i < s->nsymbols; i++)
		map_put(&symbols, s->symbols[i].key, s->symbols[i].value);
	memcpy(r->start, s->before->registers, sizeof(r->start));
	run_upto(r, n);
	p->bindings = last->bindings;
	memcpy(p->registers, now.registers, sizeof(p->registers));
	for (size_t i = 0; i < r->stored.len; i++)
		past_store(h, p, r->stored.entries[i].key, 8, (expr_id)r->stored.entries[i].value);
	p->pc = s->after->pc;
	for (uint32_t i = 0; i < s->npieces; i++) {
		if (left < s->pieces[i].n) {
			const struct piece *q = &s->pieces[i];

			p->pc = q->function->insns.data[q->first + left].address;
			break;
		}
		left -= s->pieces[i].n;
	}
	map_deinit(&before);
	map_deinit(&symbols);
	map_deinit(&r->stored);
	vec_deinit(&r->accesses);
	free(r);
	return p;
}
