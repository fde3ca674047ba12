/* rewind/past.c - see past.h.
 *
 * Memory that the dump does not have: what belongs to a file and cannot be written comes from the
 * file; everything else is unknown, one symbol per byte, and stays so.
 *
 * Equations are turned around where that is possible: x + 8 = 24 binds x. That is most of what
 * code does (mov, lea, add, sub, xor, push, shifts and extensions by constants), costs no solver,
 * and gives values instead of constraints. */
#include "rewind/past.h"

#include "base/interrupt.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "debug/dump.h"
#include "rewind/code.h"
#include "rewind/trie.h"
#include "sym/sym.h"
#include "sym/value/path.h"
#include "sym/value/solver.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { QUERY_MS = 100, MODEL_MS = 3000, TURNS = 64, DEEPEST_CALL = 1 << 17 };

void history_init(struct history *h, const struct dump *d, struct code *code)
{
	*h = (struct history){ .dump = d, .code = code };
	exprs_init(&h->exprs);
	h->stats = xcalloc(1, sizeof(*h->stats));
	h->solver = solver_new(&h->exprs, h->stats, QUERY_MS, NULL);
}

void history_deinit(struct history *h)
{
	solver_free(h->solver);
	free(h->stats);
	exprs_deinit(&h->exprs);
	map_deinit(&h->unknown);
	map_deinit(&h->shared);
	map_deinit(&h->threads);
	pointers_deinit(&h->pointers);
	free(h->free_blocks);
	arena_deinit(&h->arena);
}

bool history_over(const struct history *h)
{
	return interrupted() || (h->deadline > 0 && work_seconds() > h->deadline);
}

expr_id past_unknown(struct history *h, unsigned w, const char *what)
{
	return expr_symbol(&h->exprs, w, what, NULL);
}

static expr_id number(struct history *h, unsigned w, uint64_t v)
{
	return expr_const(&h->exprs, w, v);
}

static void set_flags(struct history *h, struct past *p, const struct dump_thread *t)
{
	static const uint8_t at[] = { 0, 2, 4, 6, 7, 11, 10 };

	for (unsigned i = 0; i < ARRAY_SIZE(at); i++)
		p->registers[LIFT_CF + i] =
			t->flags_unknown ? past_unknown(h, 1, "flag")
					 : number(h, 1, t->registers.eflags >> at[i] & 1);
}

struct past *past_of_dump(struct history *h, size_t thread)
{
	const struct dump_thread *t = &h->dump->threads.data[thread];
	const struct user_regs_struct *r = &t->registers;
	const uint64_t general[16] = { r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp,
				       r->rsi, r->rdi, r->r8,  r->r9,  r->r10, r->r11,
				       r->r12, r->r13, r->r14, r->r15 };
	struct past *p = arena_new(&h->arena, struct past);

	p->pc = r->rip;
	for (unsigned i = 0; i < 16; i++)
		p->registers[i] = number(h, 64, general[i]);
	set_flags(h, p, t);
	p->registers[LIFT_FS] =
		t->base_unknown ? past_unknown(h, 64, "fs_base") : number(h, 64, r->fs_base);
	p->registers[LIFT_GS] =
		t->base_unknown ? past_unknown(h, 64, "gs_base") : number(h, 64, r->gs_base);
	for (unsigned i = LIFT_YMM; i < LIFT_REGISTERS; i++)
		p->registers[i] = past_unknown(h, 64, "xmm");
	return p;
}

struct past *past_fork(struct history *h, const struct past *p)
{
	return arena_memdup(&h->arena, p, sizeof(*p));
}

/* ---- memory ---- */

static bool is_forgotten(const struct past *p, uint64_t address)
{
	return (address < p->floor && address >= p->floor - DEEPEST_CALL) ||
	       (address >= p->gap_low && address < p->gap_high);
}

