/* explain/explain.c - which way to an explanation is taken.
 *
 * A plait with a schedule is explained by native runs (dynamic.c). One with paths only is put to
 * the order engine (by-constraints.c); where that has no answer, the failure is hunted and then
 * explained by native runs. Whatever was done instead of what was asked for, a note says. */
#include "explain/explain.h"

#include "base/err.h"
#include "base/file.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HUNT_SECONDS = 20 };

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
	struct err *err = target_from_plait(&h.target, options->plait, options->command);

	if (!err)
		err = file_temp_dir(&dir);
	if (err) {
		target_deinit(&h.target);
		return err;
	}
	plait = xasprintf("%s/hunted.plait", dir);
	h.output = plait;
	err = hunt_run(&h, &found);
	if (!err && !found.failures.len)
		err = err_new(ERR_INCONCLUSIVE, "a hunt of %d s did not find the failure either",
			      HUNT_SECONDS);
	hunt_result_deinit(&found);
	o.plait = plait;
	if (!err)
		err = explain_dynamic(&o, ret);
	file_remove_tree(dir);
	target_deinit(&h.target);
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
