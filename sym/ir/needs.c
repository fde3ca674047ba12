/* sym/ir/needs.c - see needs.h.
 *
 * An edge is necessary if without it no site of its stop can be reached from the function's beginning. Its
 * condition is traced backwards through registers: comparisons with constants, negations, choices, results of
 * functions, parameters of the calls on the stack. Where the trace ends in a load, the need is recorded with
 * the stores that may give the cell the wanted value. A store of a computed value is traced on; when it
 * is the only one, the edges that lead to it are necessary, too. The published analysis stops at the first block
 * with two predecessors; this one does not. */
#include "sym/ir/needs.h"

#include "base/mem.h"
#include "sym/ir/ir.h"

#include <stdlib.h>
#include <string.h>

enum {
	DEPTH_MOST = 12, /* of a trace through registers and memory */
	NEEDS_MOST = 24,
	WRITERS_MOST = 20000, /* a cell that everybody writes says nothing */
	COMPUTED_MOST = 8,    /* stores of one cell that are traced on */
	EDGE_WORK = 40000000, /* a function that is larger is left out */
	STEPS_MOST = 20000,   /* of all traces */
	SUCCESSORS = 64,
	SMALL = 40, /* operations of a function that an optimiser takes apart */
};

static const struct want near_null_want = { OP_ULT, 64, false, true, UINT64_MAX, 4096 };

/* A side of a branch. */
struct edge {
	uint32_t from, to;
};

/* The calls on the way to a function, for its parameters. */
struct context {
	const struct function *f;
	uint32_t call;
	const struct context *outer;
};

/* ---- wants ---- */

static uint64_t bits(uint8_t w)
{
	return w >= 64 ? UINT64_MAX : (1ull << w) - 1;
}

static int64_t extend(uint64_t v, uint8_t w)
{
	return w >= 64 ? (int64_t)v : (int64_t)(v << (64 - w)) >> (64 - w);
}

static bool compare(uint16_t code, uint8_t w, uint64_t a, uint64_t b)
{
	switch (code) {
	case OP_EQ:
		return a == b;
	case OP_NE:
		return a != b;
	case OP_ULT:
		return a < b;
	case OP_ULE:
		return a <= b;
	case OP_SLT:
		return extend(a, w) < extend(b, w);
	default:
		return extend(a, w) <= extend(b, w);
	}
}

bool want_is_met(const struct want *want, uint64_t value)
{
	uint64_t v = value & bits(want->w) & want->mask;

	return compare(want->code, want->w, want->swapped ? want->constant : v,
		       want->swapped ? v : want->constant) == want->holds;
}

uint32_t want_gap(const struct want *want, uint64_t value)
{
	int64_t v = extend(value & bits(want->w) & want->mask, want->w),
		c = extend(want->constant, want->w);
	uint64_t gap = v > c ? (uint64_t)v - (uint64_t)c : (uint64_t)c - (uint64_t)v;

	if (want_is_met(want, value))
		return 0;
	return gap >= WANT_FAR ? WANT_FAR : (uint32_t)gap + 1;
}

/* ---- definitions of registers ---- */

static bool writes_register(const struct op *o)
{
	if (o->code >= OP_STORE8 && o->code <= OP_STOREX64)
		return false;
	if (o->code >= OP_MEMCPY && o->code <= OP_MEMSET)
		return false;
	return o->code < OP_JMP || o->code == OP_CALL || o->code == OP_CALLI ||
	       o->code == OP_BUILTIN || o->code == OP_LANDING;
}

static bool is_move(const struct op *o)
{
	return o->code == OP_MOV || o->code == OP_MOV2 || o->code == OP_MOVJ;
}

/* Where register r of f is written, up to max places; returns how many there are. */
static uint32_t find_defs(const struct function *f, int32_t r, uint32_t *ret, uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t pc = 0; pc < f->nops; pc++) {
		const struct op *o = &f->ops[pc];
		bool here = writes_register(o) && o->d == r;

		here |= o->code == OP_MOV2 && (int32_t)o->imm == r;
		if (here && n < max)
			ret[n] = pc;
		n += here;
	}
	return n;
}

