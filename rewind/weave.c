/* rewind/weave.c - see weave.h.
 *
 * A place is a cell of at most 64 bits. An access to part of it reads all of it, or reads and writes it in one
 * step; so does a write that happens only under a condition. The first thread of the model is what came
 * before: it writes the values that are not known (inputs), then starts the others. The last one
 * joins them all and reads what the memory behind them must be. */
#include "rewind/weave.h"

#include "base/err.h"
#include "base/mem.h"
#include "debug/dump.h"
#include "solve/load-expr.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEAR = 256 };

struct weaver {
	const struct weave_input *in;
	const struct weave_question *q;
	struct weave *w;
	struct order_model *m;
	struct terms *x;
	struct expr_terms convert;
	struct map mutexes; /* address -> object */
	struct map guards;  /* event of the model -> term of its guard + 1 */
	uint32_t first, last, *threads;
	uint32_t no_between; /* the mutex that keeps others out; 0 = none yet */
	uint32_t edges[2];   /* the semaphore of each edge; 0 = none yet */
};

static term_id fail(struct weaver *v, const char *why)
{
	if (!v->w->problem)
		v->w->problem = why;
	return term_const(v->x, 1, 0);
}

/* ---- expressions become terms ---- */

static void bind(struct weaver *v, uint64_t symbol, term_id term)
{
	map_put(&v->w->symbols, symbol, term);
	expr_terms_bind(&v->convert, (uint32_t)symbol, term);
}

/* Symbols that no thread read are inputs. The hint is nonzero and differs from others: most are addresses. */
static term_id term_of(struct weaver *v, expr_id e)
{
	struct exprs *ex = &v->in->h->exprs;
	const uint32_t *set = expr_symbols(ex, e);
	term_id t;

	for (uint32_t i = 1; i <= set[0]; i++) {
		unsigned w = ex->symbols.data[set[i]].w;

		if (!map_find(&v->w->symbols, set[i]))
			bind(v, set[i],
			     order_input(v->m, w,
					 ((uint64_t)set[i] << 12 | 0x100000000000) & mask_of(w)));
	}
	t = expr_term(&v->convert, e);
	if (t == TERM_NONE)
		return fail(v, "floating point, or a table read at an unknown place");
	return t;
}

/* ---- places ---- */

struct extent {
	uint64_t low, high;
};

static int by_low(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low ? 1 : 0;
}

static void find_units(struct weaver *v)
{
	VEC(struct extent) all = { 0 };
	const struct weave_question *q = v->q;

	for (uint32_t i = 0; i < v->in->n; i++)
		for (size_t k = 0; k < v->in->tracks[i]->events.len; k++) {
			const struct ahead_event *e = &v->in->tracks[i]->events.data[k];

			if (e->kind <= AHEAD_WRITE && !e->future)
				vec_push(&all,
					 ((struct extent){ e->address, e->address + e->w / 8 }));
		}
	if (q->bad_at)
		vec_push(&all, ((struct extent){ q->bad_at, q->bad_at + q->bad_w / 8 }));
	vec_sort(&all, by_low);
	for (size_t i = 0; i < all.len;) {
		struct extent u = all.data[i];
		char name[24];

		for (i++; i < all.len && all.data[i].low < u.high; i++)
			u.high = MAX(u.high, all.data[i].high);
		if (u.high - u.low > 8)
			fail(v, "accesses of different sizes that overlap");
		snprintf(name, sizeof(name), "%llx", (unsigned long long)u.low);
		vec_push(&v->w->units,
			 ((struct unit){ .address = u.low,
					 .bytes = (uint8_t)MIN(u.high - u.low, 8u),
					 .cell = order_object(
						 v->m, ORDER_OBJECT_CELL, name,
						 (unsigned)MIN(8 * (u.high - u.low), 64u), 0) }));
	}
	vec_deinit(&all);
}

static uint32_t unit_of(struct weaver *v, uint64_t address)
{
	uint32_t i = (uint32_t)vec_upper(&v->w->units, address, address);

	assert(i);
	return i - 1;
}

static void remember(struct weaver *v, uint32_t event, uint32_t track, uint32_t index,
		     uint32_t unit)
{
	while (v->w->woven.len <= event)
		vec_push(&v->w->woven, ((struct woven){ UINT32_MAX, 0, 0 }));
	v->w->woven.data[event] = (struct woven){ track, index, unit };
}

/* ---- before and behind ---- */

static expr_id known_part(struct weaver *v, const struct past *p, const struct unit *u)
{
	return past_simplify(v->in->h, v->in->knows,
			     past_load(v->in->h, p, u->address, 8u * u->bytes));
}

