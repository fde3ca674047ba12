/* explain/by-constraints.c - the explanation by constraints.
 *
 * Paths become a model (solve/load.c), the order engine proposes a failing order and, by inverting
 * an edge of its core, a passing one (solve/question.c); both are run natively. From there on the two
 * ways are one: what differs between two native runs, and what would cure it (dynamic.c). */
#include "explain/explain.h"

#include "base/err.h"
#include "solve/solve.h"
#include "trace/trace.h"

static void add_notes(struct explanation *x, const struct question *q)
{
	const struct order_model *m = q->loaded.built.m;

	explanation_note(
		x, "by constraints: %zu events and %zu conditions of %zu threads; failure: %s",
		m->events.len, m->conditions.len, m->threads.len, q->loaded.condition);
	explanation_note(x,
			 "failing order in %.3f s by %s, %zu switches (%zu as solved); core of %zu "
			 "edges in %.3f s%s; passing order in %.3f s",
			 q->failing.seconds_solve,
			 q->failing.stats.how ? q->failing.stats.how : "?", q->failing.switches,
			 q->failing.switches_found, q->core.edges.len, q->seconds_core,
			 q->core.irreducible ? ", irreducible" : "", q->passing.seconds_solve);
	if (q->left_path)
		explanation_note(x,
				 "no passing order of these paths was confirmed natively; in the "
				 "passing schedule the failing thread decides otherwise");
	else if (q->passing.status == ORDER_UNSAT)
		explanation_note(x, "no order of these paths passes; the passing schedule takes "
				    "another path");
	else if (!q->passing.confirmed)
		explanation_note(x, "no passing order of these paths was confirmed natively; the "
				    "passing schedule was searched by native runs");
	for (size_t i = 0; i < q->loaded.gaps.len; i++)
		explanation_note(x, "left out or assumed: %s", q->loaded.gaps.text[i]);
}

static struct err *inconclusive(const struct question *q)
{
	if (q->loaded.unsupported)
		return err_new(ERR_INCONCLUSIVE, "%s", q->loaded.unsupported);
	if (q->failing.status == ORDER_UNSAT)
		return err_new(ERR_INCONCLUSIVE, "no order of the recorded paths fails (`unplait "
						 "solve` says which constraints conflict)");
	if (q->failing.status == ORDER_UNKNOWN)
		return err_new(ERR_INCONCLUSIVE, "no failing order within the budget");
	if (!q->failing.confirmed)
		return err_new(ERR_INCONCLUSIVE,
			       "the failing order that was found does not fail natively");
	return NULL;
}

static struct err *find_runs(struct question *q)
{
	struct err *err = NULL;

	if (!q->loaded.unsupported)
		err = question_fail(q);
	if (!err)
		err = inconclusive(q);
	return err ? err : question_pass(q);
}

/* The unlock that the failure prevented has no native step: the lock stands for the section. */
static uint32_t begin_of(const struct order_model *m, uint32_t event)
{
	const struct order_event *e = &m->events.data[event];
	const struct order_thread *t = &m->threads.data[e->thread];

	for (uint32_t i = e->index; i-- > 0 && m->events.data[event].synthetic;) {
		const struct order_event *x = &m->events.data[t->data[i]];

		if (!x->synthetic && x->object == e->object)
			return t->data[i];
	}
	return event;
}

static struct err *report(const struct explain_options *options, const struct question *q,
			  struct explanation **ret)
{
	const struct order_model *m = q->loaded.built.m;
	struct explain_found found = { .failing = &q->failing.native.run,
				       .passing =
					       q->passing.confirmed ? &q->passing.native.run : NULL,
				       .pairs_tried = q->pairs_tried };
	struct explain_options o = *options;
	struct err *err;

	for (int i = 0; i < 2 && found.passing && q->flipped.before != ORDER_NONE; i++) {
		uint32_t e = i ? q->flipped.after : begin_of(m, q->flipped.before);

		found.pair[i] = q->failing.native.clock[e];
		found.pair_passing[i] = q->passing.native.clock[e];
	}
	o.found = &found;
	err = explain_dynamic(&o, ret);
	if (err)
		return err;
	(*ret)->seconds_trace += q->seconds_trace;
	(*ret)->seconds_search += q->failing.seconds_solve + q->failing.seconds_native +
				  q->seconds_core + q->passing.seconds_solve +
				  q->passing.seconds_native;
	add_notes(*ret, q);
	return NULL;
}

struct err *explain_by_constraints(const struct explain_options *options, struct explanation **ret)
{
	struct question_options co = { .seconds = options->seconds, .seed = options->seed };
	struct target target = options->target;
	struct session *session = NULL;
	struct question q = { 0 };
	struct trace *trace;
	struct err *err = trace_open(options->plait, &trace);

	if (err)
		return err;
	if (trace_meta(trace)->outcome.kind == PLAIT_OUTCOME_PASS)
		err = err_new(ERR_ENV,
			      "%s passed; explain needs a failing run (`unplait hunt` finds one)",
			      options->plait);
	if (!err)
		err = target_from_plait(&target, options->plait, options->command);
	if (!err)
		err = session_open(&target, &session);
	if (!err)
		err = question_open(trace, session, &co, &q);
	if (!err)
		err = find_runs(&q);
	session_close(session);
	if (!err)
		err = report(options, &q, ret);
	question_close(&q);
	target_deinit(&target);
	trace_close(trace);
	return err;
}