/* ---- traces ---- */

static void trace(struct needs *n, const struct function *f, int32_t r, struct want want,
		  const struct context *context);
static void add_edges(struct needs *n, const struct function *f, const uint8_t *sites,
		      const struct context *context);

static bool constant_of(const struct function *f, int32_t r, uint64_t *ret)
{
	if (r >= 0)
		return false;
	*ret = f->consts[(int64_t)f->nconst + r];
	return true;
}

/* The edges that lead to one operation. */
static void add_edges_to(struct needs *n, const struct function *f, uint32_t pc,
			 const struct context *context)
{
	uint8_t *sites;
	size_t known = n->led.len;

	map_put(&n->led, (uint64_t)f->index << 32 | pc, 1);
	if (n->led.len == known)
		return;
	sites = xcalloc(f->nops + 1, 1);
	sites[pc] = 1;
	add_edges(n, f, sites, context);
	free(sites);
}

/* A comparison of two registers must come out as `truth`. */
static void trace_comparison(struct needs *n, const struct function *f, uint16_t code, uint8_t w,
			     int32_t a, int32_t b, bool truth, const struct context *context)
{
	struct want want = { .code = code, .w = w, .holds = truth, .mask = UINT64_MAX };
	uint64_t c;

	if (constant_of(f, b, &c)) {
		want.constant = c & bits(w);
		trace(n, f, a, want, context);
	} else if (constant_of(f, a, &c)) {
		want.constant = c & bits(w);
		want.swapped = true;
		trace(n, f, b, want, context);
	}
}

static const struct want *boolean(bool truth)
{
	static const struct want yes = { OP_NE, 1, false, true, UINT64_MAX, 0 },
				 no = { OP_EQ, 1, false, true, UINT64_MAX, 0 };

	return truth ? &yes : &no;
}

/* One of several sources; those that are constants and not what is wanted are out. The only one left is
 * necessary. */
static void trace_sources(struct needs *n, const struct function *f, const int32_t *from,
			  const uint32_t *pcs, uint32_t count, struct want want,
			  const struct context *context)
{
	uint32_t left = 0, last = 0;
	uint64_t c;

	for (uint32_t i = 0; i < count; i++)
		if (!constant_of(f, from[i], &c) || want_is_met(&want, c)) {
			left++;
			last = i;
		}
	if (left == 1) {
		add_edges_to(n, f, pcs[last], context);
		trace(n, f, from[last], want, context);
	}
}

static void trace_phi(struct needs *n, const struct function *f, int32_t r, const uint32_t *pcs,
		      uint32_t count, struct want want, const struct context *context)
{
	int32_t from[SUCCESSORS];

	for (uint32_t i = 0; i < count; i++) {
		const struct op *o = &f->ops[pcs[i]];

		if (!is_move(o))
			return;
		from[i] =
			o->code == OP_MOV2 && (int32_t)o->imm == r ? (int32_t)(o->imm >> 32) : o->a;
	}
	trace_sources(n, f, from, pcs, count, want, context);
}

static void trace_select(struct needs *n, const struct function *f, const struct op *o,
			 struct want want, const struct context *context)
{
	uint64_t c;
	bool yes = !constant_of(f, o->b, &c) || want_is_met(&want, c);
	bool no = !constant_of(f, (int32_t)o->imm, &c) || want_is_met(&want, c);

	if (yes == no)
		return;
	trace(n, f, o->a, *boolean(yes), context);
	trace(n, f, yes ? o->b : (int32_t)o->imm, want, context);
}

static void trace_call(struct needs *n, const struct function *f, uint32_t pc, struct want want,
		       const struct context *context)
{
	const struct op *o = &f->ops[pc];
	const struct function *g = n->ir->functions.data[o->b];
	struct context inner = { f, pc, context };

	if (o->code != OP_CALL || !g->lowered || g->is_model)
		return;
	for (uint32_t i = 0; i < g->nops; i++)
		if (g->ops[i].code == OP_RET && g->ops[i].imm >> 32)
			trace(n, g, (int32_t)g->ops[i].imm, want, &inner);
}

