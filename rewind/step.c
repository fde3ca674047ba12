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
#include "rewind/forward.h"

#include "base/interrupt.h"
#include "base/mem.h"
#include "debug/dump.h"
#include "rewind/compute.h"
#include "rewind/fixed.h"
#include "rewind/late.h"
#include "rewind/reach.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 8, INNER_ROUNDS = 6, MOST_EVIDENCE = 64, MOST_PLACES = 8 };

/* ---- the attempt ---- */

static const struct fixed_block *fixed_of(const struct piece *p)
{
	const struct function *f = p->function;

	return &f->fixed[function_block(f, f->insns.data[p->first].address) - f->blocks.data];
}

/* The frame of a step of one whole block, by the stack pointer behind it. */
static bool frame_of_block(struct run *r, uint64_t *ret)
{
	const struct piece *p = &r->pieces[0];
	const struct block *b =
		function_block(p->function, p->function->insns.data[p->first].address);
	const struct fixed *behind = &fixed_of(p)->behind[LIFT_RSP];
	uint64_t sp;

	if (p->first != b->first || p->n != b->n || p->way == WAY_SKIPPED ||
	    behind->kind != FIXED_FRAME ||
	    !past_value(r->h, r->after, r->after->registers[LIFT_RSP], &sp))
		return false;
	*ret = sp - behind->number;
	return true;
}

/* The frame in which a step with a loop begins: that of the state after it, or of a caller. A loop whose stack
 * pointer is not known from the start could not be run. */
static bool frame_of_loop(struct run *r, uint64_t *ret)
{
	uint64_t sp, number;
	unsigned inner = 0;
	const char *why;
	const struct function *f = code_function(r->h->code, r->after->pc, &why);

	if (!f || !fixed_stack(f, r->after->pc, &number) ||
	    !past_value(r->h, r->after, r->after->registers[LIFT_RSP], &sp))
		return false;
	*ret = sp - number;
	for (uint32_t i = r->npieces; i-- > 0;) {
		const struct piece *p = &r->pieces[i];

		if (p->way == WAY_RETURN) {
			inner++;
		} else if (p->way == WAY_CALL && inner) {
			inner--;
		} else if (p->way == WAY_CALL) { /* it pushed the return address */
			const struct fixed *behind = &fixed_of(p)->behind[LIFT_RSP];

			if (behind->kind != FIXED_FRAME)
				return false;
			*ret -= 8 + behind->number;
		}
	}
	return inner == 0;
}

/* Registers that the code overwrites, but that hold the same in every run (rewind/fixed.h). */
static void find_fixed(struct run *r)
{
	const struct piece *p = &r->pieces[0];
	const struct function *f = p->function;
	const struct block *b = function_block(f, f->insns.data[p->first].address);
	const struct fixed_block *fixed = fixed_of(p);
	uint64_t frame = 0;
	bool in_frame = r->has_loop ? frame_of_loop(r, &frame)
				    : r->npieces == 1 && frame_of_block(r, &frame);

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

static void add_written(struct run *r, const struct function *f, uint32_t first, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		const struct insn *in = &f->insns.data[first + k];
		const struct lift_op *ops = insn_ops(f, in);

		for (unsigned i = 0; i < in->nops; i++) {
			if (ops[i].kind == LIFT_PUT)
				r->written[ops[i].imm] = true;
			if (ops[i].kind == LIFT_NEXT && ops[i].w == LIFT_SYSCALL)
				r->written[LIFT_RAX] = r->written[LIFT_RCX] = r->written[LIFT_R11] =
					true;
		}
	}
}

/* What calls may change. */
static void add_written_by_call(struct run *r)
{
	for (unsigned n = LIFT_CF; n <= LIFT_OF; n++)
		r->written[n] = true;
	for (unsigned n = 0; n < 16; n++)
		if (n != LIFT_RBX && n != LIFT_RBP && n < LIFT_R12)
			r->written[n] = true;
	for (unsigned n = LIFT_YMM; n < LIFT_REGISTERS; n++)
		r->written[n] = true;
}

static void add_written_by_part(struct run *r, const struct reach *x)
{
	for (unsigned i = 0; i < LIFT_REGISTERS; i++)
		if (i < 16 ? x->registers >> i & 1 : i != LIFT_FS && i != LIFT_GS)
			r->written[i] = true;
	r->written[LIFT_RSP] = true;
}

/* Which registers the code writes, by its text. What a call in a loop keeps is taken to be kept; the equations of
 * such a step contain every register, so a call that did not keep it is found out. */
