/* rewind/forward.c - see forward.h.
 *
 * Registers and memory hold expressions. What the code reads and nobody has written comes from the
 * state after the step, unless the step overwrites it: then it is a symbol (r->before). A call that
 * is not entered does what summaries.def says; a system call does what its arguments allow. */
#include "rewind/forward.h"

#include "base/mem.h"
#include "debug/dump.h"
#include "rewind/compute.h"
#include "rewind/reach.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST_CALL = 1 << 17 };

expr_id run_fresh(struct run *r, unsigned w, enum owner owner, uint64_t number, const char *what)
{
	/* with loops a place may be another instruction in the next run */
	uint64_t place = owner == OF_MEMORY ? 0 : r->place ^ r->insn << 20;
	uint64_t key = hash_u64(hash_u64(place << 3 | owner) ^ number);
	uint64_t *known = map_find(r->fresh, key);

	if (!known)
		known = map_put(r->fresh, key, past_unknown(r->h, w, what));
	return (expr_id)*known;
}

/* ---- memory of the run ---- */

/* A library's own data, before a call of that library which is not entered. */
static bool is_in_gap(struct run *r, uint64_t address)
{
	uint32_t flags = 0;
	size_t len;

	return address >= r->gap_low && address < r->gap_high &&
	       code_file_bytes(r->h->code, address, &len, &flags) && flags & PF_W;
}

/* Somewhere in this step memory is overwritten that is not known. */
static bool is_in_fog(struct run *r, uint64_t address)
{
	return (r->fog || r->had_fog) && past_is_foggy(r->h, address);
}

/* Could this store have left the value there that the walk looks for? Pointers and numbers are stored as a whole. */
static bool may_have_made(const struct skim *s, unsigned bits, bool has_value, uint64_t value)
{
	if (s->block || (bits && bits < s->w))
		return false;
	for (unsigned at = 0; has_value && bits && at + s->w <= bits; at += s->w)
		if ((value >> at & mask_of(s->w)) == s->value)
			return true;
	return !has_value || (!bits && s->value == value);
}

bool reach_may_make(const struct skim *s, const struct reach_loose *l)
{
	/* a text has one zero, behind it */
	if (l->is_text)
		for (unsigned i = 0; i + 1 < s->w / 8; i++)
			if (!(s->value >> 8 * i & 0xff))
				return false;
	return may_have_made(s, l->w, l->has_value, l->value);
}

void run_lose(struct run *r, unsigned bits, expr_id value)
{
	const struct skim *s = &r->h->skim;
	uint64_t v = 0;
	bool has_value = value && past_value(r->h, r->now, value, &v);

	if (s->on && !may_have_made(s, bits, has_value, v)) {
		r->fog = true;
		return;
	}
	if (!r->lost)
		r->lost_at = r->insn;
	r->lost = true;
}

expr_id run_byte(struct run *r, uint64_t address)
{
	uint64_t *v = map_find(&r->stored, address);

	if (!v)
		v = map_find(r->before, address);
	if (!v && address < r->had_floor && address >= r->had_floor - DEEPEST_CALL)
		return run_fresh(r, 8, OF_BYTE, address, "below a call");
	if (!v && (is_in_gap(r, address) || is_in_fog(r, address)))
		return run_fresh(r, 8, OF_BYTE, address, "of a library that was skipped");
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
	return past_readable(r->h, address, r->after->floor || r->floor);
}

static expr_id load_bytes(struct run *r, uint64_t at, unsigned w)
{
	expr_id v = run_byte(r, at + w / 8 - 1);

	for (unsigned i = w / 8 - 1; i-- > 0;)
		v = expr_concat(&r->h->exprs, v, run_byte(r, at + i));
	return v;
}

expr_id run_load(struct run *r, expr_id address, unsigned w)
{
	struct exprs *x = &r->h->exprs;
	uint64_t at;
	expr_id v;

	address = past_simplify(r->h, r->now, address);
	if (!expr_is_const(x, address) || (r->lost && !r->searching)) {
		v = run_fresh(r, w, OF_OPERATION, 0, "load");
		note(r, address, w, false, v);
		return past_simplify(r->h, r->now, v);
	}
	at = expr_get(x, address)->imm;
	if (!run_readable(r, at)) { /* it would have failed here, not later */
		r->refuted = true;
		return run_fresh(r, w, OF_OPERATION, 0, "load");
	}
	v = load_bytes(r, at, w);
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
		run_lose(r, w, value);
		return;
	}
	at = expr_get(x, address)->imm;
	if (!run_readable(r, at)) {
		r->refuted = true;
		return;
	}
	if (map_find(&r->stored, at)) /* by the step itself; else what the step finds there */
		r->accesses.data[r->accesses.len - 1].before = load_bytes(r, at, w);
	for (unsigned i = 0; i < w / 8; i++)
		*map_put(&r->stored, at + i, 0) = expr_extract(x, value, 8 * i, 8);
}

/* ---- operations ---- */

/* The exits of an instruction: only the one that was taken is. */
void run_leave(struct run *r, expr_id guard, bool taken)
{
	if (!taken)
		guard = expr_not(&r->h->exprs, guard);
	if (!past_assume(r->h, r->now, guard))
		r->refuted = true;
}