static void trace_and_or(struct needs *n, const struct function *f, const struct op *o,
			 struct want want, const struct context *context)
{
	bool one = want_is_met(&want, 1), zero = want_is_met(&want, 0);
	uint64_t c;

	if (o->code == OP_AND && constant_of(f, o->b, &c)) {
		want.mask &= c;
		trace(n, f, o->a, want, context);
	} else if (o->w == 1 && one != zero && one == (o->code == OP_AND)) {
		trace(n, f, o->a, *boolean(one), context);
		trace(n, f, o->b, *boolean(one), context);
	}
}

static void add_need(struct needs *n, const struct function *f, uint32_t pc, struct want want,
		     const struct context *context);

/* The operation at pc gives the register its only value. */
static void trace_operation(struct needs *n, const struct function *f, uint32_t pc,
			    struct want want, const struct context *context)
{
	const struct op *o = &f->ops[pc];
	uint64_t c;

	if (o->code >= OP_LOAD8 && o->code <= OP_LOADX64) {
		add_need(n, f, pc, want, context);
	} else if (o->code >= OP_EQ && o->code <= OP_SLE) {
		bool one = want_is_met(&want, 1);

		if (one != want_is_met(&want, 0))
			trace_comparison(n, f, o->code, o->w, o->a, o->b, one, context);
	} else if (is_move(o)) {
		trace_phi(n, f, o->d, &pc, 1, want, context);
	} else if (o->code == OP_TRUNC) {
		want.mask &= bits(o->w);
		trace(n, f, o->a, want, context);
	} else if (o->code == OP_SEXT) {
		if (extend(want.constant, want.w) != extend(want.constant & bits(o->w), o->w))
			return;
		want.constant &= bits(o->w);
		want.w = o->w;
		trace(n, f, o->a, want, context);
	} else if (o->code == OP_XOR && constant_of(f, o->b, &c) &&
		   (want.code == OP_EQ || want.code == OP_NE) && want.mask == UINT64_MAX) {
		want.constant = (want.constant ^ c) & bits(want.w);
		trace(n, f, o->a, want, context);
	} else if (o->code == OP_AND || o->code == OP_OR) {
		trace_and_or(n, f, o, want, context);
	} else if (o->code == OP_SELECT) {
		trace_select(n, f, o, want, context);
	} else if (o->code == OP_CALL) {
		trace_call(n, f, pc, want, context);
	}
}

static void trace(struct needs *n, const struct function *f, int32_t r, struct want want,
		  const struct context *context)
{
	uint32_t defs[SUCCESSORS], count;

	if (r < 0 || n->depth >= DEPTH_MOST || n->steps++ >= STEPS_MOST)
		return;
	n->depth++;
	if ((uint32_t)r < f->nparams) {
		if (context && context->call < context->f->nops) {
			const struct op *o = &context->f->ops[context->call];

			if ((uint32_t)r < (uint32_t)(o->imm >> 32))
				trace(n, context->f,
				      n->ir->args.data[(uint32_t)o->imm + (uint32_t)r], want,
				      context->outer);
		}
	} else {
		count = find_defs(f, r, defs, SUCCESSORS);
		if (count == 1)
			trace_operation(n, f, defs[0], want, context);
		else if (count && count <= SUCCESSORS)
			trace_phi(n, f, r, defs, count, want, context);
	}
	n->depth--;
}

/* ---- needs ---- */

static bool same_want(const struct want *a, const struct want *b)
{
	return a->code == b->code && a->w == b->w && a->swapped == b->swapped &&
	       a->holds == b->holds && a->mask == b->mask && a->constant == b->constant;
}

static bool same_cells(const struct need *a, const struct need *b)
{
	return a->cells.len == b->cells.len &&
	       !memcmp(a->cells.data, b->cells.data, a->cells.len * sizeof(*a->cells.data));
}

static bool is_known(const struct needs *n, const struct need *need)
{
	for (size_t i = 0; i < n->all.len; i++) {
		const struct need *k = &n->all.data[i];

		if (same_want(&k->want, &need->want) && same_cells(k, need))
			return true;
	}
	return false;
}

