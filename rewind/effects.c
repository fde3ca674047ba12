/* rewind/effects.c - see forward.h: calls that are not entered do what summaries.def says.
 *
 * What they may have written is unknown afterwards, but for copies, whose bytes are those of their source. What lies on the
 * stack below the call is gone, too, and so is what the library keeps for itself. */
#include "rewind/forward.h"

#include "base/mem.h"
#include "debug/dump.h"
#include "debug/heap.h"
#include "rewind/reach.h"

#include <stdlib.h>
#include <string.h>

enum {
	FREE_BLOCKS = 64,
	BOOKKEEPING = 16 /* of a free block, in it */,
	DEEPEST_CALL = 1 << 17,
	NEAR = 1 << 16
};

static const struct effect summaries[] = {
#define S(name, effect, at, len, times, bytes)                                                     \
	{ .kind = EFFECT_##effect,                                                                 \
	  .where = at,                                                                             \
	  .length = len,                                                                           \
	  .scale = times,                                                                          \
	  .fixed = bytes,                                                                          \
	  .function = name },
#define V(name, argument, bytes)
#include "rewind/summaries.def"
#undef S
#undef V
};

/* What else is written? */
static const struct besides {
	const char *function;
	int8_t argument;
	uint8_t bytes;
} besides[] = {
#define S(name, effect, at, len, times, bytes)
#define V(name, argument, bytes) { name, argument, bytes },
#include "rewind/summaries.def"
#undef S
#undef V
};