static void write_beginning(struct weaver *v)
{
	for (size_t i = 0; i < v->w->units.len; i++) {
		const struct unit *u = &v->w->units.data[i];
		term_id value = v->in->begin ? term_of(v, known_part(v, v->in->begin, u))
					     : order_input(v->m, 8u * u->bytes, 0);

		if (term_get(v->x, value)->op == TERM_CONST)
			v->m->objects.data[u->cell].initial = term_get(v->x, value)->value;
		else
			order_write(v->m, v->first, u->cell, value);
	}
}

static term_id outside(struct weaver *v, term_id address, uint64_t low, uint64_t size)
{
	return term_not(v->x,
			term_binary(v->x, TERM_ULT,
				    term_binary(v->x, TERM_SUB, address, term_const(v->x, 64, low)),
				    term_const(v->x, 64, size)));
}

/* Is there memory at this address that allows the access? */
static term_id is_usable(struct weaver *v, term_id address, uint32_t permission)
{
	const struct dump *d = v->in->h->dump;
	term_id t = term_const(v->x, 1, 0);

	for (size_t i = 0; i < d->segments.len; i++) {
		uint64_t low = d->segments.data[i].address, high = low + d->segments.data[i].size;

		if (!(d->segments.data[i].flags & permission))
			continue;
		for (; i + 1 < d->segments.len && d->segments.data[i + 1].address == high &&
		       d->segments.data[i + 1].flags & permission;
		     i++)
			high += d->segments.data[i + 1].size;
		t = term_binary(v->x, TERM_OR, t,
				term_not(v->x, outside(v, address, low, high - low)));
	}
	return t;
}

/* No stack, and no variables of a module. */
static bool can_hold_blocks(const struct weaver *v, const struct dump_segment *s)
{
	const struct history *h = v->in->h;

	if (dump_module_at(h->dump, s->address))
		return false;
	for (size_t i = 0; i < h->threads.len; i++)
		if (h->threads.entries[i].key - s->address < s->size)
			return false;
	for (size_t i = 0; i < h->dump->threads.len; i++)
		if (h->dump->threads.data[i].registers.rsp - s->address < s->size)
			return false;
	return true;
}

/* A block that malloc gave; near no place that is shared. */
static term_id is_block(struct weaver *v, term_id block)
{
	const struct dump *d = v->in->h->dump;
	const struct unit *u = v->w->units.data;
	term_id t = is_usable(v, block, PF_W);

	for (size_t i = 0; i < d->segments.len; i++)
		if (d->segments.data[i].flags & PF_W && !can_hold_blocks(v, &d->segments.data[i]))
			t = term_binary(v->x, TERM_AND, t,
					outside(v, block, d->segments.data[i].address,
						d->segments.data[i].size));
	for (size_t i = 0, k; i < v->w->units.len; i = k) {
		uint64_t low = u[i].address;

		for (k = i + 1; k < v->w->units.len && u[k].address - u[k - 1].address < NEAR;)
			k++;
		t = term_binary(v->x, TERM_AND, t,
				outside(v, block, low - NEAR, u[k - 1].address - low + 2 * NEAR));
	}
	return t;
}

static void ask_bad(struct weaver *v)
{
	const struct weave_question *q = v->q;
	const struct unit *u;
	uint32_t r;
	term_id t;

	if (q->bad) {
		t = term_of(v, q->bad);
	} else {
		u = &v->w->units.data[unit_of(v, q->bad_at)];
		r = order_event(v->m, v->last, ORDER_READ, u->cell);
		remember(v, r, UINT32_MAX, 0, 0);
		t = term_extract(v->x, order_value(v->m, r),
				 (unsigned)(8 * (q->bad_at - u->address)), q->bad_w);
	}
	t = term_zext(v->x, t, 64);
	if (!q->permission) {
		order_condition(v->m,
				term_binary(v->x, TERM_EQ, t, term_const(v->x, 64, q->value)));
		return;
	}
	t = term_binary(v->x, TERM_ADD, t, term_const(v->x, 64, q->offset));
	order_condition(v->m, term_not(v->x, is_usable(v, t, q->permission)));
}