/* Does the dump say what these cells hold? What they held before is then no goal. */
static bool is_stored(const struct needs *n, const struct need *need)
{
	for (size_t i = 0; i < n->all.len; i++)
		if (n->all.data[i].stored && same_cells(&n->all.data[i], need))
			return true;
	return false;
}

static bool may_write(const struct need *need, const struct alias_write *w, uint32_t bytes)
{
	for (size_t i = 0; i < need->cells.len; i++)
		if (cells_overlap(&w->to, bytes, need->cells.data[i], need->bytes))
			return true;
	return false;
}

static const struct nulls *known_nulls(struct needs *n)
{
	if (!n->nulls.nodes)
		nulls_init(&n->nulls, &n->aliases);
	return &n->nulls;
}

/* May a store of register r of f give the wanted value? A constant that is something else cannot, nor a pointer that is
 * never null where one is wanted. */
static bool may_store(struct needs *n, const struct function *f, int32_t r, const struct want *want)
{
	uint64_t c;

	if (constant_of(f, r, &c))
		return want_is_met(want, c);
	return !same_want(want, &near_null_want) || nulls_value(known_nulls(n), f, r);
}

/* The stores that may give the cell the wanted value. */
static void find_writers(struct needs *n, struct need *need)
{
	for (size_t i = 0; i < n->aliases.writes.len; i++) {
		const struct alias_write *w = &n->aliases.writes.data[i];
		const struct function *f = n->ir->functions.data[w->function];
		const struct op *o = &f->ops[w->pc];
		bool store = o->code >= OP_STORE8 && o->code <= OP_STOREX64;

		if (!may_write(need, w, store ? (o->w + 7u) / 8 : 1))
			continue;
		if (store && o->w == need->bytes * 8 && !may_store(n, f, o->d, &need->want))
			continue;
		vec_push(&need->writers, ((struct reach_place){ w->function, w->pc }));
	}
}

/* By how much the store at pc counts its own cell up or down; 0 = it does something else. */
static uint32_t step_of(struct needs *n, const struct function *f, uint32_t pc)
{
	const struct op *o = &f->ops[pc], *add, *load;
	struct cells to = { 0 }, from = { 0 };
	uint32_t defs[2], step = 0;
	uint64_t c;
	int64_t by;

	if (o->code < OP_STORE8 || o->code > OP_STOREX64 || o->d < 0 ||
	    find_defs(f, o->d, defs, 2) != 1)
		return 0;
	add = &f->ops[defs[0]];
	if (add->code < OP_ADD64 || add->code > OP_SUBN || !constant_of(f, add->b, &c) ||
	    find_defs(f, add->a, defs, 2) != 1)
		return 0;
	load = &f->ops[defs[0]];
	if (load->code < OP_LOAD8 || load->code > OP_LOADX64)
		return 0;
	aliases_address(&n->aliases, f, defs[0], &from);
	aliases_address(&n->aliases, f, pc, &to);
	by = extend(c & bits(o->w), o->w);
	if (from.len == 1 && to.len == 1 && from.data[0].object == to.data[0].object &&
	    from.data[0].offset == to.data[0].offset && by > -WANT_FAR && by < WANT_FAR)
		step = (uint32_t)(by < 0 ? -by : by);
	vec_deinit(&from);
	vec_deinit(&to);
	return step;
}

static uint32_t largest_step(struct needs *n, const struct need *need)
{
	uint32_t most = 0;

	for (size_t i = 0; i < need->writers.len; i++) {
		uint32_t step = step_of(n, n->ir->functions.data[need->writers.data[i].function],
					need->writers.data[i].pc);

		if (!step)
			return 0;
		most = MAX(most, step);
	}
	return most;
}

