/* order/why/alternates.c - orders near a failing one that do not fail (000 section 4.1.5).
 *
 * Every run with the other outcome breaks at least one edge of the core, so flipping each in turn
 * finds one when there is any. For a flipped edge the rest of the failing order is kept as far as
 * possible: assume all its other edges, and as long as that is impossible, give up one of those the
 * conflict names, the one nearest to the flipped pair; then take back what need not have been given
 * up. Where that takes too long: all edges after
 * and before the pair, then only those before it, then none. The learner keeps what it learned from
 * one question to the next. */
#include "order/model/edges.h"
#include "base/log.h"

#include "base/err.h"
#include "order/why/projection.h"

#define MOST_EDGES 4000 /* beyond, giving up edges one by one takes too long */

#define SPARE 2 /* alternates looked for beyond those asked for, to choose from */

struct flipper {
	struct engine *e;
	const uint32_t *order; /* our numbers */
	uint32_t *position;
	struct projected_event *failing;
	struct pinned_edges all;
	uint32_t *nearest; /* the best order for the pair at hand */
	double deadline;
};

static lit edge_literal(struct flipper *x, uint32_t a, uint32_t b)
{
	const struct ev *v = x->e->p.ev;

	if (v[a].closes != NONE && v[b].opens != NONE &&
	    x->e->p.sections.data[v[a].closes].lock == x->e->p.sections.data[v[b].opens].lock)
		return section_lit(x->e->learner, v[a].closes, v[b].opens);
	return order_lit(x->e->learner, a, b);
}

/* Which edges stay? 0: those that do not touch what the flip moves, 1: those before it, 2: none. */
static bool stays(const struct flipper *x, const struct pinned_edge *edge, uint32_t a, uint32_t b,
		  int how)
{
	uint32_t from = x->position[a], to = x->position[b];
	uint32_t before = x->position[edge->before], after = x->position[edge->after];

	if (how == 2 || edge->literal < 0)
		return false;
	if (after < from)
		return true;
	return how == 0 && before > to;
}

static uint64_t apart(const struct flipper *x, lit l, uint32_t a, uint32_t b)
{
	uint64_t from = x->position[a], to = x->position[b];

	for (size_t i = 0; i < x->all.len; i++) {
		const struct pinned_edge *e = &x->all.data[i];
		if (e->literal != l)
			continue;
		uint64_t p = x->position[e->before], q = x->position[e->after];
		return (p > from ? p - from : from - p) + (q > to ? q - to : to - q);
	}
	return UINT64_MAX;
}

/* Move the edge nearest to the pair from the assumptions to those given up, among those in the
 * conflict. */
static bool give_up_one(struct flipper *x, struct lits *assumptions, struct lits *given_up,
			uint32_t a, uint32_t b)
{
	const struct lits *core = &x->e->learner->sat.core;
	uint64_t least = UINT64_MAX;
	size_t best = 0;

	for (size_t i = 1; i < assumptions->len; i++)
		for (size_t k = 0; k < core->len; k++)
			if (core->data[k] == assumptions->data[i] &&
			    apart(x, core->data[k], a, b) < least) {
				least = apart(x, core->data[k], a, b);
				best = i;
			}
	if (!best)
		return false;
	vec_push(given_up, assumptions->data[best]);
	memmove(&assumptions->data[best], &assumptions->data[best + 1],
		(assumptions->len - best - 1) * sizeof(lit));
	assumptions->len--;
	return true;
}

static enum order_status ask_near(struct flipper *x, const struct lits *assumptions, double limit)
{
	enum order_status r;

	learner_set_witness(x->e->learner, x->order);
	r = engine_assume(x->e, assumptions->data, assumptions->len, limit);
	if (r == ORDER_SAT) {
		memcpy(x->nearest, x->e->found, x->e->p.ne * sizeof(*x->nearest));
		x->e->found = x->nearest;
	}
	return r;
}

