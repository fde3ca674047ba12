/* order/search/solve.c - the portfolio: saturate, then search and learn in turns.
 *
 * The forward search finds most solutions quickly and proves nothing; the clause learner is complete
 * and slow to start. They alternate in slices that double; each slice of the learner starts from
 * the best order the search has. The first to finish wins. */
#include "order/search/engine.h"
#include "base/log.h"

#include "base/err.h"
#include "base/interrupt.h"
#include "base/strbuf.h"
#include "order/search/reference.h"

#define MOST_FOLDS   16
#define MOST_TRIPLES 2000000

struct err *engine_init(struct engine *e, const struct order_model *m, enum order_want want,
			const uint64_t *inputs, uint64_t seed)
{
	struct err *err = order_model_check(m);

	*e = (struct engine){ .m = m, .want = want };
	if (err)
		return err;
	err = problem_init(&e->p, m, want, inputs);
	if (err) {
		problem_deinit(&e->p);
		return err;
	}
	facts_init(&e->f, &e->p);
	for (int i = 0; i < MOST_FOLDS && !e->f.impossible; i++) {
		if (!problem_fold(&e->p, e->f.pinned, e->f.pin))
			break;
		facts_deinit(&e->f); /* edges found so far stay in the problem */
		facts_init(&e->f, &e->p);
	}
	if (!e->f.impossible)
		e->forward = forward_new(&e->p, &e->f, seed);
	return NULL;
}

void engine_deinit(struct engine *e)
{
	learner_free(e->learner);
	forward_free(e->forward);
	facts_deinit(&e->f);
	problem_deinit(&e->p);
}

static struct learner *learner(struct engine *e)
{
	if (!e->learner)
		e->learner = learner_new(&e->p, &e->f);
	return e->learner;
}

enum order_status engine_assume(struct engine *e, const lit *assumptions, size_t n, double deadline)
{
	if (e->f.impossible)
		return ORDER_UNSAT;
	switch (learner_solve(learner(e), assumptions, n, deadline)) {
	case SAT_YES:
		e->found = learner_witness(e->learner);
		e->how = "learning";
		return ORDER_SAT;
	case SAT_NO:
		e->how = "learning";
		return ORDER_UNSAT;
	default:
		return ORDER_UNKNOWN;
	}
}

enum order_status engine_solve(struct engine *e, const struct order_budget *budget, double deadline)
{
	/* alone, one engine needs no slices, and gives the same answer however busy the machine is */
	double slice = budget->no_search ? 1e30 : 0.002 + e->p.ne * 2e-6;

	if (e->f.impossible) {
		e->how = "saturation";
		return ORDER_UNSAT;
	}
	for (double now = clock_seconds(); now < deadline && !interrupted();
	     now = clock_seconds(), slice *= 2) {
		if (!budget->no_search && forward_search(e->forward, MIN(now + slice, deadline))) {
			e->found = forward_order(e->forward);
			e->how = "search";
			return ORDER_SAT;
		}
		if (budget->no_learning)
			continue;
		learner(e)->sat.most = budget->decisions;
		learner_set_witness(learner(e), forward_order(e->forward));
		now = clock_seconds();
		enum order_status s = engine_assume(e, NULL, 0, MIN(now + slice, deadline));
		if (s != ORDER_UNKNOWN || sat_is_spent(&e->learner->sat))
			return s;
	}
	return ORDER_UNKNOWN;
}

void engine_stats(const struct engine *e, struct order_stats *ret)
{
	ret->how = e->how;
	ret->edges = e->p.edges.len;
	ret->passes = e->f.passes;
	ret->unique_reads = e->f.unique;
	ret->reads = e->f.reads;
	if (e->forward) {
		ret->nodes = forward_nodes(e->forward);
		ret->dead_ends = forward_dead_ends(e->forward);
	}
	if (e->learner) {
		ret->decisions = e->learner->sat.decisions;
		ret->conflicts = e->learner->sat.conflicts;
		ret->rounds = e->learner->rounds;
		ret->atoms = e->learner->sat.nvars;
		ret->clauses = e->learner->sat.clauses.len;
	}
}