/* Does the cell have the wanted value from the beginning, so that nobody need write it? */
static bool is_met_at_first(const struct needs *n, const struct need *need)
{
	for (size_t i = 0; i < need->cells.len; i++) {
		const struct cell *c = &need->cells.data[i];
		const struct alias_object *o = &n->aliases.objects.data[c->object];
		uint64_t v = 0;

		if (o->kind != ALIAS_GLOBAL || c->offset == CELL_ANYWHERE)
			continue;
		if (n->ir->globals.data[o->pc].init &&
		    c->offset + need->bytes <= n->ir->globals.data[o->pc].size)
			memcpy(&v, n->ir->globals.data[o->pc].init + c->offset, need->bytes);
		if (want_is_met(&need->want, v))
			return true;
	}
	return false;
}

/* Computed values are traced on, and if there is one store only, also how to get there. */
static void trace_writers(struct needs *n, const struct need *need, const struct function *f,
			  const struct context *context)
{
	struct want want = need->want;
	uint32_t count = (uint32_t)need->writers.len;
	struct reach_place *writers = xmemdup(need->writers.data, (count + 1) * sizeof(*writers));

	for (uint32_t i = 0; i < count && count <= COMPUTED_MOST; i++) {
		const struct function *g = n->ir->functions.data[writers[i].function];
		const struct op *o = &g->ops[writers[i].pc];
		const struct context *way = g == f ? context : NULL;

		if (count == 1)
			add_edges_to(n, g, writers[i].pc, way);
		if (o->code >= OP_STORE8 && o->code <= OP_STOREX64 && o->d >= 0)
			trace(n, g, o->d, want, way);
	}
	free(writers);
}

static bool is_local(const struct needs *n, const struct need *need, const struct function *f)
{
	for (size_t i = 0; i < need->cells.len; i++) {
		const struct alias_object *o = &n->aliases.objects.data[need->cells.data[i].object];

		if (o->kind != ALIAS_STACK || o->function != f->index)
			return false;
	}
	return true;
}

static void need_deinit(struct need *need)
{
	vec_deinit(&need->cells);
	vec_deinit(&need->writers);
}

bool needs_take(struct needs *n, struct need *need, const struct function *f,
		const struct context *context)
{
	bool taken, was = n->of_stored;

	need->stored |= n->of_stored;
	taken = !is_known(n, need) && !(need->stored && is_met_at_first(n, need)) &&
		!(n->of_stored && is_stored(n, need));
	if (taken)
		find_writers(n, need);
	if (!taken || !need->writers.len || need->writers.len > WRITERS_MOST) {
		need_deinit(need);
		return false;
	}
	need->step = need->local ? 0 : largest_step(n, need);
	vec_push(&n->all, *need);
	n->of_stored = need->stored;
	if (!is_met_at_first(n, need))
		trace_writers(n, need, f, context);
	n->of_stored = was;
	return true;
}

static void add_need(struct needs *n, const struct function *f, uint32_t pc, struct want want,
		     const struct context *context)
{
	struct need need = { .bytes = (uint8_t)((f->ops[pc].w + 7) / 8), .want = want };

	aliases_address(&n->aliases, f, pc, &need.cells);
	if (!need.cells.len || need.bytes > 8 || n->all.len >= NEEDS_MOST) {
		need_deinit(&need);
		return;
	}
	need.local = is_local(n, &need, f);
	needs_take(n, &need, f, context);
}

/* ---- necessary edges ---- */

/* Can a site be reached from the beginning, without the edge from `u` to `v`? */
static bool reaches(const struct needs *n, const struct function *f, const uint8_t *sites,
		    uint32_t u, uint32_t v, uint32_t *stack, uint8_t *seen)
{
	uint32_t len = 0, next[SUCCESSORS];

	memset(seen, 0, f->nops);
	stack[len++] = 0;
	seen[0] = 1;
	while (len) {
		uint32_t pc = stack[--len], count;

		if (sites[pc])
			return true;
		count = op_successors(n->ir, f, pc, next, SUCCESSORS);
		for (uint32_t i = 0; i < count; i++) {
			if ((pc == u && next[i] == v) || seen[next[i]])
				continue;
			seen[next[i]] = 1;
			stack[len++] = next[i];
		}
	}
	return false;
}

