/* order/reach/reach.c - questions about prefixes, put to the solver for whole runs.
 *
 * Each question is asked of a guarded copy (guard.h). Locks and signals are left real first: such
 * copies are solved quickly, and what is found is a prefix. A "no" holds only if the rest of every
 * prefix could be completed with real locks and signals. Where nested locks, failed attempts to lock
 * or waits for signals cast doubt on that, the question is asked again with these guarded. The last
 * form asked is an over-approximation, so its "no" is a proof; its "yes" goes to the referee, and
 * what the referee rejects is unknown. What no value that anybody writes can make true (values.h) is
 * not asked at all. */
#include "order/reach/guard.h"

#include "base/err.h"
#include "base/log.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "order/model/eval.h"
#include "order/reach/values.h"

#include <stdlib.h>

struct order_reach {
	struct guard_input in;
	struct reach_values *values;
	bool has_waits;	 /* for condition variables */
	bool has_nested; /* locks inside others, or attempts that failed */
};

void order_reached_deinit(struct order_reached *a)
{
	free(a->order);
	*a = (struct order_reached){ 0 };
}

/* ---- opening ---- */

struct place_key {
	struct order_place at;
	uint32_t condition;
};

static int by_place(const void *a, const void *b)
{
	const struct place_key *x = a, *y = b;

	if (x->at.thread != y->at.thread)
		return x->at.thread < y->at.thread ? -1 : 1;
	if (x->at.index != y->at.index)
		return x->at.index < y->at.index ? -1 : 1;
	if (x->at.nth != y->at.nth)
		return x->at.nth < y->at.nth ? -1 : 1;
	return x->condition < y->condition ? -1 : x->condition > y->condition;
}

static void sort_conditions(struct order_reach *r, const struct order_model *m)
{
	VEC(struct place_key) keys = { 0 };
	uint32_t *sorted = xcalloc(m->conditions.len + 1, sizeof(*sorted));

	for (uint32_t i = 0; i < m->conditions.len; i++)
		if (m->places.data[i].thread != ORDER_NONE)
			vec_push(&keys, ((struct place_key){ m->places.data[i], i }));
	vec_sort(&keys, by_place);
	for (size_t i = 0; i < keys.len; i++)
		sorted[i] = keys.data[i].condition;
	r->in = (struct guard_input){ m, sorted, keys.len };
	vec_deinit(&keys);
}

static void look_at_events(struct order_reach *r, const struct order_model *m)
{
	for (size_t t = 0; t < m->threads.len; t++) {
		int held = 0;

		for (size_t i = 0; i < m->threads.data[t].len; i++) {
			const struct order_event *e = &m->events.data[m->threads.data[t].data[i]];
			uint32_t lock;
			int effect = order_lock_effect(e, &lock);

			r->has_waits |= e->kind == ORDER_WAKE;
			r->has_nested |= (effect > 0 && held > 0) || e->kind == ORDER_LOCK_FAILED ||
					 e->kind == ORDER_RDLOCK_FAILED ||
					 e->kind == ORDER_WRLOCK_FAILED;
			held += effect;
		}
		r->has_nested |= held > 0; /* nobody else gets what it holds at its end */
	}
}

struct order_reach *order_reach_open(const struct order_model *m)
{
	struct order_reach *r = xcalloc(1, sizeof(*r));

	sort_conditions(r, m);
	look_at_events(r, m);
	r->values = reach_values_new(m);
	return r;
}

void order_reach_close(struct order_reach *r)
{
	if (!r)
		return;
	free((uint32_t *)r->in.sorted);
	reach_values_free(r->values);
	free(r);
}

/* ---- asking ---- */

/* The events of the original up to the moment. */
static void take_prefix(const struct guarded *g, const struct order_answer *a,
			struct order_reached *ret)
{
	size_t marks = 0;

	ret->order = xcalloc(a->len + 1, sizeof(*ret->order));
	ret->len = 0;
	for (size_t i = 0; i < a->len && marks < g->marks.len; i++) {
		uint32_t e = a->order[i];

		if (g->old.data[e] != ORDER_NONE)
			ret->order[ret->len++] = g->old.data[e];
		for (size_t k = 0; k < g->marks.len; k++)
			marks += g->marks.data[k] == e;
	}
}

/* Are the goals reached, and does the condition hold? inputs: what the solver took free inputs to be,
 * by symbol. */
static bool is_there(const struct order_reach *r, const struct order_question *q,
		     const struct order_reached *a, const uint64_t *inputs)
{
	const struct order_model *m = r->in.m;
	uint64_t *values = xcalloc(m->symbols.len + 1, sizeof(*values)), v = 1;
	uint32_t *done = xcalloc(m->threads.len + 1, sizeof(*done));
	struct eval ev;
	bool ok;

	for (size_t i = 0; i < m->symbols.len; i++)
		values[i] = inputs && m->symbols.data[i].event == ORDER_NONE
				    ? inputs[i]
				    : m->symbols.data[i].hint;
	ok = order_validate_prefix(m, a->order, a->len, values, NULL);
	eval_init(&ev, &m->terms, m->symbols.len);
	for (uint32_t i = 0; i < m->symbols.len; i++)
		if (m->symbols.data[i].event == ORDER_NONE)
			eval_set(&ev, i, values[i]);
	for (size_t i = 0; i < a->len; i++) {
		const struct order_event *e = &m->events.data[a->order[i]];

		done[e->thread]++;
		if (e->symbol != ORDER_NONE)
			eval_set(&ev, e->symbol, values[e->symbol]);
	}
	for (size_t i = 0; i < q->n && ok; i++) {
		const struct order_goal *g = &q->goals[i];

		ok = g->passes ? done[g->thread] >= g->index : done[g->thread] == g->index;
		for (size_t c = 0; c < r->in.nsorted && ok && !g->passes; c++) {
			const struct order_place *p = &m->places.data[r->in.sorted[c]];

			if (p->thread == g->thread && p->index == g->index && p->nth < g->nth)
				ok = eval_get(&ev, m->conditions.data[r->in.sorted[c]], &v) && v;
		}
	}
	if (ok && q->condition != TERM_NONE)
		ok = eval_get(&ev, q->condition, &v) && v;
	eval_deinit(&ev);
	free(values);
	free(done);
	return ok;
}