/* Each byte that is known behind the threads. */
static void read_end(struct weaver *v)
{
	struct exprs *ex = &v->in->h->exprs;

	for (size_t i = 0; i < v->w->units.len; i++) {
		const struct unit *u = &v->w->units.data[i];
		expr_id end = known_part(v, v->in->end, u);
		uint32_t r = order_event(v->m, v->last, ORDER_READ, u->cell);

		remember(v, r, UINT32_MAX, 0, 0);
		if (expr_is_const(ex, end)) {
			order_condition(v->m, term_binary(v->x, TERM_EQ, order_value(v->m, r),
							  term_of(v, end)));
			continue;
		}
		for (unsigned k = 0; k < u->bytes; k++) {
			expr_id byte = expr_extract(ex, end, 8 * k, 8);

			if (expr_is_const(ex, byte))
				order_condition(v->m,
						term_binary(v->x, TERM_EQ,
							    term_extract(v->x, order_value(v->m, r),
									 8 * k, 8),
							    term_of(v, byte)));
		}
	}
}

/* ---- tracks ---- */

static uint32_t mutex_of(struct weaver *v, uint64_t address)
{
	uint64_t *known = map_find(&v->mutexes, address);

	if (!known)
		known = map_put(&v->mutexes, address,
				order_object(v->m, ORDER_OBJECT_MUTEX, "mutex", 0, 0));
	return (uint32_t)*known;
}

/* The part of a place that an access sees, put into the place's old value. */
static term_id inserted(struct weaver *v, term_id old, const struct unit *u,
			const struct ahead_event *e, term_id value)
{
	unsigned low = (unsigned)(8 * (e->address - u->address)), w = 8u * u->bytes;
	uint64_t mask = term_mask(e->w) << low;

	if (e->w == w)
		return value;
	value = term_binary(v->x, TERM_SHL, term_zext(v->x, value, w), term_const(v->x, w, low));
	old = term_binary(v->x, TERM_AND, old, term_const(v->x, w, ~mask & term_mask(w)));
	return term_binary(v->x, TERM_OR, old, value);
}

static void add_read(struct weaver *v, uint32_t track, uint32_t index, const struct ahead_event *e)
{
	uint32_t u = unit_of(v, e->address), r;
	const struct unit *unit = &v->w->units.data[u];

	r = order_event(v->m, v->threads[track], ORDER_READ, unit->cell);
	remember(v, r, track, index, u);
	bind(v, expr_get(&v->in->h->exprs, e->value)->imm,
	     term_extract(v->x, order_value(v->m, r), (unsigned)(8 * (e->address - unit->address)),
			  e->w));
	if (e->guard)
		map_put(&v->guards, r, term_of(v, e->guard) + 1u);
}

static void add_write(struct weaver *v, uint32_t track, uint32_t index, const struct ahead_event *e)
{
	uint32_t u = unit_of(v, e->address), r;
	const struct unit *unit = &v->w->units.data[u];
	term_id value = term_of(v, e->value), old;

	if (!e->guard && e->w == 8u * unit->bytes) {
		r = order_write(v->m, v->threads[track], unit->cell, value);
		remember(v, r, track, index, u);
		return;
	}
	r = order_event(v->m, v->threads[track], ORDER_RMW, unit->cell);
	remember(v, r, track, index, u);
	old = order_value(v->m, r);
	value = inserted(v, old, unit, e, value);
	if (e->guard) {
		term_id guard = term_of(v, e->guard);

		map_put(&v->guards, r, guard + 1u);
		value = term_ite(v->x, guard, value, old);
	}
	v->m->events.data[r].value = value;
}

/* A locked instruction: its read and its write are one step. */
static void add_both(struct weaver *v, uint32_t track, uint32_t index,
		     const struct ahead_event *read, const struct ahead_event *write)
{
	uint32_t u = unit_of(v, read->address), r;
	const struct unit *unit = &v->w->units.data[u];

	r = order_event(v->m, v->threads[track], ORDER_RMW, unit->cell);
	remember(v, r, track, index, u);
	bind(v, expr_get(&v->in->h->exprs, read->value)->imm,
	     term_extract(v->x, order_value(v->m, r),
			  (unsigned)(8 * (read->address - unit->address)), read->w));
	v->m->events.data[r].value =
		inserted(v, order_value(v->m, r), unit, write, term_of(v, write->value));
}

static bool concerns(const struct weaver *v, const struct ahead_event *e)
{
	if (v->q->every_place)
		return true;
	for (unsigned i = 0; i < 2; i++)
		if (v->q->places[i] && v->q->places[i] >= e->address &&
		    v->q->places[i] < e->address + MAX(e->w / 8u, 1u))
			return true;
	return false;
}