static void trace_edge(struct needs *n, const struct function *f, uint32_t pc, uint32_t to,
		       const struct context *context)
{
	const struct op *o = &f->ops[pc];
	static const uint16_t codes[] = {
		[OP_BREQ - OP_BR] = OP_EQ,     [OP_BRNE - OP_BR] = OP_NE,
		[OP_BRULT - OP_BR] = OP_ULT,   [OP_BRULE - OP_BR] = OP_ULE,
		[OP_BRSLT64 - OP_BR] = OP_SLT, [OP_BRSLE64 - OP_BR] = OP_SLE,
		[OP_BRSLT32 - OP_BR] = OP_SLT, [OP_BRSLE32 - OP_BR] = OP_SLE,
		[OP_BRSLTN - OP_BR] = OP_SLT,  [OP_BRSLEN - OP_BR] = OP_SLE,
	};

	if (o->code == OP_BR) {
		trace(n, f, o->a, *boolean(to == (uint32_t)o->imm), context);
	} else if (o->code == OP_SWITCH) {
		const struct switch_table *t = &n->ir->tables.data[o->imm];
		uint32_t found = UINT32_MAX;

		for (uint32_t i = 0; i <= t->n; i++)
			if (t->targets[i] == to) {
				if (found != UINT32_MAX || i == t->n)
					return; /* several values lead there */
				found = i;
			}
		if (found != UINT32_MAX)
			trace(n, f, o->a,
			      (struct want){ OP_EQ, o->w, false, true, UINT64_MAX,
					     t->values[found] },
			      context);
	} else {
		uint8_t w = o->code == OP_BRSLT64 || o->code == OP_BRSLE64   ? 64
			    : o->code == OP_BRSLT32 || o->code == OP_BRSLE32 ? 32
									     : o->w;

		trace_comparison(n, f, codes[o->code - OP_BR], w, o->a, o->b,
				 to == (uint32_t)o->imm, context);
	}
}

static void add_edges(struct needs *n, const struct function *f, const uint8_t *sites,
		      const struct context *context)
{
	uint32_t *stack = xcalloc(f->nops + 1, sizeof(*stack)), next[SUCCESSORS], branches = 0;
	uint8_t *seen = xcalloc(f->nops + 1, 1);
	VEC(struct edge) found = { 0 };

	for (uint32_t pc = 0; pc < f->nops; pc++)
		branches += op_successors(n->ir, f, pc, next, SUCCESSORS) > 1;
	for (uint32_t pc = 0; (uint64_t)branches * f->nops < EDGE_WORK && pc < f->nops; pc++) {
		uint32_t count = op_successors(n->ir, f, pc, next, SUCCESSORS);

		for (uint32_t i = 0; count > 1 && count < SUCCESSORS && i < count; i++)
			if (!reaches(n, f, sites, pc, next[i], stack, seen))
				vec_push(&found, ((struct edge){ pc, next[i] }));
	}
	free(stack);
	free(seen);
	n->depth++;
	for (size_t i = 0; i < found.len && n->depth < DEPTH_MOST; i++)
		trace_edge(n, f, found.data[i].from, found.data[i].to, context);
	n->depth--;
	vec_deinit(&found);
}

/* ---- the whole ---- */

void needs_init(struct needs *n, struct ir *ir)
{
	*n = (struct needs){ .ir = ir };
	aliases_init(&n->aliases, ir);
}

void needs_deinit(struct needs *n)
{
	for (size_t i = 0; i < n->all.len; i++)
		need_deinit(&n->all.data[i]);
	vec_deinit(&n->all);
	map_deinit(&n->led);
	nulls_deinit(&n->nulls);
	aliases_deinit(&n->aliases);
}

/* An optimiser moves a load through a pointer from a function to its callers: a call on the goal's line may be
 * what failed, by a parameter that it follows. */
