/* explain/by-constraints.c - the explanation by constraints, and which way is taken.
 *
 * Paths become a model (solve/load.c), the order engine proposes a failing order and, by inverting
 * an edge of its core, a passing one (solve/question.c); both are run natively. From there on the two
 * ways are one: what differs between two native runs, and what would cure it (explain.c). */
#define LOG_DOMAIN "explain"
#include "explain/explain.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "solve/question.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HUNT_SECONDS = 20 };

/* ---- by constraints ---- */

static void add_notes(struct explanation *x, const struct constraints *c)
{
	const struct order_model *m = c->loaded.built.m;

	explanation_note(
		x, "by constraints: %zu events and %zu conditions of %zu threads; failure: %s",
		m->events.len, m->conditions.len, m->threads.len, c->loaded.condition);
	explanation_note(x,
			 "failing order in %.3f s by %s, %zu switches (%zu as solved); core of %zu "
			 "edges in %.3f s%s; passing order in %.3f s",
			 c->failing.seconds_solve,
			 c->failing.stats.how ? c->failing.stats.how : "?", c->failing.switches,
			 c->failing.switches_found, c->core.edges.len, c->seconds_core,
			 c->core.irreducible ? ", irreducible" : "", c->passing.seconds_solve);
	if (c->left_path)
		explanation_note(x,
				 "no passing order of these paths was confirmed natively; in the "
				 "passing schedule the failing thread decides otherwise");
	else if (c->passing.status == ORDER_UNSAT)
		explanation_note(x, "no order of these paths passes; the passing schedule takes "
				    "another path");
	else if (!c->passing.confirmed)
		explanation_note(x, "no passing order of these paths was confirmed natively; the "
				    "passing schedule was searched by native runs");
	for (size_t i = 0; i < c->loaded.gaps.len; i++)
		explanation_note(x, "left out or assumed: %s", c->loaded.gaps.text[i]);
}

static struct err *inconclusive(const struct constraints *c)
{
	if (c->loaded.unsupported)
		return err_new(ERR_INCONCLUSIVE, "%s", c->loaded.unsupported);
	if (c->failing.status == ORDER_UNSAT)
		return err_new(ERR_INCONCLUSIVE, "no order of the recorded paths fails (`unplait "
						 "solve` says which constraints conflict)");
	if (c->failing.status == ORDER_UNKNOWN)
		return err_new(ERR_INCONCLUSIVE, "no failing order within the budget");
	if (!c->failing.confirmed)
		return err_new(ERR_INCONCLUSIVE,
			       "the failing order that was found does not fail natively");
	return NULL;
}

static struct err *find_runs(struct constraints *c)
{
	struct err *err = NULL;

	if (!c->loaded.unsupported)
		err = constraints_fail(c);
	if (!err)
		err = inconclusive(c);
	return err ? err : constraints_pass(c);
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

static struct err *report(const struct explain_options *options, const struct constraints *c,
			  struct explanation **ret)
{
	const struct order_model *m = c->loaded.built.m;
	struct explain_found found = { .failing = &c->failing.native.run,
				       .passing =
					       c->passing.confirmed ? &c->passing.native.run : NULL,
				       .pairs_tried = c->pairs_tried };
	struct explain_options o = *options;
	struct err *err;

	for (int i = 0; i < 2 && found.passing && c->flipped.before != ORDER_NONE; i++) {
		uint32_t e = i ? c->flipped.after : begin_of(m, c->flipped.before);

		found.pair[i] = c->failing.native.clock[e];
		found.pair_passing[i] = c->passing.native.clock[e];
	}
	o.found = &found;
	err = explain_dynamic(&o, ret);
	if (err)
		return err;
	(*ret)->seconds_trace += c->seconds_trace;
	(*ret)->seconds_search += c->failing.seconds_solve + c->failing.seconds_native +
				  c->seconds_core + c->passing.seconds_solve +
				  c->passing.seconds_native;
	add_notes(*ret, c);
	return NULL;
}

struct err *explain_by_constraints(const struct explain_options *options, struct explanation **ret)
{
	struct constraints_options co = { .seconds = options->seconds, .seed = options->seed };
	struct target target = options->target;
	struct session *session = NULL;
	struct constraints c = { 0 };
	struct trace *trace;
	struct err *err = trace_open(options->plait, &trace);

	if (err)
		return err;
	target.argv = options->command ? (char **)options->command : trace_meta(trace)->command;
	if (trace_meta(trace)->outcome.kind == PLAIT_OUTCOME_PASS)
		err = err_new(ERR_ENV,
			      "%s passed; explain needs a failing run (`unplait hunt` finds one)",
			      options->plait);
	else if (!target.argv || !target.argv[0])
		err = err_new(ERR_ENV,
			      "%s does not say what it recorded; give the program after --",
			      options->plait);
	if (!err)
		err = session_open(&target, &session);
	if (!err)
		err = constraints_open(trace, session, &co, &c);
	if (!err)
		err = find_runs(&c);
	session_close(session);
	if (!err)
		err = report(options, &c, ret);
	constraints_close(&c);
	trace_close(trace);
	return err;
}

/* ---- which way ---- */

static struct err *has_schedule(const char *plait, bool *ret)
{
	struct trace *t;
	struct err *err = trace_open(plait, &t);

