/* rewind/ahead-memory.c - see ahead.h: what a thread reads and writes.
 *
 * Memory is of three kinds:
 *   - the thread's own: its stack (the first thread's: but for what others access there), and blocks that it
 *     got from malloc. Kept here, nobody else sees it (a block that is handed over through shared memory is
 *     not followed);
 *   - shared: what some thread writes (history.shared). Each read is an event with a fresh symbol;
 *   - the rest: nobody changes it while these threads run, so it is as in the dump.
 * An address that depends on what was read has one event for each value that it can have. */
#include "rewind/ahead-state.h"

#include "base/mem.h"
#include "debug/dump.h"
#include "rewind/mates.h"
#include "rewind/trie.h"

#include <stdlib.h>

/* ---- memory ---- */

expr_id ahead_fresh(struct ahead *a, unsigned w, const char *what)
{
	return past_unknown(a->h, w, what);
}

static bool is_shared(struct ahead *a, uint64_t at, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		if (map_find(&a->h->shared, at + i))
			return true;
	return false;
}

/* The key of memory that only this thread sees. */
static bool is_own(struct ahead *a, expr_id address, unsigned w, uint64_t *key)
{
	struct exprs *x = &a->h->exprs;
	struct expr n = *expr_get(x, address);
	uint64_t offset = 0;

	if (n.op == EX_CONST) {
		*key = n.imm;
		return n.imm >= a->m->stack_low && n.imm < a->m->stack_high &&
		       !(a->m->from && is_shared(a, n.imm, w / 8));
	}
	if (n.op == EX_ADD && expr_is_const(x, n.b)) {
		offset = expr_get(x, n.b)->imm;
		n = *expr_get(x, n.a);
	}
	if (n.op != EX_SYMBOL || !map_find(&a->blocks, n.imm) || offset >= 1u << 20)
		return false;
	*key = AHEAD_BLOCKS + (n.imm << 20) + offset;
	return true;
}

static expr_id own_byte(struct ahead *a, uint64_t key)
{
	uint64_t cell;

	if (a->m->from && key < AHEAD_BLOCKS) /* the walk back tells what was there */
		return past_byte(a->h, a->now.p, key);
	if (trie_find(a->now.p->memory, key / 8, &cell) &&
	    ((const expr_id *)(uintptr_t)cell)[key % 8])
		return past_byte(a->h, a->now.p, key);
	past_store(a->h, a->now.p, key, 8, ahead_fresh(a, 8, "own memory"));
	return past_byte(a->h, a->now.p, key);
}

static bool is_there(struct ahead *a, uint64_t at)
{
	const struct dump *d = a->h->dump;

	for (size_t i = 0; i < d->segments.len; i++)
		if (at >= d->segments.data[i].address &&
		    at - d->segments.data[i].address < d->segments.data[i].size)
			return true;
	return false;
}

void ahead_note(struct ahead *a, enum ahead_kind kind, uint64_t address, unsigned w, expr_id value,
		expr_id guard)
{
	struct track *t = a->now.t;

	for (unsigned i = 0; kind == AHEAD_WRITE && i < w / 8; i++)
		map_put(&a->ret->written, address + i, 1);
	vec_push(&t->events, ((struct ahead_event){
				     .kind = (uint8_t)kind,
				     .w = (uint8_t)w,
				     .atomic = a->atomic && t->events.len && kind == AHEAD_WRITE &&
					       vec_last(&t->events)->insn == a->now.pc,
				     .future = a->now.future != 0,
				     .insn = a->now.pc,
				     .step = (uint32_t)t->path.len,
				     .address = address,
				     .value = value,
				     .guard = guard }));
}

/* ---- addresses that depend on what was read ---- */

/* The values that one symbol can have: it was read from a place in shared memory. */
static const struct possible *possible_of(struct ahead *a, uint32_t symbol)
{
	struct exprs *x = &a->h->exprs;

	for (size_t i = 0; i < a->now.t->events.len; i++) {
		const struct ahead_event *e = &a->now.t->events.data[i];

		if (e->kind != AHEAD_READ || expr_get(x, e->value)->imm != symbol)
			continue;
		for (size_t k = 0; k < a->possible->len; k++)
			if (a->possible->data[k].address == e->address &&
			    a->possible->data[k].w == e->w)
				return &a->possible->data[k];
	}
	return NULL;
}

/* What an expression can be; false: not known. */
bool ahead_enumerate(struct ahead *a, expr_id e, struct candidates *ret)
{
	struct exprs *x = &a->h->exprs;
	const uint32_t *symbols = expr_symbols(x, e);
	const struct possible *p = symbols[0] == 1 && !a->scout ? possible_of(a, symbols[1]) : NULL;
	uint32_t symbol = symbols[0] ? symbols[1] : 0;
	uint64_t *values;

	ret->n = 0;
	if (!p || p->any) {
		a->ret->asks = true;
		return false;
	}
	values = xcalloc(symbol + 1u, sizeof(*values));
	for (size_t i = 0; i < p->values.len && ret->n < AHEAD_ADDRESSES; i++) {
		uint64_t v;
		unsigned k = 0;

		values[symbol] = p->values.data[i];
		expr_eval_begin(x);
		v = expr_eval(x, e, values, symbol + 1u);
		while (k < ret->n && ret->data[k] != v)
			k++;
		if (k == ret->n)
			ret->data[ret->n++] = v;
	}
	free(values);
	return ret->n < AHEAD_ADDRESSES;
}

