/* rewind/effects.c - see forward.h: calls that are not entered do what summaries.def says.
 *
 * What they may have written is unknown afterwards, but for copies, whose bytes are those of their source. What lies on the
 * stack below the call is gone, too, and so is what the library keeps for itself. */
#include "rewind/forward.h"

#include "base/mem.h"
#include "debug/dump.h"
#include "debug/heap.h"

#include <stdlib.h>
#include <string.h>

enum { FREE_BLOCKS = 64, BOOKKEEPING = 16 /* of a free block, in it */, DEEPEST_CALL = 1 << 17 };

static const struct effect summaries[] = {
#define S(name, effect, at, len, times, bytes)                                                     \
	{ .kind = EFFECT_##effect,                                                                 \
	  .where = at,                                                                             \
	  .length = len,                                                                           \
	  .scale = times,                                                                          \
	  .fixed = bytes,                                                                          \
	  .function = name },
#include "rewind/summaries.def"
#undef S
};

const struct effect *effect_of(struct arena *a, const char *name, uint64_t address)
{
	for (size_t i = 0; i < ARRAY_SIZE(summaries); i++)
		if (strcmp(summaries[i].function, name) == 0) {
			struct effect *e = arena_memdup(a, &summaries[i], sizeof(summaries[i]));

			e->address = address;
			return e;
		}
	return NULL;
}

bool effect_returns_target(const struct effect *e)
{
	switch (e->kind) {
	case EFFECT_COPIES:
	case EFFECT_TEXT: /* but for those that return where they came to */
		return strcmp(e->function, "mempcpy") != 0 && strcmp(e->function, "stpcpy") != 0;
	case EFFECT_SETS:
	case EFFECT_APPENDS:
		return true;
	default:
		return strcmp(e->function, "strncpy") == 0;
	}
}

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
	if (!(joins ? run_argument(r, 0, &thread)
		    : past_value(r->h, r->now, past_load(r->h, r->after, at, 64), &thread)))
		return false;
	return !map_find(&r->h->threads, thread);
}

/* While the call waited, other threads may have changed what they share. */
static void overwrite_shared(struct run *r)
{
	for (size_t i = 0; i < r->h->shared.len; i++)
		run_overwrite(r, r->h->shared.entries[i].key, 1);
}