/* Memory that can be written. */
static bool is_writable(const struct history *h, uint64_t address)
{
	for (size_t i = 0; i < h->dump->segments.len; i++) {
		const struct dump_segment *s = &h->dump->segments.data[i];

		if (address - s->address < s->size)
			return s->flags & PF_W;
	}
	return true;
}

bool past_is_foggy(const struct history *h, uint64_t address)
{
	const struct skim *s = &h->skim;

	return address - s->address >= s->w / 8 &&
	       (address < s->stack_low || address >= s->stack_high) && is_writable(h, address);
}

static expr_id byte_of_dump(struct history *h, const struct past *p, uint64_t address)
{
	size_t len;
	uint32_t flags = 0;
	const uint8_t *b = dump_bytes(h->dump, address, &len);
	uint64_t *known, key = address;

	if (p->fog && past_is_foggy(h, address)) {
		b = NULL;
		key = hash_u64(address ^ (uint64_t)p->fog << 48);
	} else if (b && is_forgotten(p, address) &&
		   (address < p->floor ||
		    (code_file_bytes(h->code, address, &len, &flags), flags & PF_W)))
		b = NULL;
	else if (!b) {
		b = code_file_bytes(h->code, address, &len, &flags);
		if (b && flags & PF_W)
			b = NULL;
	}
	if (b)
		return number(h, 8, *b);
	known = map_find(&h->unknown, key);
	if (!known)
		known = map_put(&h->unknown, key, past_unknown(h, 8, "not dumped"));
	return (expr_id)*known;
}

expr_id past_byte(struct history *h, const struct past *p, uint64_t address)
{
	uint64_t cell;

	if (trie_find(p->memory, address / 8, &cell)) {
		const expr_id *bytes = (const expr_id *)(uintptr_t)cell;

		if (bytes[address % 8])
			return past_simplify(h, p, bytes[address % 8]);
	}
	return byte_of_dump(h, p, address);
}

bool past_is_dumped(const struct past *p, uint64_t address)
{
	uint64_t cell;

	return !trie_find(p->memory, address / 8, &cell) ||
	       !((const expr_id *)(uintptr_t)cell)[address % 8];
}

bool past_readable(const struct history *h, uint64_t address, bool maybe)
{
	const struct dump *d = h->dump;

	if (address < 4096 || address >= 1ull << 47)
		return false;
	for (size_t i = 0; i < d->segments.len; i++)
		if (address >= d->segments.data[i].address &&
		    address - d->segments.data[i].address < d->segments.data[i].size)
			return true;
	return maybe;
}

expr_id past_load(struct history *h, const struct past *p, uint64_t address, unsigned w)
{
	expr_id v = past_byte(h, p, address + w / 8 - 1);

	for (unsigned i = w / 8 - 1; i-- > 0;)
		v = expr_concat(&h->exprs, v, past_byte(h, p, address + i));
	return v;
}

void past_store(struct history *h, struct past *p, uint64_t address, unsigned w, expr_id value)
{
	for (unsigned i = 0; i < w / 8;) {
		uint64_t key = (address + i) / 8, cell;
		expr_id bytes[8] = { 0 };

		if (trie_find(p->memory, key, &cell))
			memcpy(bytes, (const void *)(uintptr_t)cell, sizeof(bytes));
		for (; i < w / 8 && (address + i) / 8 == key; i++)
			bytes[(address + i) % 8] = expr_extract(&h->exprs, value, 8 * i, 8);
		cell = (uint64_t)(uintptr_t)arena_memdup(&h->arena, bytes, sizeof(bytes));
		p->memory = trie_put(&h->arena, p->memory, key, cell);
	}
}

struct forget {
	uint64_t low, high;
	VEC(uint64_t) keys;
};

static void collect_forgotten(uint64_t key, uint64_t value, void *arg)
{
	struct forget *f = arg;

	(void)value;
	if (key * 8 + 7 >= f->low && key * 8 < f->high)
		vec_push(&f->keys, key);
}