	if (err)
		return err;
	*ret = trace_has_section(t, "schedule");
	trace_close(t);
	return NULL;
}

/* No schedule is known, and the paths do not give one: hunt for the failure. */
static struct err *hunt_first(const struct explain_options *options, struct explanation **ret)
{
	_cleanup_(xfreep) char *dir = NULL;
	_cleanup_(xfreep) char *plait = NULL;
	struct hunt_options h = { .target = options->target,
				  .strategy = "auto",
				  .seconds = HUNT_SECONDS,
				  .seed = options->seed,
				  .jobs = 1,
				  .replays = 1,
				  .points = PLAIT_ANY };
	struct explain_options o = *options;
	struct hunt_result found = { 0 };
	struct trace *t = NULL;
	struct err *err = trace_open(options->plait, &t);

	if (!err)
		err = file_temp_dir(&dir);
	if (err) {
		trace_close(t);
		return err;
	}
	plait = xasprintf("%s/hunted.plait", dir);
	h.output = plait;
	h.target.argv = options->command ? (char **)options->command : trace_meta(t)->command;
	err = hunt_run(&h, &found);
	if (!err && !found.failures.len)
		err = err_new(ERR_INCONCLUSIVE, "a hunt of %d s did not find the failure either",
			      HUNT_SECONDS);
	hunt_result_deinit(&found);
	o.plait = plait;
	if (!err)
		err = explain_dynamic(&o, ret);
	file_remove_tree(dir);
	trace_close(t);
	return err;
}

static struct err *dynamic(const struct explain_options *options, bool scheduled,
			   struct explanation **ret)
{
	return scheduled ? explain_dynamic(options, ret) : hunt_first(options, ret);
}

static const char *kind_name(const struct explanation *x)
{
	static const char *const names[] = BUG_KIND_NAMES;

	return names[x->kind];
}

static void add_pair(const struct explanation *x, struct strbuf *out)
{
	for (int i = 0; i < 2; i++) {
		const struct shown_event *e =
			x->pair[i] < x->failing.len ? &x->failing.events[x->pair[i]] : NULL;

		strbuf_addf(out, "%s%s of %s at %s:%u", i ? " before " : "", e ? e->op : "?",
			    e && e->object ? e->object : "?", e && e->file ? e->file : "?",
			    e ? e->line : 0);
	}
}

static void note_differences(struct explanation *x, const struct explanation *other)
{
	_cleanup_(strbuf_deinit) struct strbuf mine = { 0 }, its = { 0 };

	add_pair(x, &mine);
	add_pair(other, &its);
	if (x->kind != other->kind)
		explanation_note(x, "the dynamic way differs: %s instead of %s", kind_name(other),
				 kind_name(x));
	if (strcmp(strbuf_str(&mine), strbuf_str(&its)) != 0)
		explanation_note(x, "the dynamic way differs: it inverts %s; constraints invert %s",
				 strbuf_str(&its), strbuf_str(&mine));
	if (x->confirmed != other->confirmed)
		explanation_note(x, "the dynamic way differs: %sconfirmed",
				 other->confirmed ? "" : "not ");
	explanation_note(x,
			 "dynamic: %zu events shown, %zu flows, %" PRIu64 " pairs tried, %" PRIu64
			 " switches; constraints: %zu, %zu, %" PRIu64 ", %" PRIu64,
			 other->failing.len, other->nflows, other->pairs_tried,
			 other->failing.switches, x->failing.len, x->nflows, x->pairs_tried,
			 x->failing.switches);
}

/* The other answer, for its differences only: no advice is tested again. */
static struct err *compare_ways(const struct explain_options *options, bool scheduled,
				struct explanation *x)
{
	struct explain_options o = *options;
	struct explanation *other = NULL;
	struct err *err;

	err = dynamic(&o, scheduled, &other);
	if (err && err_kind(err) == ERR_INCONCLUSIVE) {
		explanation_note(x, "the dynamic way has no answer: %s", err_message(err));
		err_free(err);
		return NULL;
	}
	if (!err)
		note_differences(x, other);
	explanation_free(other);
	return err;
}

struct err *explain_run(const struct explain_options *options, enum explain_method method,
			struct explanation **ret)
{
	bool scheduled = false;
	struct err *err = has_schedule(options->plait, &scheduled);
	_cleanup_(xfreep) char *why = NULL;

	if (err)
		return err;
	if (method == EXPLAIN_AUTO)
		method = scheduled ? EXPLAIN_DYNAMIC : EXPLAIN_CONSTRAINTS;
	if (method == EXPLAIN_DYNAMIC && scheduled)
		return explain_dynamic(options, ret);
	if (method == EXPLAIN_DYNAMIC) {
		err = hunt_first(options, ret);
		if (!err)
			explanation_note(*ret, "the plait has no schedule: the failure was hunted "
					       "first");
		return err;
	}
	err = explain_by_constraints(options, ret);
	if (!err)
		return method == EXPLAIN_BOTH ? compare_ways(options, scheduled, *ret) : NULL;
	if (err_kind(err) != ERR_INCONCLUSIVE)
		return err;
	why = xstrdup(err_message(err));
	err_free(err);
	err = dynamic(options, scheduled, ret);
	if (err)
		return err_wrap(err, "not by constraints (%s), and the dynamic way", why);
	explanation_note(*ret, "explained the dynamic way%s; not by constraints: %s",
			 scheduled ? "" : " after a hunt for the failure", why);
	return NULL;
}