/* The addresses of an access that does not fail; the address is one of them from here on. */
static bool resolve(struct ahead *a, expr_id address, struct candidates *ret)
{
	struct exprs *x = &a->h->exprs;
	expr_id one = expr_const(x, 1, 0);
	unsigned n = 0;

	if (!ahead_enumerate(a, address, ret)) {
		expr_eval_begin(x); /* with all symbols 0: probably the object's beginning */
		map_put(&a->ret->unresolved, expr_eval(x, address, NULL, 0), 1);
		if (!a->scout)
			ahead_give_up(a, "an access whose address is not known");
		return false;
	}
	for (unsigned i = 0; i < ret->n; i++)
		if (is_there(a, ret->data[i])) {
			ret->data[n++] = ret->data[i];
			one = expr_binary(
				x, EX_OR, one,
				expr_binary(x, EX_EQ, address, expr_const(x, 64, ret->data[i])));
		}
	ret->n = n;
	if (!n || !ahead_require(a, &a->now, one))
		a->now.dead = true;
	return true;
}

expr_id ahead_is_at(struct ahead *a, expr_id address, uint64_t at)
{
	struct exprs *x = &a->h->exprs;

	return expr_binary(x, EX_EQ, address, expr_const(x, 64, at));
}

static void note_place(struct ahead *a, const struct ahead_event *e)
{
	for (size_t i = 0; i < a->ret->reads.len; i++)
		if (a->ret->reads.data[i].address == e->address && a->ret->reads.data[i].w == e->w)
			return;
	vec_push(&a->ret->reads, *e);
}

/* From an address that is known, and not the thread's own. */
static expr_id load_at(struct ahead *a, uint64_t at, unsigned w, expr_id guard)
{
	expr_id v;

	/* the first thread's own memory is not, if others see it */
	for (unsigned i = 0; a->first && a->m != a->first && i < w / 8; i++)
		if (at + i >= a->first->stack_low && at + i < a->first->stack_high)
			map_put(&a->ret->written, at + i, 1);
	if (a->now.future || a->scout || !is_shared(a, at, w / 8))
		return past_load(a->h, a->now.future || a->scout ? a->now.p : a->dump, at, w);
	v = ahead_fresh(a, w, "load");
	ahead_note(a, AHEAD_READ, at, w, v, guard);
	note_place(a, vec_last(&a->now.t->events));
	return v;
}

expr_id ahead_load(struct ahead *a, expr_id address, unsigned w)
{
	struct exprs *x = &a->h->exprs;
	struct candidates c;
	expr_id v, v2;
	uint64_t at;

	address = past_simplify(a->h, a->now.p, address);
	if (is_own(a, address, w, &at)) {
		v = own_byte(a, at + w / 8 - 1);
		for (unsigned i = w / 8 - 1; i-- > 0;)
			v = expr_concat(x, v, own_byte(a, at + i));
		return v;
	}
	if (expr_is_const(x, address)) {
		at = expr_get(x, address)->imm;
		if (is_there(a, at))
			return load_at(a, at, w, 0);
		a->now.dead = !a->scout; /* it would have failed here */
		return ahead_fresh(a, w, "load");
	}
	v = ahead_fresh(a, w, "load");
	if (a->now.future || !resolve(a, address, &c) || a->now.dead)
		return v;
	v = load_at(a, c.data[0], w, ahead_is_at(a, address, c.data[0]));
	for (unsigned i = 1; i < c.n; i++) {
		expr_id here = ahead_is_at(a, address, c.data[i]);

		v2 = load_at(a, c.data[i], w, here);
		v = expr_ite(x, here, v2, v);
	}
	return v;
}

void ahead_store(struct ahead *a, expr_id address, unsigned w, expr_id value)
{
	struct exprs *x = &a->h->exprs;
	struct candidates c;
	uint64_t at;

	address = past_simplify(a->h, a->now.p, address);
	value = past_simplify(a->h, a->now.p, value);
	if (is_own(a, address, w, &at)) {
		past_store(a->h, a->now.p, at, w, value);
		return;
	}
	if (!expr_is_const(x, address)) {
		if (a->now.future || !resolve(a, address, &c))
			return;
		for (unsigned i = 0; i < c.n; i++)
			ahead_note(a, AHEAD_WRITE, c.data[i], w, value,
				   c.n > 1 ? ahead_is_at(a, address, c.data[i]) : 0);
		return;
	}
	at = expr_get(x, address)->imm;
	if (!is_there(a, at)) {
		a->now.dead = !a->scout;
		return;
	}
	if (a->now.future || a->scout)
		past_store(a->h, a->now.p, at, w, value);
	ahead_note(a, AHEAD_WRITE, at, w, value, 0);
}