/* A conflict names more edges than had to be given up: which of them hold after all? */
static void take_back(struct flipper *x, struct lits *assumptions, const struct lits *given_up,
		      double limit)
{
	for (size_t i = 0; i < given_up->len && clock_seconds() < limit; i++) {
		vec_push(assumptions, given_up->data[i]);
		if (ask_near(x, assumptions, limit) != ORDER_SAT)
			assumptions->len--;
	}
}

static enum order_status flip_near(struct flipper *x, lit literal, uint32_t a, uint32_t b)
{
	enum order_status r = ORDER_UNKNOWN;
	struct lits assumptions = { 0 }, given_up = { 0 };
	double now = clock_seconds(),
	       limit = MIN(x->deadline, now + MAX(0.05, (x->deadline - now) / 8));

	vec_push(&assumptions, lit_not(literal));
	for (size_t i = 0; i < x->all.len; i++)
		if (x->all.data[i].literal >= 0 && x->all.data[i].literal != literal)
			vec_push(&assumptions, x->all.data[i].literal);
	do {
		r = ask_near(x, &assumptions, limit);
	} while (r == ORDER_UNSAT && give_up_one(x, &assumptions, &given_up, a, b));
	if (r == ORDER_SAT)
		take_back(x, &assumptions, &given_up, limit);
	vec_deinit(&assumptions);
	vec_deinit(&given_up);
	return r;
}

static enum order_status flip(struct flipper *x, lit literal, uint32_t a, uint32_t b)
{
	enum order_status r = ORDER_UNKNOWN;

	if (literal >= 0 && x->all.len < MOST_EDGES)
		r = flip_near(x, literal, a, b);
	if (r != ORDER_UNKNOWN)
		return r;
	for (int how = 0; how < 3 && r != ORDER_SAT; how++) {
		struct lits assumptions = { 0 };
		double limit = x->deadline, now = clock_seconds();

		if (literal >= 0)
			vec_push(&assumptions, lit_not(literal));
		for (size_t i = 0; i < x->all.len; i++)
			if (stays(x, &x->all.data[i], a, b, how))
				vec_push(&assumptions, x->all.data[i].literal);
		learner_set_witness(x->e->learner, x->order);
		if (how < 2) /* being near is worth some time, not all */
			limit = MIN(limit, now + MAX(0.05, (x->deadline - now) / 8));
		r = engine_assume(x->e, assumptions.data, assumptions.len, limit);
		vec_deinit(&assumptions);
	}
	return r;
}

/* How much of the data flow of the failing order does this one change? */
static size_t differences(const struct flipper *x, const uint32_t *order)
{
	struct projected_event *there = order_projected_events(x->e->m, order, x->e->p.ne);
	struct order_projection p;

	order_project(x->failing, x->e->p.ne, there, x->e->p.ne, &p);
	size_t n = p.flows.len * x->e->p.ne + p.nshown[0];
	order_projection_deinit(&p);
	free(there);
	return n;
}

static bool still_flipped(const struct flipper *x, const uint32_t *order, struct order_edge edge)
{
	for (size_t i = 0; i < x->e->p.ne; i++)
		if (order[i] == edge.before || order[i] == edge.after)
			return order[i] == edge.after;
	return true; /* the search found it; no edge to speak of */
}

/* The solver does not care how threads alternate; an order with fewer switches is often nearer. */
static void keep(struct flipper *x, struct order_edge edge, struct order_alternates *ret)
{
	const struct order_model *m = x->e->m;
	uint64_t *values = xcalloc(m->symbols.len + 1, sizeof(*values));
	uint32_t *order = engine_order(x->e, values), *calm;
	size_t len = x->e->p.ne, tried;

	calm = xmemdup(order, len * sizeof(*order));
	struct err *err = order_reduce_switches(m, x->e->want, calm, len, 0.5, &tried);
	if (!err && still_flipped(x, calm, edge) && differences(x, calm) < differences(x, order))
		memcpy(order, calm, len * sizeof(*order));
	err_free(err);
	vec_push(&ret->found,
		 (struct order_alternate){ .flipped = edge, .order = order, .len = len });
	free(values);
	free(calm);
}