static struct err *ask_form(struct order_reach *r, const struct order_question *q,
			    enum guard_form form, const struct order_budget *budget,
			    struct order_reached *ret)
{
	struct order_answer a = { 0 };
	struct guarded g;
	struct err *err;

	guard_model(&r->in, q, form, &g);
	if (g.impossible)
		a.status = ORDER_UNSAT;
	err = g.impossible ? NULL : order_solve(g.m, ORDER_ANY, budget, &a);
	ret->status = a.status;
	ret->stats = a.stats;
	if (!err && a.status == ORDER_SAT) {
		take_prefix(&g, &a, ret);
		if (!is_there(r, q, ret, a.values)) {
			assert(form != GUARD_REAL);
			order_reached_deinit(ret);
			ret->status = ORDER_UNKNOWN;
		}
	}
	order_answer_deinit(&a);
	guarded_deinit(&g);
	return err;
}

/* A mark between a wait and its wake: the model has no room for one there. */
static bool marks_a_wait(const struct order_reach *r, const struct order_question *q)
{
	const struct order_model *m = r->in.m;

	for (size_t i = 0; i < q->n; i++) {
		const struct order_thread *t = &m->threads.data[q->goals[i].thread];
		uint32_t next = q->goals[i].index;

		if (q->goals[i].passes && next < t->len &&
		    (m->events.data[t->data[next]].kind == ORDER_WAKE ||
		     m->events.data[t->data[next]].kind == ORDER_WAKE_TIMEOUT))
			return true;
	}
	return false;
}

/* The forms share the time. */
static struct err *ask_next(struct order_reach *r, const struct order_question *q,
			    enum guard_form form, const struct order_budget *budget, double end,
			    struct order_reached *ret)
{
	struct order_budget left = *budget;

	if (budget->seconds > 0) {
		left.seconds = end - clock_seconds();
		if (left.seconds <= 0) {
			ret->status = ORDER_UNKNOWN;
			return NULL;
		}
	}
	return ask_form(r, q, form, &left, ret);
}

struct err *order_reach_ask(struct order_reach *r, const struct order_question *q,
			    const struct order_budget *budget, struct order_reached *ret)
{
	double end = clock_seconds() + budget->seconds;
	bool real = !marks_a_wait(r, q);
	struct err *err;

	*ret = (struct order_reached){ .status = ORDER_UNSAT, .stats.how = "values" };
	if (q->condition != TERM_NONE && !reach_values_allow(r->values, q->condition))
		return NULL;
	err = real ? ask_form(r, q, GUARD_REAL, budget, ret) : NULL;
	if (!err && ret->status == ORDER_UNSAT && (r->has_waits || !real))
		err = ask_next(r, q, GUARD_SIGNALS, budget, end, ret);
	if (!err && ret->status == ORDER_UNSAT && r->has_nested)
		err = ask_next(r, q, GUARD_ALL, budget, end, ret);
	return err;
}

/* ---- blame ---- */

struct blamer {
	const struct order_model *m;
	struct map terms, cells;
	struct order_cells todo;
};

static void blame_term(struct blamer *b, term_id id)
{
	const struct term *t = term_get(&b->m->terms, id);
	const term_id operand[] = { t->a, t->b, t->c };
	uint32_t read;

	if (map_find(&b->terms, id))
		return;
	map_put(&b->terms, id, 1);
	for (unsigned i = 0; i < term_arity(t); i++)
		blame_term(b, operand[i]);
	if (t->op != TERM_SYMBOL)
		return;
	read = b->m->symbols.data[t->value].event;
	if (read == ORDER_NONE || map_find(&b->cells, b->m->events.data[read].object))
		return;
	map_put(&b->cells, b->m->events.data[read].object, 1);
	vec_push(&b->todo, b->m->events.data[read].object);
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void order_reach_blame(const struct order_model *m, term_id term, struct order_cells *ret)
{
	struct blamer b = { .m = m };

	blame_term(&b, term);
	for (size_t i = 0; i < b.todo.len; i++)
		for (size_t e = 0; e < m->events.len; e++)
			if (m->events.data[e].value != TERM_NONE &&
			    m->events.data[e].object == b.todo.data[i])
				blame_term(&b, m->events.data[e].value);
	*ret = b.todo;
	vec_sort(ret, ascending);
	map_deinit(&b.terms);
	map_deinit(&b.cells);
}