/* Does the thread come from event i, at q->first, to q->last? Else nothing is to be kept together. */
static bool comes_to_last(const struct weaver *v, const struct track *t, size_t i)
{
	if (!v->q->last)
		return true;
	if (v->q->first == v->q->last)
		return true;
	for (i++; i < t->events.len && !t->events.data[i].future; i++) {
		if (t->events.data[i].insn == v->q->last)
			return true;
		if (t->events.data[i].insn == v->q->first)
			return false;
	}
	return false;
}

/* Keep others out from q->first to q->last; at other accesses to the same places, for that access. */
static void keep_out(struct weaver *v, uint32_t thread, const struct ahead_event *e, bool *inside,
		     bool before)
{
	const struct weave_question *q = v->q;

	if (!q->first || e->kind > AHEAD_WRITE)
		return;
	if (!v->no_between)
		v->no_between = order_object(v->m, ORDER_OBJECT_MUTEX, "alone", 0, 0);
	if (before && e->insn == q->first && *inside && q->last) {
		order_event(v->m, thread, ORDER_UNLOCK, v->no_between);
		*inside = false;
	}
	if (before && !*inside && (e->insn == q->first || concerns(v, e))) {
		order_event(v->m, thread, ORDER_LOCK, v->no_between);
		*inside = true;
	} else if (!before && *inside && q->last && e->insn == q->last) {
		order_event(v->m, thread, ORDER_UNLOCK, v->no_between);
		*inside = false;
	}
}

/* Is the event the last one of its instruction? Its guards then are all there. */
static bool ends_insn(const struct track *t, size_t i)
{
	return i + 1 == t->events.len || t->events.data[i + 1].insn != t->events.data[i].insn ||
	       t->events.data[i + 1].step != t->events.data[i].step || t->events.data[i + 1].future;
}

/* Behind the first event of an edge a semaphore is posted, before the second one it is waited for. */
static void add_edges(struct weaver *v, uint32_t track, uint32_t event, bool before)
{
	for (uint32_t i = 0; i < v->q->nedges; i++) {
		const struct weave_edge *e = &v->q->edges[i];

		if (!v->edges[i])
			v->edges[i] = order_object(v->m, ORDER_OBJECT_SEM, "first", 0, 0);
		if (before && e->to_track == track && e->to_event == event)
			order_event(v->m, v->threads[track], ORDER_SEM_WAIT, v->edges[i]);
		else if (!before && e->track == track && e->event == event)
			order_event(v->m, v->threads[track], ORDER_SEM_POST, v->edges[i]);
	}
}

/* A thread that gives back a lock which it took before its first event: not followed. */
static void add_sync(struct weaver *v, uint32_t track, const struct ahead_event *e)
{
	static const uint8_t kinds[] = { [AHEAD_LOCK] = ORDER_LOCK,
					 [AHEAD_UNLOCK] = ORDER_UNLOCK,
					 [AHEAD_FORK] = ORDER_FORK,
					 [AHEAD_JOIN] = ORDER_JOIN };
	bool is_lock = e->kind == AHEAD_LOCK || e->kind == AHEAD_UNLOCK;

	order_event(v->m, v->threads[track], (enum order_kind)kinds[e->kind],
		    is_lock ? mutex_of(v, e->address) : v->threads[e->address]);
}

static void add_track(struct weaver *v, uint32_t n)
{
	const struct track *t = v->in->tracks[n];
	uint32_t thread = v->threads[n];
	bool inside = false, alone = false;

	order_event(v->m, thread, ORDER_START, ORDER_NONE);
	for (uint32_t i = 0; i < t->events.len && !t->events.data[i].future; i++) {
		const struct ahead_event *e = &t->events.data[i], *next = e + 1;
		uint32_t first = i;

		add_edges(v, n, i, true);
		if (!inside) {
			keep_out(v, thread, e, &inside, true);
			alone = inside && (e->insn != v->q->first || !comes_to_last(v, t, i) ||
					   (v->q->only && v->q->only != n + 1));
		} else if (!alone) {
			keep_out(v, thread, e, &inside, true);
		}
		if (e->kind > AHEAD_WRITE)
			add_sync(v, n, e);
		else if (e->kind == AHEAD_READ && i + 1 < t->events.len && next->atomic &&
			 next->address == e->address && next->w == e->w)
			add_both(v, n, i++, e, next);
		else if (e->kind == AHEAD_READ)
			add_read(v, n, i, e);
		else
			add_write(v, n, i, e);
		e = &t->events.data[i];
		for (; first <= i; first++)
			add_edges(v, n, first, false);
		if (!ends_insn(t, i))
			continue;
		if (alone && inside) {
			order_event(v->m, thread, ORDER_UNLOCK, v->no_between);
			inside = alone = false;
		} else {
			keep_out(v, thread, e, &inside, false);
		}
	}
	order_event(v->m, thread, ORDER_EXIT, ORDER_NONE);
}