/* The length of a text, where all of it is known. */
static bool text_length(struct run *r, uint64_t at, uint64_t *ret)
{
	uint64_t byte;

	if (r->lost)
		return false;
	for (*ret = 0; *ret < RUN_MOST_WRITTEN; ++*ret) {
		if (!run_readable(r, at + *ret) ||
		    !past_value(r->h, r->now, run_byte(r, at + *ret), &byte))
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

	for (*ret = 0; *ret < RUN_MOST_WRITTEN; ++*ret) {
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
			   : run_argument(r, e->where, &ret->at)) ||
	    (e->length >= 0 && !run_argument(r, (unsigned)e->length, &ret->len)) ||
	    (e->scale && !run_argument(r, e->scale - 1u, &scale)))
		return false;
	ret->len *= scale;
	switch (e->kind) {
	case EFFECT_COPIES:
		return run_argument(r, 1, &ret->from);
	case EFFECT_TEXT:
	case EFFECT_APPENDS:
		if (!run_argument(r, 1, &ret->from) || !text_length(r, ret->from, &ret->len))
			return false;
		if (e->kind == EFFECT_APPENDS) {
			if (r->has_loop) { /* the text behind the step may be longer */
				if (!text_length(r, ret->at, &tail))
					return false;
				ret->at += tail;
			} else {
				if (!length_after(r, ret->at, &tail) || tail < ret->len)
					return false;
				ret->at += tail - ret->len;
			}
		}
		ret->len++;
		return true;
	case EFFECT_DOUBLES:
		if (!run_argument(r, 0, &ret->from) || !text_length(r, ret->from, &ret->len))
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

	if (r->lost || x->len > RUN_MOST_WRITTEN)
		return;
	bytes = xcalloc(x->len + 1, sizeof(*bytes));
	for (uint64_t i = 0; i < x->len; i++) { /* all of it first: memmove() */
		if (x->from && run_readable(r, x->from + i))
			bytes[i] = run_byte(r, x->from + i);
		else if (e->kind == EFFECT_SETS)
			bytes[i] = expr_extract(&r->h->exprs, r->now->registers[LIFT_RSI], 0, 8);
		else if (e->kind == EFFECT_ZEROES)
			bytes[i] = expr_const(&r->h->exprs, 8, 0);
	}
	run_overwrite(r, x->at, MAX(x->len, e->fixed));
	for (uint64_t i = 0; i < x->len && !r->why; i++)
		if (bytes[i])
			*map_put(&r->stored, x->at + i, 0) = bytes[i];
	free(bytes);
}

/* A block was given back; its address may become known later. */
static void note_freed(struct run *r, expr_id block)
{
	vec_push(&r->accesses, ((struct access){ .insn = r->insn,
						 .order = r->order,
						 .address = block,
						 .value = expr_const(&r->h->exprs, 64, 0) }));
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
	note_freed(r, r->now->registers[LIFT_RDI]);
	for (size_t i = 0; i < h->nfree_blocks && !r->why; i++)
		run_overwrite(r, h->free_blocks[i], BOOKKEEPING);
}

/* The block stayed where it is, or was copied. */
static void resize(struct run *r, const struct extent *x)
{
	uint64_t old;

	if (!run_argument(r, 0, &old)) {
		free_some_block(r);
	} else if (old && old != x->at) {
		note_freed(r, r->now->registers[LIFT_RDI]);
		run_overwrite(r, old, BOOKKEEPING);
	}
	if (x->at && !r->why && !(run_argument(r, 0, &old) && old == x->at))
		run_overwrite(r, x->at, MAX(x->len, (uint64_t)BOOKKEEPING));
}

static void apply(struct run *r, const struct effect *e)
{
	struct extent x;

	if (e->kind == EFFECT_NONE || e->kind == EFFECT_LENGTH || e->kind == EFFECT_COMPARES)
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
		run_overwrite(r, x.at, BOOKKEEPING);
	else if (e->kind == EFFECT_RESIZES)
		resize(r, &x);
	else
		fill_in(r, e, &x);
}

/* Two texts or pieces of memory, where both are known. How far two pieces of memory are apart is left open by memcmp(), but
 * strcmp() and strncmp() of every libc for this processor return the difference of the bytes. */
static bool compare(struct run *r, const struct effect *e, uint64_t *ret)
{
	bool is_text = e->fixed != 0;
	uint64_t a, b, x, y, n = RUN_MOST_WRITTEN;

	if (r->lost || !run_argument(r, 0, &a) || !run_argument(r, 1, &b) ||
	    (e->length >= 0 && !run_argument(r, (unsigned)e->length, &n)))
		return false;
	*ret = 0;
	for (uint64_t i = 0; i < n; i++) {
		if (i == RUN_MOST_WRITTEN || !run_readable(r, a + i) || !run_readable(r, b + i) ||
		    !past_value(r->h, r->now, run_byte(r, a + i), &x) ||
		    !past_value(r->h, r->now, run_byte(r, b + i), &y))
			return false;
		*ret = (uint32_t)(x - y);
		if (*ret)
			return is_text;
		if (is_text && !x)
			break;
	}
	return true;
}

/* What the call returned, if that follows from what it was given. */
static bool find_result(struct run *r, const struct effect *e, uint64_t *ret)
{
	uint64_t text;

	if (e->kind == EFFECT_COMPARES)
		return compare(r, e, ret);
	return e->kind == EFFECT_LENGTH && run_argument(r, 0, &text) && text_length(r, text, ret);
}

/* The call used the stack below it: what the step wrote there before is gone. */
static void forget_below(struct run *r, uint64_t sp)
{
	for (size_t i = 0; i < r->stored.len; i++) {
		struct map_entry *e = &r->stored.entries[i];

		if (e->key < sp && e->key >= sp - DEEPEST_CALL)
			e->value = run_fresh(r, 8, OF_BYTE, e->key, "below a call");
	}
}

void run_add_gap(struct run *r, const struct effect *e)
{
	const struct dump_module *m = dump_module_at(r->h->dump, e->address);

	if (!m)
		return;
	r->gap_low = r->gap_high ? MIN(r->gap_low, m->low) : m->low;
	r->gap_high = MAX(r->gap_high, m->high);
}

void run_skip_call(struct run *r, const struct piece *piece)
{
	const struct effect *e = piece->effect;
	static const uint8_t lost[] = { LIFT_RAX, LIFT_RCX, LIFT_RDX, LIFT_RSI, LIFT_RDI,
					LIFT_R8,  LIFT_R9,  LIFT_R10, LIFT_R11, LIFT_CF,
					LIFT_PF,  LIFT_AF,  LIFT_ZF,  LIFT_SF,	LIFT_OF };
	struct exprs *x = &r->h->exprs;
	uint64_t sp, result = 0;
	bool has_result = find_result(r, e, &result);
	expr_id target = r->now->registers[LIFT_RDI];

	run_leave(r,
		  expr_binary(x, EX_EQ, run_load(r, r->now->registers[LIFT_RSP], 64),
			      expr_const(x, 64, piece->to)),
		  true);
	if (past_value(r->h, r->now, r->now->registers[LIFT_RSP], &sp)) {
		r->floor = MAX(r->floor, sp);
		forget_below(r, sp);
	} else {
		r->lost = true;
		r->lost_at = r->insn;
	}
	r->skipped = e->address;
	run_add_gap(r, e);
	apply(r, e);
	for (unsigned i = 0; i < ARRAY_SIZE(lost); i++)
		r->now->registers[lost[i]] =
			past_simplify(r->h, r->now,
				      run_fresh(r, lift_register_width(lost[i]), OF_REGISTER,
						lost[i], "result of a call"));
	for (unsigned i = LIFT_YMM; i < LIFT_REGISTERS; i++)
		r->now->registers[i] = run_fresh(r, 64, OF_REGISTER, i, "result of a call");
	if (has_result)
		r->now->registers[LIFT_RAX] = expr_const(x, 64, result);
	else if (effect_returns_target(e))
		r->now->registers[LIFT_RAX] = target;
	r->now->registers[LIFT_RSP] =
		expr_binary(x, EX_ADD, r->now->registers[LIFT_RSP], expr_const(x, 64, 8));
}