static void find_written(struct run *r)
{
	for (uint32_t i = 0; i < r->npieces; i++) {
		const struct piece *p = &r->pieces[i];
		const struct function *f = p->function;

		add_written(r, f, p->first, p->n);
		for (uint32_t k = 0; p->way == WAY_LOOP && k < f->blocks.len; k++)
			if (p->loop->has[k])
				add_written(r, f, f->blocks.data[k].first, f->blocks.data[k].n);
		if (p->way == WAY_SKIPPED && p->effect->kind == EFFECT_PART)
			add_written_by_part(r, p->effect->reach);
		else if (p->way == WAY_SKIPPED || (p->way == WAY_LOOP && p->loop->calls))
			add_written_by_call(r);
		if (p->way == WAY_SKIPPED)
			run_add_gap(r, p->effect);
		r->has_loop |= p->way == WAY_LOOP;
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

/* Is it evidence that this register agrees? The stack pointer was computed from the state behind the step, and most flags
 * are what nearly every instruction leaves. */
static bool tells(unsigned reg)
{
	return reg != LIFT_RSP && (reg < LIFT_CF || reg > LIFT_OF);
}

static bool equate_registers(struct run *r)
{
	for (unsigned i = 0; i < LIFT_REGISTERS; i++) {
		expr_id is = r->now->registers[i], must = r->after->registers[i];

		if (!r->written[i] && !r->has_loop)
			continue;
		if (past_agrees(r->h, r->now, is, must))
			r->agreed += r->written[i] && tells(i) ? lift_register_width(i) : 0;
		else if (!past_equate(r->h, r->now, is, must))
			return false;
	}
	return true;
}

/* Is what this write left there still there behind the step? */
static bool is_last_write(struct run *r, const struct access *a, uint64_t at)
{
	for (unsigned k = 0; k < a->w / 8u; k++) {
		const uint64_t *v = map_find(&r->stored, at + k);

		/* none: the address became known only behind this run */
		if (!v || *v != expr_extract(&r->h->exprs, a->value, 8 * k, 8))
			return false;
	}
	return true;
}

static bool changes_stack(const struct function *f, const struct insn *in)
{
	const struct lift_op *ops = insn_ops(f, in);

	for (unsigned i = 0; i < in->nops; i++)
		if (ops[i].kind == LIFT_PUT && ops[i].imm == LIFT_RSP)
			return true;
	return false;
}

/* Is it evidence that this write agrees? What a call or a push leaves does where the dump has it. Further back the walk has put
 * it there itself, when it came out of that function, and it agrees in each turn of a loop. */
static bool write_tells(struct run *r, const struct access *a, uint64_t at)
{
	const char *why;
	const struct function *f;
	const struct insn *in;

	if (past_is_dumped(r->after, at))
		return true;
	f = code_function(r->h->code, a->insn, &why);
	in = f ? function_insn(f, a->insn) : NULL;
	return !in || !changes_stack(f, in);
}

/* Whole writes first, where nothing was written over them. */
static bool equate_writes(struct run *r)
{
	for (size_t i = 0; i < r->accesses.len; i++) {
		const struct access *a = &r->accesses.data[i];
		uint64_t at;

		if (!a->is_write || !a->w || !past_value(r->h, r->now, a->address, &at) ||
		    !is_last_write(r, a, at))
			continue;
		if (past_agrees(r->h, r->now, a->value, past_load(r->h, r->after, at, a->w)))
			r->agreed += write_tells(r, a, at) ? a->w : 0;
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
	for (unsigned i = 0; i < r->nassumed; i++)
		if (!past_equate(r->h, r->now, r->assumed[i].address,
				 expr_const(&r->h->exprs, 64, r->assumed[i].is)))
			return false;
	for (int i = 0; i < INNER_ROUNDS; i++) {
		const struct trie *known = r->now->bindings;

		run_upto(r, UINT32_MAX);
		if (r->why || r->undecided)
			return true;
		r->agreed = 0;
		if (r->refuted || r->strayed || !equate_registers(r) ||
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
			word = run_fresh(r, 8 * bytes, OF_MEMORY, at | (uint64_t)bytes << 56,
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

/* What was read of it becomes memory of its own, so that a native run gets it. */
static void show_fog(struct history *h, struct past *p, const struct run *r)
{
	uint64_t at;

	for (size_t i = 0; p->fog && i < r->accesses.len; i++) {
		const struct access *a = &r->accesses.data[i];

		if (a->is_write || !past_value(h, p, a->address, &at))
			continue;
		for (uint64_t k = at; k < at + a->w / 8; k++)
			if (past_is_foggy(h, k) && past_is_dumped(p, k))
				past_store(h, p, k, 8, past_byte(h, p, k));
	}
}

static void fill(struct run *r, struct step *ret)
{
	struct history *h = r->h;
	struct past *p = past_fork(h, r->now);
	uint32_t n = 0;

	memcpy(p->registers, r->start, sizeof(p->registers));
	if (r->floor)
		past_forget(h, p, r->floor, r->gap_low, r->gap_high);
	if (r->fog)
		past_fog(h, p);
	for (size_t i = 0; i < r->before->len; i++)
		past_store(h, p, r->before->entries[i].key, 8,
			   (expr_id)r->before->entries[i].value);
	show_fog(h, p, r);
	p->evidence = r->after->evidence +
		      MIN(r->agreed, (uint32_t)MOST_EVIDENCE * (uint32_t)r->path.len);
	p->pc = r->pieces[0].function->insns.data[r->pieces[0].first].address;
	for (size_t i = 0; i < r->accesses.len; i++) {
		struct access *a = &r->accesses.data[i];
		uint64_t at;

		if (!a->is_write || !a->w || !past_value(h, p, a->address, &at))
			continue;
		if (!a->before)
			a->before = past_load(h, p, at, a->w);
		if (is_last_write(r, a, at)) /* simpler than what the code computed, and equal */
			a->value = past_load(h, r->after, at, a->w);
	}
	for (size_t i = 0; i < r->path.len; i++)
		n += r->path.data[i].n;
	*ret = (struct step){ .pieces = arena_memdup(&h->arena, r->path.data,
						     r->path.len * sizeof(*r->pieces)),
			      .npieces = (uint32_t)r->path.len,
			      .ninsns = n,
			      .before = p,
			      .after = r->after,
			      .has_loop = r->has_loop,
			      .accesses = arena_memdup(&h->arena, r->accesses.data,
						       r->accesses.len * sizeof(struct access)),
			      .naccesses = (uint32_t)r->accesses.len,
			      .symbols = arena_memdup(&h->arena, r->fresh->entries,
						      r->fresh->len * sizeof(struct map_entry)),
			      .nsymbols = (uint32_t)r->fresh->len };
	late_keep(h, p, ret);
}

/* Run until the bytes that are unknown are those that are written. *fits: no contradiction. */
static enum step_result find_writes(struct run *r, struct step *ret, bool *fits)
{
	for (int i = 0;; i++) {
		uint64_t gap_low = r->gap_low, gap_high = r->gap_high;
		bool fog = r->had_fog;
		uint64_t floor = r->had_floor;

		if (history_over(r->h)) {
			ret->why = interrupted() ? "it was interrupted" : "the time was over";
			ret->where = r->insn;
			return STEP_STUCK;
		}
		*fits = settle_run(r);
		r->had_fog = r->fog;
		r->had_floor = r->floor;
		if (r->why) {
			ret->why = r->why;
			ret->where = r->insn;
			return STEP_STUCK;
		}
		if (adopt_written(r) && gap_low == r->gap_low && gap_high == r->gap_high &&
		    fog == r->fog && floor == r->floor) {
			ret->why = "a loop that takes too many turns";
			ret->where = r->insn;
			if (r->undecided)
				return STEP_OPEN;
			return *fits ? STEP_DONE : r->too_long ? STEP_STUCK : STEP_REFUTED;
		}
		if (i == ROUNDS) {
			ret->why = "a write that changes where it goes";
			ret->unstable = true;
			ret->where = r->insn;
			return STEP_STUCK;
		}
	}
}

/* All addresses are known: the rest of the equations. */
static enum step_result conclude(struct run *r, struct step *ret)
{
	uint32_t asked = r->after->nconstraints, agreed = r->agreed;

	if (!equate_memory(r))
		return r->guess ? STEP_OPEN : STEP_REFUTED;
	if (r->guess) /* its writes were equated before, and what that has bound agrees now */
		r->agreed = agreed;
	if (!late_equate(r->h, r->now, r->after->floor || r->floor, &r->agreed) ||
	    !past_settle(r->h, r->now, &asked) ||
	    !past_check(r->h, r->now, MIN(asked, r->now->nconstraints)))
		return r->guess ? STEP_OPEN : STEP_REFUTED;
	fill(r, ret);
	ret->guessed = r->guess || r->some_block || r->nassumed;
	ret->passed_over = r->fog;
	return STEP_DONE;
}

static enum step_result attempt(struct run *r, struct step *ret)
{
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
	return result == STEP_DONE ? conclude(r, ret) : result;
}

static struct run *run_new(struct history *h, const struct past *after, const struct piece *pieces,
			   uint32_t npieces, struct past *now)
{
	struct run *r = xcalloc(1, sizeof(*r));

	*r = (struct run){ .h = h,
			   .after = after,
			   .pieces = pieces,
			   .npieces = npieces,
			   .now = now,
			   .before = xcalloc(1, sizeof(struct map)),
			   .fresh = xcalloc(1, sizeof(struct map)) };
	return r;
}

static void run_free(struct run *r)
{
	map_deinit(r->before);
	map_deinit(r->fresh);
	map_deinit(&r->stored);
	vec_deinit(&r->accesses);
	vec_deinit(&r->path);
	free(r->before);
	free(r->fresh);
	free(r);
}

enum step_result step_back(struct history *h, const struct past *after, const struct piece *pieces,
			   uint32_t npieces, struct step *ret)
{
	enum step_result result;
	struct past now;
	struct run *r = run_new(h, after, pieces, npieces, &now);

	*ret = (struct step){ 0 };
	find_written(r);
	result = attempt(r, ret);
	run_free(r);
	return result;
}

/* ---- where did it write? ---- */

/* The write to an unknown address whose value lies in the fewest places; 0 = there is none, or it lies in too many. */
static size_t find_places(struct run *r, expr_id *address, uint64_t *places, size_t most)
{
	size_t best = most + 1;

	for (size_t i = 0; i < r->accesses.len; i++) {
		const struct access *a = &r->accesses.data[i];
		uint64_t v, at[MOST_PLACES];
		size_t n;

		if (!a->is_write || a->w != 64 || past_value(r->h, r->now, a->address, &v) ||
		    !past_value(r->h, r->now, a->value, &v))
			continue;
		n = pointers_find(r->h, r->after, v, at, most);
		if (!n || n >= best)
			continue;
		best = n;
		*address = a->address;
		memcpy(places, at, n * sizeof(*at));
	}
	return best <= most ? best : 0;
}

static size_t search(struct run *r, struct step *ret, size_t most)
{
	uint64_t places[MOST_PLACES];
	size_t nplaces = 0, n = 0;
	struct step first = { 0 };
	expr_id address = 0;
	bool fits;

	if (r->nassumed == RUN_MOST_ASSUMED)
		return 0;
	r->guess = r->searching = true;
	map_clear(r->before);
	if (find_writes(r, &first, &fits) == STEP_DONE && fits) {
		if (r->lost)
			nplaces = find_places(r, &address, places, MOST_PLACES);
		else
			n = conclude(r, &ret[0]) == STEP_DONE;
	}
	r->searching = false;
	for (size_t i = 0; i < nplaces && n < most; i++) {
		r->assumed[r->nassumed++] = (struct assumed){ address, places[i] };
		r->guess = false;
		map_clear(r->before);
		switch (attempt(r, &ret[n])) {
		case STEP_DONE:
			n++;
			break;
		case STEP_OPEN:
			n += search(r, ret + n, most - n);
			break;
		default:
			break;
		}
		r->nassumed--;
	}
	return n;
}

size_t step_search(struct history *h, const struct past *after, const struct piece *pieces,
		   uint32_t npieces, struct step *ret, size_t most)
{
	struct past now;
	struct run *r = run_new(h, after, pieces, npieces, &now);
	size_t n;

	find_written(r);
	n = search(r, ret, most);
	run_free(r);
	return n;
}

const struct effect *step_effect(const struct step *s, uint64_t insn)
{
	for (uint32_t i = 0; i < s->npieces; i++) {
		const struct piece *p = &s->pieces[i];

		if (p->way == WAY_SKIPPED && p->n &&
		    p->function->insns.data[p->first + p->n - 1].address == insn)
			return p->effect;
	}
	return NULL;
}

struct past *step_inside(struct history *h, const struct past *last, const struct step *s,
			 uint32_t n)
{
	struct past *p = past_fork(h, s->before), now = *s->before;
	struct run *r = run_new(h, s->after, s->pieces, s->npieces, &now);
	uint32_t left = n;

	r->has_loop = s->has_loop;
	now.bindings = last->bindings;
	for (uint32_t i = 0; i < s->nsymbols; i++)
		map_put(r->fresh, s->symbols[i].key, s->symbols[i].value);
	memcpy(r->start, s->before->registers, sizeof(r->start));
	for (uint32_t i = 0; i < s->npieces; i++)
		if (s->pieces[i].way == WAY_SKIPPED)
			run_add_gap(r, s->pieces[i].effect);
	run_upto(r, n);
	p->bindings = last->bindings;
	memcpy(p->registers, now.registers, sizeof(p->registers));
	if (r->floor)
		past_remember(h, p, r->floor, s->after);
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
	run_free(r);
	return p;
}