static void add_conditions(struct weaver *v, const struct track *t)
{
	size_t n = v->q->dump ? t->conditions.len : t->decided;

	for (size_t i = 0; i < n; i++)
		order_condition(v->m, term_of(v, t->conditions.data[i].bit));
}

/* malloc gives memory, and no block twice, as far as we see none is freed. */
static void add_blocks(struct weaver *v)
{
	VEC(term_id) all = { 0 };

	for (uint32_t i = 0; i < v->in->n; i++)
		for (size_t k = 0; k < v->in->tracks[i]->blocks.len; k++)
			vec_push(&all, term_of(v, v->in->tracks[i]->blocks.data[k]));
	for (size_t i = 0; i < all.len; i++)
		order_condition(v->m, is_block(v, all.data[i]));
	for (size_t i = 0; i < all.len; i++)
		for (size_t k = 0; k < i; k++)
			order_condition(v->m, term_binary(v->x, TERM_NE, all.data[i], all.data[k]));
	vec_deinit(&all);
}

/* Does a track begin this thread? */
static bool is_begun(const struct weaver *v, uint32_t thread)
{
	for (uint32_t i = 0; i < v->in->n; i++)
		for (size_t k = 0; k < v->in->tracks[i]->events.len; k++) {
			const struct ahead_event *e = &v->in->tracks[i]->events.data[k];

			if (e->kind == AHEAD_FORK && e->address == thread && !e->future)
				return true;
		}
	return false;
}

/* ---- all of it ---- */

static void build(struct weaver *v)
{
	char name[16];

	find_units(v);
	if (v->w->problem) /* what follows relies on units that fit */
		return;
	v->first = order_thread(v->m, "before");
	for (uint32_t i = 0; i < v->in->n; i++) {
		snprintf(name, sizeof(name), "%u", i + 1);
		v->threads[i] = order_thread(v->m, name);
	}
	v->last = order_thread(v->m, "behind");
	write_beginning(v);
	for (uint32_t i = 0; i < v->in->n; i++)
		if (!is_begun(v, i))
			order_event(v->m, v->first, ORDER_FORK, v->threads[i]);
	for (uint32_t i = 0; i < v->in->n; i++)
		add_track(v, i);
	for (uint32_t i = 0; i < v->in->n; i++)
		order_event(v->m, v->last, ORDER_JOIN, v->threads[i]);
	for (uint32_t i = 0; i < v->in->n; i++)
		add_conditions(v, v->in->tracks[i]);
	add_blocks(v);
	if (v->q->dump)
		read_end(v);
	if (v->q->bad || v->q->bad_at)
		ask_bad(v);
}

struct err *weave_solve(const struct weave_input *in, const struct weave_question *q,
			double seconds, struct weave *ret)
{
	struct order_budget budget = { .seconds = seconds, .seed = 1 };
	struct weaver v = { .in = in, .q = q, .w = ret };
	struct err *err = NULL;

	*ret = (struct weave){ .m = order_model_new() };
	v.m = ret->m;
	v.x = &v.m->terms;
	v.convert = (struct expr_terms){ .exprs = &in->h->exprs, .ts = v.x };
	v.threads = xcalloc(in->n + 1u, sizeof(*v.threads));
	build(&v);
	for (size_t i = 0; i < v.guards.len; i++) /* kept with the model, for weave_happens() */
		v.m->events.data[v.guards.entries[i].key].site = v.guards.entries[i].value;
	while (ret->woven.len < v.m->events.len)
		vec_push(&ret->woven, ((struct woven){ UINT32_MAX, 0, 0 }));
	if (!ret->problem)
		err = order_solve(v.m, ORDER_ANY, &budget, &ret->answer);
	expr_terms_deinit(&v.convert);
	map_deinit(&v.mutexes);
	map_deinit(&v.guards);
	free(v.threads);
	return err;
}

void weave_deinit(struct weave *w)
{
	if (w->m)
		order_model_free(w->m);
	order_answer_deinit(&w->answer);
	vec_deinit(&w->units);
	vec_deinit(&w->woven);
	map_deinit(&w->symbols);
	*w = (struct weave){ 0 };
}

bool weave_happens(const struct weave *w, uint32_t event)
{
	uint64_t guard = w->m->events.data[event].site;

	return !guard || term_eval(&w->m->terms, (term_id)(guard - 1), w->answer.values);
}