/* The cells of memory below `floor` that a past has of its own. */
static void forgotten_cells(const struct past *p, uint64_t floor, struct forget *ret)
{
	*ret = (struct forget){ .low = floor - DEEPEST_CALL, .high = floor };
	trie_each(p->memory, collect_forgotten, ret);
}

void past_forget(struct history *h, struct past *p, uint64_t floor, uint64_t low, uint64_t high)
{
	struct forget f;

	forgotten_cells(p, floor, &f);
	for (size_t i = 0; i < f.keys.len; i++)
		for (uint64_t at = f.keys.data[i] * 8; at < f.keys.data[i] * 8 + 8; at++)
			if (at < floor)
				past_store(h, p, at, 8, past_unknown(h, 8, "below a call"));
	vec_deinit(&f.keys);
	p->floor = MAX(p->floor, floor);
	if (high) {
		p->gap_low = p->gap_high ? MIN(p->gap_low, low) : low;
		p->gap_high = MAX(p->gap_high, high);
	}
}

void past_fog(struct history *h, struct past *p)
{
	struct forget f = { .high = UINT64_MAX };

	trie_each(p->memory, collect_forgotten, &f);
	for (size_t i = 0; i < f.keys.len; i++)
		for (uint64_t at = f.keys.data[i] * 8; at < f.keys.data[i] * 8 + 8; at++)
			if (past_is_foggy(h, at))
				past_store(h, p, at, 8, past_unknown(h, 8, "in the fog"));
	vec_deinit(&f.keys);
	p->fog++;
}

void past_remember(struct history *h, struct past *p, uint64_t floor, const struct past *after)
{
	struct forget f;

	forgotten_cells(p, floor, &f);
	for (size_t i = 0; i < f.keys.len; i++)
		for (uint64_t at = f.keys.data[i] * 8; at < f.keys.data[i] * 8 + 8; at++)
			if (at < floor)
				past_store(h, p, at, 8, past_byte(h, after, at));
	vec_deinit(&f.keys);
}

/* ---- bindings ---- */

static bool is_bound(struct history *h, const struct past *p, expr_id e)
{
	const uint32_t *set = expr_symbols(&h->exprs, e);
	uint64_t to;

	for (uint32_t i = 1; i <= set[0]; i++)
		if (trie_find(p->bindings, set[i], &to))
			return true;
	return false;
}

static expr_id substitute(struct history *h, const struct past *p, expr_id e, struct map *memo)
{
	struct exprs *x = &h->exprs;
	struct expr n;
	uint64_t *known, to;
	expr_id a, b, c, r = e;

	if (!p->bindings || expr_is_const(x, e) || !is_bound(h, p, e))
		return e;
	known = map_find(memo, e);
	if (known)
		return (expr_id)*known;
	n = *expr_get(x, e);
	if (n.op == EX_SYMBOL) {
		r = trie_find(p->bindings, n.imm, &to) ? substitute(h, p, (expr_id)to, memo) : e;
	} else {
		a = n.a ? substitute(h, p, n.a, memo) : 0;
		b = n.b ? substitute(h, p, n.b, memo) : 0;
		c = n.c ? substitute(h, p, n.c, memo) : 0;
		if (n.op == EX_ITE)
			r = expr_ite(x, a, b, c);
		else if (n.op == EX_ZEXT)
			r = expr_zext(x, a, n.w);
		else if (n.op == EX_SEXT)
			r = expr_sext(x, a, n.w);
		else if (n.op == EX_EXTRACT)
			r = expr_extract(x, a, (unsigned)n.imm, n.w);
		else if (n.op == EX_CONCAT)
			r = expr_concat(x, a, b);
		else
			r = expr_binary(x, n.op, a, b);
	}
	map_put(memo, e, r);
	return r;
}

expr_id past_simplify(struct history *h, const struct past *p, expr_id e)
{
	struct map memo = { 0 };
	expr_id r = substitute(h, p, e, &memo);

	map_deinit(&memo);
	return r;
}

