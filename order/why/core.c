/* order/why/core.c - why an order has its outcome (000 section 4.1.4).
 *
 * The order's edges become assumptions, the opposite outcome is asked for; there is none, and the
 * final conflict names the edges responsible. Deletion makes the set irreducible: leave one edge
 * out; still impossible, then it was not needed (and perhaps others with it); possible, then it
 * stays. Edges far from the failure are tried first, so that what remains is near it. */
#include "order/model/edges.h"
#include "base/log.h"

#include "base/err.h"

struct shrink {
	struct engine *e;
	const uint32_t *order; /* our numbers */
	uint32_t *position;
	struct pinned_edges core;
	uint32_t failure;
	double deadline;
	bool exact;
};

static uint32_t failure_of(const struct engine *e, const uint32_t *order)
{
	uint32_t f = e->m->failure_event;

	return f != ORDER_NONE ? e->p.of_model[f] : order[e->p.ne - 1];
}

static void sort_by_distance(struct shrink *s, bool nearest_first)
{
	struct pinned_edges *c = &s->core;

	for (size_t i = 1; i < c->len; i++) { /* cores are small; stable on purpose */
		struct pinned_edge x = c->data[i];
		uint64_t d = edge_distance(&x, s->position, s->failure);
		size_t k = i;
		for (; k > 0; k--) {
			uint64_t o = edge_distance(&c->data[k - 1], s->position, s->failure);
			if (nearest_first ? o <= d : o >= d)
				break;
			c->data[k] = c->data[k - 1];
		}
		c->data[k] = x;
	}
}

/* Is the outcome still impossible with all edges of the core but `without`? */
static enum order_status ask(struct shrink *s, size_t without)
{
	struct lits assumptions = { 0 };
	enum order_status r;

	for (size_t i = 0; i < s->core.len; i++)
		if (i != without)
			vec_push(&assumptions, s->core.data[i].literal);
	learner_set_witness(s->e->learner, s->order);
	r = engine_assume(s->e, assumptions.data, assumptions.len, s->deadline);
	vec_deinit(&assumptions);
	return r;
}

/* Keep the edges of the solver's core, in their order. */
static void keep_core(struct shrink *s)
{
	const struct lits *final = &s->e->learner->sat.core;
	struct map in = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < final->len; i++)
		map_put(&in, (uint64_t) final->data[i], 1);
	for (size_t i = 0; i < s->core.len; i++)
		if (map_find(&in, (uint64_t)s->core.data[i].literal))
			s->core.data[kept++] = s->core.data[i];
	s->core.len = kept;
	map_deinit(&in);
}

static void minimise(struct shrink *s)
{
	sort_by_distance(s, false);
	for (size_t i = 0; i < s->core.len;) {
		switch (ask(s, i)) {
		case ORDER_UNSAT: {
			/* what was proved necessary stays in front: keep_core preserves the order
			 */
			size_t before = s->core.len;
			keep_core(s);
			assert(s->core.len < before);
			(void)before;
			break;
		}
		case ORDER_SAT:
			i++;
			break;
		default:
			s->exact = false;
			i++;
			break;
		}
	}
}

static void find_core(struct shrink *s, bool minimal, struct order_core *ret)
{
	struct engine *e = s->e;
	size_t best = SIZE_MAX;

	if (!e->learner)
		e->learner = learner_new(&e->p, &e->f);
	learner_set_witness(e->learner, s->order);
	edges_of_order(e, s->order, &s->core);
	ret->considered = s->core.len;
	for (size_t i = 0; i < s->core.len; i++) { /* an edge that excludes the outcome alone */
		const struct pinned_edge *x = &s->core.data[i];
		if (x->literal == LIT_FALSE &&
		    (best == SIZE_MAX ||
		     edge_distance(x, s->position, s->failure) <
			     edge_distance(&s->core.data[best], s->position, s->failure)))
			best = i;
	}
	if (best != SIZE_MAX) {
		struct pinned_edge x = s->core.data[best];
		s->core.len = 0;
		enum order_status without = ask(s, SIZE_MAX);
		ret->status = ORDER_UNSAT;
		ret->irreducible = without != ORDER_UNKNOWN;
		if (without != ORDER_UNSAT) /* else no run at all has this outcome */
			vec_push(&s->core, x);
		return;
	}
	sort_by_distance(s, true);
	ret->status = ask(s, SIZE_MAX);
	if (ret->status != ORDER_UNSAT)
		return;
	keep_core(s);
	s->exact = minimal;
	if (minimal)
		minimise(s);
	sort_by_distance(s, true);
	ret->irreducible = s->exact || s->core.len <= 1;
}

struct err *order_core(const struct order_model *m, enum order_want avoid, const uint32_t *order,
		       size_t len, bool minimal, const struct order_budget *budget,
		       struct order_core *ret)
{
	struct engine e;
	struct placed_order placed;
	double start = clock_seconds();
	struct err *err;

	*ret = (struct order_core){ 0 };
	err = placed_order_init(&placed, &e, m, avoid, order, len, budget->seed);
	if (err)
		return err;
	if (e.f.impossible) { /* no order at all has this outcome */
		ret->status = ORDER_UNSAT;
		ret->irreducible = true;
		e.how = "saturation";
	} else {
		struct shrink s = { .e = &e,
				    .order = placed.order,
				    .position = placed.position,
				    .failure = failure_of(&e, placed.order),
				    .deadline = budget->seconds ? start + budget->seconds : 1e30 };

		find_core(&s, minimal, ret);
		for (size_t i = 0; i < s.core.len; i++)
			vec_push(&ret->edges,
				 (struct order_edge){ e.p.ev[s.core.data[i].before].model,
						      e.p.ev[s.core.data[i].after].model });
		vec_deinit(&s.core);
	}
	placed_order_deinit(&placed);
	engine_stats(&e, &ret->stats);
	ret->stats.seconds = clock_seconds() - start;
	engine_deinit(&e);
	return NULL;
}