uint32_t *engine_order(const struct engine *e, uint64_t *values)
{
	uint32_t *order = xcalloc(e->p.ne + 1, sizeof(*order));
	struct strbuf why = { 0 };

	memcpy(values, e->p.input, e->m->symbols.len * sizeof(*values));
	for (uint32_t i = 0; i < e->p.ne; i++)
		order[i] = e->p.ev[e->found[i]].model;
	if (!order_validate(e->m, e->want, order, e->p.ne, values, &why))
		BUG("the order found by %s is not one: %s", e->how, strbuf_str(&why));
	strbuf_deinit(&why);
	return order;
}

/* ---- free inputs ---- */

static bool has_inputs(const struct order_model *m)
{
	for (size_t i = 0; i < m->symbols.len; i++)
		if (m->symbols.data[i].event == ORDER_NONE)
			return true;
	return false;
}

/* The reference has a term for any three sections of one lock, and looks at no clock while it makes them. */
static bool is_too_large(const struct order_model *m)
{
	uint64_t *locks = xcalloc(m->objects.len + 1, sizeof(*locks)), sum = 0;

	for (size_t i = 0; i < m->events.len; i++)
		if (m->events.data[i].kind == ORDER_LOCK)
			locks[m->events.data[i].object]++;
	for (size_t i = 0; i < m->objects.len; i++)
		sum += locks[i] * locks[i] * locks[i];
	free(locks);
	return sum > MOST_TRIPLES;
}

/* Our solver works with fixed inputs: "no" means no with these. Z3 may choose others. */
static struct err *ask_reference(const struct order_model *m, enum order_want want, double deadline,
				 struct order_answer *ret)
{
	struct order_reference r;
	struct err *err = order_reference(m, want, MAX(deadline - clock_seconds(), 0.1), false, &r);

	if (err)
		return err;
	ret->status = r.status;
	ret->stats.how = "reference";
	if (r.status == ORDER_SAT) {
		ret->order = r.order;
		ret->values = r.values;
		ret->len = m->events.len;
		r.order = NULL;
		r.values = NULL;
	}
	order_reference_deinit(&r);
	return NULL;
}

struct err *order_solve(const struct order_model *m, enum order_want want,
			const struct order_budget *budget, struct order_answer *ret)
{
	double start = clock_seconds(), deadline = budget->seconds ? start + budget->seconds : 1e30;
	bool inputs = has_inputs(m);
	uint64_t *values = NULL;
	struct engine e;
	struct err *err;

	*ret = (struct order_answer){ 0 };
	err = order_model_check(m);
	if (err)
		return err;
	if (inputs) {
		values = xcalloc(m->symbols.len + 1, sizeof(*values));
		for (size_t i = 0; i < m->symbols.len; i++)
			values[i] = m->symbols.data[i].hint;
	}
	for (int attempt = 0; attempt < 2 && !err; attempt++) {
		err = engine_init(&e, m, want, values, budget->seed);
		if (err)
			break;
		bool other = inputs && !attempt && e.p.impossible;
		if (!other)
			ret->status = engine_solve(&e, budget, deadline);
		if (ret->status == ORDER_SAT) {
			ret->len = m->events.len;
			ret->values = xcalloc(m->symbols.len + 1, sizeof(*ret->values));
			ret->order = engine_order(&e, ret->values);
		}
		engine_stats(&e, &ret->stats);
		engine_deinit(&e);
		if (!other) /* the hints break no condition on inputs alone: they were tried */
			break;
		if (reference_inputs(m, want, values, MIN(deadline - clock_seconds(), 1e6)) !=
		    ORDER_SAT)
			break;
	}
	if (!err && inputs && ret->status != ORDER_SAT && is_too_large(m))
		ret->status = ORDER_UNKNOWN;
	else if (!err && inputs && ret->status != ORDER_SAT)
		err = ask_reference(m, want, deadline, ret);
	free(values);
	ret->stats.seconds = clock_seconds() - start;
	return err;
}