/* The one that changes least first. */
static void sort_by_differences(struct flipper *x, struct order_alternates *ret)
{
	size_t n = ret->found.len, *d = xcalloc(n + 1, sizeof(*d));

	for (size_t i = 0; i < n; i++) {
		struct order_alternate a = ret->found.data[i];
		size_t mine = differences(x, a.order), k = i;
		for (; k > 0 && d[k - 1] > mine; k--) {
			d[k] = d[k - 1];
			ret->found.data[k] = ret->found.data[k - 1];
		}
		d[k] = mine;
		ret->found.data[k] = a;
	}
	free(d);
}

static void try_edges(struct flipper *x, const struct order_core *core, size_t max,
		      struct order_alternates *ret)
{
	struct engine *e = x->e;

	for (size_t i = 0; i < core->edges.len && (!max || ret->found.len < max + SPARE); i++) {
		struct order_edge edge = core->edges.data[i];
		uint32_t a = e->p.of_model[edge.before], b = e->p.of_model[edge.after];
		lit literal = edge_literal(x, a, b);

		if (clock_seconds() > x->deadline) {
			ret->complete = false;
			return;
		}
		ret->pairs_tried++;
		if (literal == LIT_TRUE)
			continue; /* certain in every run with this outcome */
		switch (flip(x, literal, a, b)) {
		case ORDER_SAT:
			keep(x, edge, ret);
			break;
		case ORDER_UNKNOWN:
			ret->complete = false;
			break;
		default:
			break;
		}
	}
}

/* No edge could be flipped in time: let the forward search look for any order near this one. */
static void search_near(struct flipper *x, const struct order_core *core,
			struct order_alternates *ret)
{
	struct engine *e = x->e;

	forward_set_guide(e->forward, x->position);
	if (!forward_search(e->forward, x->deadline))
		return;
	e->found = forward_order(e->forward);
	e->how = "search";
	uint32_t *position = xcalloc(e->p.ne + 1, sizeof(*position));
	struct order_edge flipped = { ORDER_NONE, ORDER_NONE };
	for (uint32_t i = 0; i < e->p.ne; i++)
		position[e->found[i]] = i;
	for (size_t i = 0; i < core->edges.len && flipped.before == ORDER_NONE; i++)
		if (position[e->p.of_model[core->edges.data[i].before]] >
		    position[e->p.of_model[core->edges.data[i].after]])
			flipped = core->edges.data[i];
	keep(x, flipped, ret);
	free(position);
}

struct err *order_alternates(const struct order_model *m, enum order_want want,
			     const uint32_t *order, size_t len, const struct order_core *core,
			     size_t max, const struct order_budget *budget,
			     struct order_alternates *ret)
{
	struct engine e;
	struct placed_order placed;
	double start = clock_seconds();
	struct err *err;

	*ret = (struct order_alternates){ .complete = true };
	err = placed_order_init(&placed, &e, m, want, order, len, budget->seed);
	if (err)
		return err;
	if (!e.f.impossible && core->edges.len) {
		double limit = budget->seconds ? budget->seconds : 1e30;
		struct flipper x = { .e = &e,
				     .order = placed.order,
				     .position = placed.position,
				     .deadline = start + limit * 0.75 };

		e.learner = learner_new(&e.p, &e.f);
		x.nearest = xcalloc(len + 1, sizeof(*x.nearest));
		x.failing = order_projected_events(m, order, len);
		learner_set_witness(e.learner, x.order);
		edges_of_order(&e, x.order, &x.all);
		try_edges(&x, core, max, ret);
		x.deadline = start + limit;
		if (!ret->found.len && !ret->complete)
			search_near(&x, core, ret);
		sort_by_differences(&x, ret);
		while (max && ret->found.len > max)
			free(vec_pop(&ret->found).order);
		vec_deinit(&x.all);
		free(x.failing);
		free(x.nearest);
	}
	placed_order_deinit(&placed);
	engine_stats(&e, &ret->stats);
	ret->stats.seconds = clock_seconds() - start;
	engine_deinit(&e);
	return NULL;
}