/* ---- system calls ---- */

static const uint8_t arguments[6] = { LIFT_RDI, LIFT_RSI, LIFT_RDX, LIFT_RCX, LIFT_R8, LIFT_R9 };

bool run_argument(struct run *r, unsigned n, uint64_t *ret)
{
	return past_value(r->h, r->now, r->now->registers[arguments[n]], ret);
}

void run_overwrite(struct run *r, uint64_t at, uint64_t len)
{
	if (len > RUN_MOST_WRITTEN || !run_readable(r, at)) {
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
		if (!run_argument(r, (unsigned)known[i].buffer, &at) ||
		    (known[i].length >= 0 && !run_argument(r, (unsigned)known[i].length, &len)))
			return;
		r->why = NULL;
		if (at)
			run_overwrite(r, at, len);
	}
	r->why = NULL;
	regs[LIFT_RAX] = past_simplify(r->h, r->now, run_fresh(r, 64, OF_OPERATION, 0, "result"));
	regs[LIFT_RCX] = expr_const(&r->h->exprs, 64, next);
	regs[LIFT_R11] = past_simplify(r->h, r->now, run_fresh(r, 64, OF_FLAGS, 0, "flags"));
}

/* ---- instructions ---- */

/* In a loop: is this exit taken? */
static bool is_taken(struct run *r, expr_id guard)
{
	uint64_t v = 0;

	if (!past_value(r->h, r->now, guard, &v))
		r->undecided = true;
	return v != 0;
}

/* In a loop: where the instruction leads if no exit is taken. */
static void find_next(struct run *r, const struct lift_op *op)
{
	r->next = op->imm;
	if (op->a && !past_value(r->h, r->now, r->temps[op->a], &r->next))
		r->undecided = true;
}

static bool is_part(const struct piece *p)
{
	return p->way == WAY_SKIPPED && p->effect->kind == EFFECT_PART;
}

void run_insn(struct run *r, const struct function *f, const struct insn *in, bool is_last,
	      const struct piece *piece)
{
	const struct lift_op *ops = insn_ops(f, in);
	int exit = 0;

	r->insn = in->address;
	for (unsigned i = 0; i < in->nops && !r->why && !r->undecided; i++) {
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
			r->temps[op->dst] = run_load(r, r->temps[op->a], op->w);
			break;
		case LIFT_STORE:
			store(r, r->temps[op->a], op->w, r->temps[op->b]);
			break;
		case LIFT_OPAQUE:
			r->temps[op->dst] = past_simplify(
				r->h, r->now, run_fresh(r, op->w, OF_OPERATION, 0, "some value"));
			break;
		case LIFT_EXIT:
			if (r->deciding) {
				if (is_taken(r, r->temps[op->a])) {
					r->taken = (int16_t)exit;
					r->next = op->imm;
					return;
				}
				exit++;
				break;
			}
			if (is_last && piece->exit == REACH_SEVERAL)
				break;
			run_leave(r, r->temps[op->a], is_last && exit == piece->exit);
			if (is_last && exit++ == piece->exit)
				return;
			break;
		case LIFT_NEXT:
			if (op->w == LIFT_SYSCALL)
				system_call(r, op->imm);
			if (r->deciding)
				find_next(r, op);
			else if (is_last && op->a && !is_part(piece))
				run_leave(r,
					  expr_binary(&r->h->exprs, EX_EQ, r->temps[op->a],
						      expr_const(&r->h->exprs, 64,
								 piece->way == WAY_SKIPPED
									 ? piece->effect->address
									 : piece->to)),
					  true);
			break;
		case LIFT_REFUSE:
			r->why = f->wide ? "an instruction of AVX-512, which is not known"
					 : "an instruction that cannot be lifted";
			break;
		default:
			r->temps[op->dst] = compute(&r->h->exprs, op, r->temps);
		}
	}
}

/* ---- all of it ---- */

void run_upto(struct run *r, uint32_t upto)
{
	map_clear(&r->stored);
	vec_clear(&r->accesses);
	vec_clear(&r->path);
	r->lost = r->refuted = r->some_block = r->fog = false;
	r->undecided = r->strayed = r->too_long = false;
	r->why = NULL;
	r->place = r->order = 0;
	r->floor = 0;
	memcpy(r->now->registers, r->start, sizeof(r->start));
	for (unsigned i = 0; i < LIFT_REGISTERS; i++)
		r->now->registers[i] = past_simplify(r->h, r->now, r->now->registers[i]);
	for (uint32_t i = 0; i < r->npieces && !r->why && !r->undecided && !r->strayed; i++) {
		const struct piece *p = &r->pieces[i];

		if (p->way == WAY_LOOP) {
			run_loop(r, p);
			continue;
		}
		vec_push(&r->path, *p);
		for (uint32_t k = 0; k < p->n && !r->why; k++) {
			if (r->order == upto)
				return;
			run_insn(r, p->function, &p->function->insns.data[p->first + k],
				 k + 1 == p->n, p);
			r->order++;
		}
		if (is_part(p) && !r->why)
			run_skip_part(r, p);
		else if (p->way == WAY_SKIPPED && !r->why)
			run_skip_call(r, p);
	}
}