static bool mentions(struct history *h, expr_id e, uint64_t symbol)
{
	const uint32_t *set = expr_symbols(&h->exprs, e);

	for (uint32_t i = 1; i <= set[0]; i++)
		if (set[i] == symbol)
			return true;
	return false;
}

static void add_constraint(struct history *h, struct past *p, expr_id bit)
{
	expr_id *all;

	for (uint32_t i = 0; i < p->nconstraints; i++)
		if (p->constraints[i] == bit)
			return;
	all = arena_array(&h->arena, expr_id, p->nconstraints + 1u);
	if (p->nconstraints)
		memcpy(all, p->constraints, p->nconstraints * sizeof(*all));
	all[p->nconstraints++] = bit;
	p->constraints = all;
}

static bool bind(struct history *h, struct past *p, uint64_t symbol, expr_id to)
{
	uint64_t old;

	assert(!trie_find(p->bindings, symbol, &old) && !mentions(h, to, symbol));
	p->bindings = trie_put(&h->arena, p->bindings, symbol, to);
	return true;
}

/* ---- equations ---- */

static bool equate(struct history *h, struct past *p, expr_id a, expr_id b, unsigned turns);

/* The inverse of an odd number modulo 2^64, by Newton's iteration. */
static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;

	for (int i = 0; i < 6; i++)
		x *= 2 - odd * x;
	return x;
}

/* x + y = b: one of them is the difference. */
static bool turn_sum(struct history *h, struct past *p, const struct expr *n, expr_id b,
		     unsigned turns, bool *done)
{
	struct exprs *x = &h->exprs;
	enum expr_op back = n->op == EX_ADD ? EX_SUB : EX_XOR;

	*done = true;
	if (n->op == EX_SUB) { /* x - y = b: x = b + y */
		if (!expr_is_const(x, n->a) || expr_is_const(x, n->b))
			return equate(h, p, n->a, expr_binary(x, EX_ADD, b, n->b), turns);
		return equate(h, p, n->b, expr_binary(x, EX_SUB, n->a, b), turns);
	}
	if (expr_is_const(x, n->b) || expr_get(x, n->a)->op == EX_SYMBOL)
		return equate(h, p, n->a, expr_binary(x, back, b, n->b), turns);
	if (expr_get(x, n->b)->op == EX_SYMBOL)
		return equate(h, p, n->b, expr_binary(x, back, b, n->a), turns);
	*done = false;
	return true;
}

/* A part of a symbol is known: the symbol is that part between two unknown ones. */
static bool turn_extract(struct history *h, struct past *p, const struct expr *n, expr_id b,
			 bool *done)
{
	struct exprs *x = &h->exprs;
	struct expr s = *expr_get(x, n->a);
	unsigned above = s.w - n->w - (unsigned)n->imm;
	expr_id whole = b;

	*done = s.op == EX_SYMBOL && !mentions(h, b, s.imm);
	if (!*done)
		return true;
	if (n->imm)
		whole = expr_concat(x, whole, past_unknown(h, (unsigned)n->imm, "part"));
	if (above)
		whole = expr_concat(x, past_unknown(h, above, "part"), whole);
	return bind(h, p, s.imm, whole);
}