static void needs_of_callee(struct needs *n, const struct function *f, uint32_t pc,
			    const struct context *context)
{
	const struct function *g = n->ir->functions.data[f->ops[pc].b];
	struct context inner = { f, pc, context };

	if (!g->lowered || g->is_model)
		return;
	add_edges_to(n, f, pc, context);
	for (uint32_t i = 0; i < g->nops && g->nops <= SMALL; i++)
		if (g->ops[i].code >= OP_LOAD8 && g->ops[i].code <= OP_LOADX64)
			trace(n, g, g->ops[i].a, near_null_want, &inner);
}

/* The pointer that a library function was given was null: of the arguments those to which a null may come. */
static void needs_of_library(struct needs *n, const struct function *f, uint32_t pc,
			     const struct context *context)
{
	const struct op *o = &f->ops[pc];
	bool block = o->code >= OP_MEMCPY && o->code <= OP_MEMSET;
	uint32_t count = block ? 2 : (uint32_t)(o->imm >> 32);

	for (uint32_t i = 0; i < count; i++) {
		int32_t arg = block ? (i ? o->a : o->d) : n->ir->args.data[(uint32_t)o->imm + i];

		if (nulls_value(known_nulls(n), f, arg))
			trace(n, f, arg, near_null_want, context);
	}
}

static bool is_library_call(const struct needs *n, const struct op *o)
{
	const struct function *g = o->code == OP_CALL ? n->ir->functions.data[o->b] : NULL;

	return (o->code >= OP_MEMCPY && o->code <= OP_MEMSET) || o->code == OP_BUILTIN ||
	       (g && (g->is_model || g->declared_only));
}

static void needs_of_stop(struct needs *n, const struct reach *r, uint32_t stop, bool near_null,
			  const struct context *context, unsigned depth)
{
	const struct reach_stop *s = &r->stops.data[stop];
	const struct function *f = n->ir->functions.data[s->function];
	uint8_t *sites = xcalloc(f->nops + 1, 1);

	for (uint32_t pc = 0; pc < f->nops; pc++)
		sites[pc] = s->here[pc] || (s->next[pc] && r->stops.data[s->next[pc] - 1].possible);
	add_edges(n, f, sites, context);
	for (uint32_t pc = 0; pc < f->nops; pc++) {
		const struct op *o = &f->ops[pc];
		struct context inner = { f, pc, context };

		if (s->here[pc] && near_null && o->code >= OP_LOAD8 && o->code <= OP_STOREX64)
			trace(n, f, o->a, near_null_want, context);
		if (s->here[pc] && near_null && o->code == OP_CALL)
			needs_of_callee(n, f, pc, context);
		if (s->here[pc] && near_null && is_library_call(n, o))
			needs_of_library(n, f, pc, context);
		if (s->next[pc] && r->stops.data[s->next[pc] - 1].possible && depth < 64)
			needs_of_stop(n, r, s->next[pc] - 1, near_null, &inner, depth + 1);
	}
	free(sites);
}

void needs_of_goal(struct needs *n, const struct reach *r, bool near_null)
{
	if (r->stops.len)
		needs_of_stop(n, r, 0, near_null, NULL, 0);
}

/* From number `from` on: without what is met at first, or local. */
static void keep_unmet(struct needs *n, size_t from)
{
	size_t kept = from;

	for (size_t i = from; i < n->all.len; i++) {
		struct need *need = &n->all.data[i];

		if (need->local || want_is_met(&need->want, 0) || is_met_at_first(n, need))
			need_deinit(need);
		else
			n->all.data[kept++] = *need;
	}
	n->all.len = kept;
}

void needs_of_all(struct needs *n)
{
	for (uint32_t i = 0; i < n->ir->functions.len; i++) {
		const struct function *f = n->ir->functions.data[i];

		for (uint32_t pc = 0; f->lowered && !f->is_model && pc < f->nops; pc++) {
			uint32_t next[SUCCESSORS], count;
			size_t had = n->all.len;

			count = op_successors(n->ir, f, pc, next, SUCCESSORS);
			n->depth = DEPTH_MOST - 3; /* this value, and not what it comes from */
			for (uint32_t k = 0; count > 1 && count < SUCCESSORS && k < count; k++)
				trace_edge(n, f, pc, next[k], NULL);
			n->depth = 0;
			keep_unmet(n, had);
		}
	}
}