const struct effect *effect_of(struct arena *a, const char *name, uint64_t address)
{
	for (size_t i = 0; i < ARRAY_SIZE(summaries); i++)
		if (strcmp(summaries[i].function, name) == 0) {
			struct effect *e = arena_memdup(a, &summaries[i], sizeof(summaries[i]));

			e->address = address;
			e->also = -1;
			for (size_t k = 0; k < ARRAY_SIZE(besides); k++)
				if (strcmp(besides[k].function, name) == 0) {
					e->also = besides[k].argument;
					e->also_bytes = besides[k].bytes;
				}
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
	       e->kind == EFFECT_RESIZES || e->kind == EFFECT_DOUBLES || e->kind == EFFECT_MAKES;
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
	case EFFECT_MAKES:
		if (ret->at && !length_after(r, ret->at, &ret->len))
			return false;
		ret->len++;
		return true;
	case EFFECT_WIDE:
		ret->len *= 4;
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

/* The bookkeeping of some free block has changed. */
static void forget_free_blocks(struct run *r)
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
		run_overwrite(r, h->free_blocks[i], BOOKKEEPING);
}

/* Which block was freed is not known any more. It is one of those that are free in the dump, or was handed out again by
 * a later call, which then says so; or free(NULL), which does nothing. */
static void free_some_block(struct run *r)
{
	forget_free_blocks(r);
	note_freed(r, r->now->registers[LIFT_RDI]);
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

/* ---- scanf() ---- */

static void lose(struct run *r)
{
	run_lose(r, 0, 0);
}

/* Argument number n, also one that lies on the stack: above the return address, which the call has pushed. */
static bool any_argument(struct run *r, unsigned n, uint64_t *ret)
{
	uint64_t sp;

	if (n < 6)
		return run_argument(r, n, ret);
	return past_value(r->h, r->now, r->now->registers[LIFT_RSP], &sp) &&
	       past_value(r->h, r->now,
			  run_load(r, expr_const(&r->h->exprs, 64, sp + 8 + 8ull * (n - 6)), 64),
			  ret);
}

/* What one conversion of a format writes. */
struct conversion {
	bool is_text;	/* as long as what was read, unless there is a width */
	uint64_t bytes; /* 0 = nothing */
};

static bool format_byte(struct run *r, uint64_t at, uint64_t *ret)
{
	return run_readable(r, at) && past_value(r->h, r->now, run_byte(r, at), ret);
}

/* Read the conversion behind the '%' at *at, and go behind it. False: not known. */
static bool read_conversion(struct run *r, uint64_t *at, struct conversion *ret)
{
	uint64_t c, width = 0, size = 4;
	bool ignored = false, big = false, is_float;

	*ret = (struct conversion){ 0 };
	for (;; ++*at) {
		if (!format_byte(r, *at, &c))
			return false;
		if (c == '*')
			ignored = true;
		else if (c >= '0' && c <= '9')
			width = width * 10 + c - '0';
		else if (c == 'h')
			size = size == 2 ? 1 : 2;
		else if (c == 'L')
			big = true;
		else if (c == 'l' || c == 'q' || c == 'j' || c == 'z' || c == 't')
			size = 8;
		else
			break;
	}
	++*at;
	is_float = c && strchr("aefgAEFG", (int)c);
	if (c == '[') {
		uint64_t first = *at;

		do {
			if (!format_byte(r, (*at)++, &c) || !c)
				return false;
			first += c == '^' && *at == first + 1;
		} while (c != ']' || *at == first + 1);
		c = 's';
	}
	if (c != '%' && !ignored && (!c || !strchr("diouxXnscpaefgAEFG", (int)c)))
		return false; /* a position, memory that it allocates, or nothing that we know */
	if (c == '%' || ignored)
		return true;
	ret->is_text = c == 's' && !width;
	ret->bytes = c == 'c'	? MAX(width, 1u)
		     : c == 's' ? width + 1
		     : c == 'p' ? 8
		     : is_float ? (big ? 16 : size)
				: (big ? 8 : size);
	return size != 8 || (c != 's' && c != 'c'); /* wide characters */
}

/* Everything that its format says was written, though it may have stopped before. */
static void scan(struct run *r, const struct effect *e)
{
	unsigned n = e->where;
	uint64_t at, c;

	if (!run_argument(r, n++, &at)) {
		lose(r);
		return;
	}
	while (format_byte(r, at, &c) && c && !r->why) {
		struct conversion v;
		struct extent x = { 0 };

		at++;
		if (c != '%')
			continue;
		if (!read_conversion(r, &at, &v)) {
			lose(r);
			return;
		}
		if (!v.bytes)
			continue;
		x.len = v.bytes;
		if (!any_argument(r, n++, &x.at) ||
		    (v.is_text && (r->has_loop || !length_after(r, x.at, &x.len)))) {
			lose(r);
			return;
		}
		x.len += v.is_text;
		note_call(r, e, &x);
		run_overwrite(r, x.at, x.len);
	}
	if (!format_byte(r, at, &c) || c)
		lose(r);
}

/* ---- texts ---- */

static void write_at(struct run *r, const struct effect *e, uint64_t at, uint64_t len)
{
	note_call(r, e, &(struct extent){ .at = at, .len = len });
	run_overwrite(r, at, len);
}

/* strtok() wrote the zero with which the text that it returned ends. */
static void cut(struct run *r, const struct effect *e)
{
	uint64_t at, len;

	if (!past_value(r->h, r->now, result_of(r), &at) ||
	    (at && (r->has_loop || !length_after(r, at, &len))))
		run_lose(r, 8, expr_const(&r->h->exprs, 8, 0));
	else if (at)
		write_at(r, e, at + len, 1);
}

/* The word there as it is behind the step. */
static bool word_after(struct run *r, uint64_t at, uint64_t *ret)
{
	return !r->has_loop && past_value(r->h, r->now, past_load(r->h, r->after, at, 64), ret);
}

/* asprintf() left the address of a new block, or failed. */
static void tell_text(struct run *r, const struct effect *e)
{
	uint64_t at, block, len;

	if (!run_argument(r, e->where, &at) || !word_after(r, at, &block) ||
	    (block && !length_after(r, block, &len))) {
		lose(r);
		return;
	}
	write_at(r, e, at, 8);
	if (block)
		write_at(r, e, block, len + 1);
}

/* getline() has filled the block, which it may have moved. */
static void read_line(struct run *r, const struct effect *e)
{
	uint64_t line, size, at, len;

	if (!run_argument(r, 0, &line) || !run_argument(r, 1, &size) || !word_after(r, line, &at) ||
	    !word_after(r, size, &len) || len > RUN_MOST_WRITTEN) {
		lose(r);
		return;
	}
	if (r->h->skim.on)
		r->fog = true;
	else
		forget_free_blocks(r);
	write_at(r, e, line, 8);
	write_at(r, e, size, 8);
	if (at)
		write_at(r, e, at, len);
}

/* ---- qsort() ---- */

/* Does the function write nothing but its own stack, and call nothing else that writes? */
static bool is_pure(struct run *r, uint64_t address, unsigned depth)
{
	const char *why;
	const struct function *f = code_function(r->h->code, address, &why);

	if (!f || f->incomplete || !depth)
		return false;
	for (size_t i = 0; i < f->insns.len; i++) {
		const struct insn *in = &f->insns.data[i];
		const struct lift_op *op = insn_ops(f, in), *end = op + in->nops - 1;
		const struct effect *e;
		const char *name;
		uint64_t to = 0;
		bool moves_stack = false;

		for (const struct lift_op *k = op; k <= end; k++)
			moves_stack |= k->kind == LIFT_PUT && k->imm == LIFT_RSP;
		for (; op <= end; op++)
			if (op->kind == LIFT_REFUSE || (op->kind == LIFT_STORE && !moves_stack))
				return false;
		if (end->kind != LIFT_NEXT || end->w == LIFT_RETURN || end->w == LIFT_TRAP)
			continue;
		if (end->w == LIFT_JUMP && !end->a && end->imm >= f->low && end->imm < f->high)
			continue;
		name = code_import(r->h->code, f, in);
		e = name ? effect_of(&r->h->arena, name, 0) : NULL;
		if (e && (e->kind == EFFECT_NONE || e->kind == EFFECT_LENGTH ||
			  e->kind == EFFECT_COMPARES))
			continue;
		to = end->w == LIFT_SYSCALL ? 0 : code_target(r->h->code, f, in);
		if (!to || name || !is_pure(r, to, depth - 1))
			return false;
	}
	return true;
}

static bool is_sort_of_own(struct run *r, const struct effect *e)
{
	uint64_t compares;

	return (e->kind != EFFECT_SORTS && e->kind != EFFECT_SEARCHES) ||
	       (run_argument(r, e->kind == EFFECT_SORTS ? 3 : 4, &compares) &&
		is_pure(r, compares, 4));
}

/* The caller's va_list is an array of one, so the call is given its address. */
static void write_besides(struct run *r, const struct effect *e)
{
	uint64_t at;

	if (e->also < 0)
		return;
	if (!run_argument(r, (unsigned)e->also, &at))
		lose(r);
	else if (at)
		run_overwrite(r, at, e->also_bytes);
}

/* The walk looks for one place, and this call, whose arguments are not known, did not write there. */
static bool is_passed_over(struct run *r, const struct effect *e)
{
	const struct skim *s = &r->h->skim;
	bool is_text = e->kind == EFFECT_TEXT || e->kind == EFFECT_APPENDS ||
		       e->kind == EFFECT_PRINTS || e->kind == EFFECT_DOUBLES ||
		       e->kind == EFFECT_MAKES;

	if (!s->on)
		return false;
	return e->kind == EFFECT_FREES || e->kind == EFFECT_ALLOCATES ||
	       (e->kind == EFFECT_ZEROES && s->value) ||
	       (is_text && !reach_may_make(s, &(struct reach_loose){ .is_text = true }));
}

static void apply(struct run *r, const struct effect *e)
{
	struct extent x;

	write_besides(r, e);
	if (!is_sort_of_own(r, e)) {
		lose(r);
		return;
	}
	switch (e->kind) {
	case EFFECT_NONE:
	case EFFECT_LENGTH:
	case EFFECT_COMPARES:
	case EFFECT_SEARCHES:
		return;
	case EFFECT_SCANS:
		scan(r, e);
		return;
	case EFFECT_CUTS:
		cut(r, e);
		return;
	case EFFECT_TELLS:
		tell_text(r, e);
		return;
	case EFFECT_LINES:
		read_line(r, e);
		return;
	default:
		break;
	}
	if (e->kind == EFFECT_THREADS)
		overwrite_shared(r);
	if (!find_extent(r, e, &x)) {
		if (is_passed_over(r, e)) {
			if (e->kind == EFFECT_FREES)
				note_freed(r, r->now->registers[LIFT_RDI]);
			r->fog = true;
		} else if (e->kind == EFFECT_FREES) {
			free_some_block(r);
		} else {
			lose(r);
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

	if (!m || e->kind == EFFECT_PART)
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

/* ---- parts of the program ---- */

static bool hits(const struct skim *s, uint64_t at, uint64_t len)
{
	return !s->block && at < s->address + s->w / 8 && s->address < at + len;
}

/* One somewhere in the object at this address. */
static void write_of_element(struct run *r, uint64_t at, bool may_make)
{
	const struct skim *s = &r->h->skim;
	struct heap_chunk c;

	if (heap_chunk_at(r->h->dump, at, &c)) {
		if (may_make && hits(s, c.start, c.size))
			r->why = "a part of the program that may have written it";
		else if (c.size <= RUN_MOST_WRITTEN)
			run_overwrite(r, c.start, c.size);
		r->fog |= c.size > RUN_MOST_WRITTEN;
		return;
	}
	if (at >= s->stack_low && at < s->stack_high)
		r->why = "a part of the program that may have written the stack";
	else if (may_make && at - s->address + NEAR < 2 * NEAR)
		r->why = "a part of the program that may have written it";
	r->fog = true;
}

static bool value_of_base(struct run *r, unsigned base, uint64_t *ret)
{
	uint64_t sp;

	if (base < REACH_STACK)
		return past_value(r->h, r->now, r->now->registers[base], ret);
	if (!past_value(r->h, r->now, r->now->registers[LIFT_RSP], &sp))
		return false;
	return past_value(r->h, r->now,
			  past_load(r->h, r->after, sp + 8ull * (base - REACH_STACK), 64), ret);
}

/* What the part writes at known distances from what the registers hold where it begins. */
static void write_of_part(struct run *r, const struct reach_write *w)
{
	const struct skim *s = &r->h->skim;
	uint64_t base = 0, at;
	bool may_make = reach_may_make(s, &(struct reach_loose){ .w = w->w });

	if (w->base != REACH_ABSOLUTE && !value_of_base(r, w->base, &base)) {
		if (may_make && !w->maybe)
			r->why = "a part of the program that may have written it";
		r->fog = true;
		return;
	}
	at = base + w->offset;
	if (!w->length) {
		write_of_element(r, at, may_make);
		return;
	}
	if (hits(s, at, w->length))
		r->why = "a part of the program that may have written it";
	else if (at >= 4096) /* else it is a store that did not run */
		run_overwrite(r, at, w->length);
}

/* The libraries that it may have called keep something for themselves. */
static void add_gaps(struct run *r, const struct piece *piece)
{
	const struct dump *d = r->h->dump;
	const struct dump_module *own = dump_module_at(d, piece->function->low);

	for (size_t i = 0; i < d->modules.len; i++) {
		const struct dump_module *m = &d->modules.data[i];

		if (m == own || !strstr(m->path, ".so"))
			continue;
		r->gap_low = r->gap_high ? MIN(r->gap_low, m->low) : m->low;
		r->gap_high = MAX(r->gap_high, m->high);
	}
}

void run_skip_part(struct run *r, const struct piece *piece)
{
	const struct effect *e = piece->effect;
	const struct reach *x = e->reach;
	const struct skim *s = &r->h->skim;
	uint64_t sp;

	expr_id behind = expr_binary(&r->h->exprs, EX_ADD, r->now->registers[LIFT_RSP],
				     expr_const(&r->h->exprs, 64, e->stack));

	r->skipped = e->address;
	if (past_value(r->h, r->now, r->now->registers[LIFT_RSP], &sp)) {
		r->floor = MAX(r->floor, sp);
		forget_below(r, sp);
	} else { /* the equations of the registers tell it */
		r->lost = true;
		r->lost_at = r->insn;
	}
	if (x->calls)
		add_gaps(r, piece);
	if (s->block && x->gives_back)
		r->why = "a part of the program that may have freed it";
	for (size_t i = 0; i < x->loose.len; i++)
		if (reach_may_make(s, &x->loose.data[i]))
			r->why = "a part of the program that may have written it";
	r->fog |= x->frees || x->loose.len;
	for (size_t i = 0; i < x->writes.len && !r->why && !r->lost; i++)
		write_of_part(r, &x->writes.data[i]);
	for (unsigned i = 0; i < LIFT_REGISTERS; i++)
		if (i < 16 ? x->registers >> i & 1 : i != LIFT_FS && i != LIFT_GS)
			r->now->registers[i] =
				past_simplify(r->h, r->now,
					      run_fresh(r, lift_register_width(i), OF_REGISTER, i,
							"behind a part"));
	r->now->registers[LIFT_RSP] = behind;
}