static bool turn(struct history *h, struct past *p, expr_id a, expr_id b, unsigned turns,
		 bool *done)
{
	struct exprs *x = &h->exprs;
	struct expr n = *expr_get(x, a);
	unsigned wa;

	*done = true;
	switch (n.op) {
	case EX_ADD:
	case EX_SUB:
	case EX_XOR:
		return turn_sum(h, p, &n, b, turns, done);
	case EX_CONCAT:
		wa = expr_get(x, n.b)->w;
		return equate(h, p, n.b, expr_extract(x, b, 0, wa), turns) &&
		       equate(h, p, n.a, expr_extract(x, b, wa, n.w - wa), turns);
	case EX_ZEXT:
		wa = expr_get(x, n.a)->w;
		return equate(h, p, expr_extract(x, b, wa, n.w - wa), number(h, n.w - wa, 0),
			      turns) &&
		       equate(h, p, n.a, expr_extract(x, b, 0, wa), turns);
	case EX_SEXT:
		wa = expr_get(x, n.a)->w;
		if (!equate(h, p, n.a, expr_extract(x, b, 0, wa), turns))
			return false;
		a = past_simplify(h, p, a);
		b = past_simplify(h, p, b);
		if (a == b)
			return true;
		*done = false;
		return true;
	case EX_EXTRACT:
		return turn_extract(h, p, &n, b, done);
	case EX_MUL:
		if (expr_is_const(x, n.b) && expr_get(x, n.b)->imm & 1)
			return equate(h, p, n.a,
				      expr_binary(x, EX_MUL, b,
						  number(h, n.w, inverse(expr_get(x, n.b)->imm))),
				      turns);
		break;
	case EX_SYMBOL:
		if (!mentions(h, b, n.imm))
			return bind(h, p, n.imm, b);
		break;
	default:
		break;
	}
	*done = false;
	return true;
}

static bool equate(struct history *h, struct past *p, expr_id a, expr_id b, unsigned turns)
{
	struct exprs *x = &h->exprs;
	expr_id eq;
	bool done;

	a = past_simplify(h, p, a);
	b = past_simplify(h, p, b);
	if (a == b)
		return true;
	if (expr_is_const(x, a) && expr_is_const(x, b))
		return false;
	if (turns) {
		if (!turn(h, p, a, b, turns - 1, &done))
			return false;
		if (done)
			return true;
		a = past_simplify(h, p, a); /* a half that was turned around may have told more */
		b = past_simplify(h, p, b);
		if (!turn(h, p, b, a, turns - 1, &done))
			return false;
		if (done)
			return true;
		a = past_simplify(h, p, a);
		b = past_simplify(h, p, b);
	}
	eq = expr_binary(x, EX_EQ, a, b);
	if (expr_is_const(x, eq))
		return expr_get(x, eq)->imm != 0;
	if (expr_get(x, eq)->op != EX_EQ && turns)
		return past_assume(h, p, eq); /* it became a plain condition */
	add_constraint(h, p, eq);
	return true;
}

bool past_agrees(struct history *h, const struct past *p, expr_id a, expr_id b)
{
	uint64_t x, y;

	return past_value(h, p, a, &x) && past_value(h, p, b, &y) && x == y;
}

bool past_equate(struct history *h, struct past *p, expr_id a, expr_id b)
{
	return equate(h, p, a, b, TURNS);
}

bool past_assume(struct history *h, struct past *p, expr_id bit)
{
	struct exprs *x = &h->exprs;
	struct expr n;

	bit = past_simplify(h, p, bit);
	n = *expr_get(x, bit);
	if (n.op == EX_CONST)
		return n.imm != 0;
	if (n.op == EX_AND)
		return past_assume(h, p, n.a) && past_assume(h, p, n.b);
	if (n.op == EX_SYMBOL)
		return bind(h, p, n.imm, number(h, 1, 1));
	if (n.op == EX_EQ && expr_get(x, n.a)->w > 1)
		return past_equate(h, p, n.a, n.b);
	if (n.op == EX_EQ && expr_get(x, n.a)->op == EX_SYMBOL)
		return past_equate(h, p, n.a, n.b);
	if (n.op == EX_EQ && expr_is_const(x, n.b) && expr_get(x, n.a)->op == EX_OR)
		return past_assume(h, p, expr_not(x, expr_get(x, n.a)->a)) &&
		       past_assume(h, p, expr_not(x, expr_get(x, n.a)->b));
	add_constraint(h, p, bit);
	return true;
}

bool past_settle(struct history *h, struct past *p, uint32_t *asked)
{
	for (int round = 0; round < 8; round++) {
		const struct trie *before = p->bindings;
		const expr_id *all = p->constraints;
		uint32_t n = p->nconstraints, same = 0;
		bool changed = false;

		for (uint32_t i = 0; i < n && !changed; i++)
			changed = is_bound(h, p, all[i]);
		if (!changed)
			return true;
		p->constraints = NULL;
		p->nconstraints = 0;
		for (uint32_t i = 0; i < n; i++)
			if (!is_bound(h, p, all[i])) {
				add_constraint(h, p, all[i]);
				same += i < *asked;
			}
		*asked = same;
		for (uint32_t i = 0; i < n; i++)
			if (is_bound(h, p, all[i]) && !past_assume(h, p, all[i]))
				return false;
		if (p->bindings == before)
			return true;
	}
	return true;
}

/* ---- the solver ---- */

/* The longest time of one question, in milliseconds. */
static uint32_t patience(const struct history *h, uint32_t most)
{
	double left = h->deadline > 0 ? (h->deadline - work_seconds()) * 1000 : most;

	return left < 1 ? 1 : (uint32_t)MIN(left, (double)most);
}

/* The constraints as sym's solver wants them; freed with the arena. */
static struct constraint *chain(struct history *h, const struct past *p, uint32_t n)
{
	struct constraint *c = NULL;

	for (uint32_t i = 0; i < n; i++) {
		struct constraint *next = arena_new(&h->arena, struct constraint);

		*next = (struct constraint){
			.refs = 1, .count = i + 1, .cond = p->constraints[i], .before = c
		};
		c = next;
	}
	return c;
}

bool past_check(struct history *h, struct past *p, uint32_t since)
{
	for (uint32_t i = since; i < p->nconstraints && !history_over(h); i++) {
		uint32_t most = patience(h, QUERY_MS);
		enum answer a;

		h->questions++;
		if (most != QUERY_MS)
			solver_set_patience(h->solver, most);
		a = solver_check(h->solver, chain(h, p, i), p->constraints[i], NULL, NULL);
		if (a == ANSWER_NO)
			return false;
	}
	return true;
}

bool past_value(struct history *h, const struct past *p, expr_id e, uint64_t *ret)
{
	e = past_simplify(h, p, e);
	if (!expr_is_const(&h->exprs, e))
		return false;
	*ret = expr_get(&h->exprs, e)->imm;
	return true;
}

uint64_t *past_model(struct history *h, const struct past *p, uint32_t *count, bool *gave_up)
{
	uint32_t n = (uint32_t)h->exprs.symbols.len;
	uint64_t *values = xcalloc(n + 1u, sizeof(*values));
	struct model *m = NULL, *next;
	/* a step that stays undecided costs little, a suffix without values all that was found */
	struct solver *solver = solver_new(&h->exprs, h->stats, patience(h, MODEL_MS), NULL);
	enum answer answer = ANSWER_YES;

	*gave_up = false;
	for (uint32_t i = 0; i < p->nconstraints; i++) {
		uint32_t most = patience(h, MODEL_MS);

		next = NULL;
		h->questions++;
		if (most != MODEL_MS) /* a new limit costs the solver what it has learnt */
			solver_set_patience(solver, most);
		answer = history_over(h) ? ANSWER_UNKNOWN
					 : solver_check(solver, chain(h, p, i), p->constraints[i],
							m, &next);
		if (answer != ANSWER_YES) {
			*gave_up = answer == ANSWER_UNKNOWN;
			if (m)
				model_unref(m);
			solver_free(solver);
			free(values);
			return NULL;
		}
		if (m)
			model_unref(m);
		m = next;
	}
	for (uint32_t i = 0; m && i < MIN(n, m->count); i++)
		values[i] = m->values[i];
	if (m)
		model_unref(m);
	solver_free(solver);
	*count = n;
	return values;
}
