/* explain/dynamic.c - the explanation by native runs, from a plait to an answer.
 *
 * 1. Replay the failing schedule with as few switches as possible; record it (dynamic/failing.c).
 * 2. The nearest passing schedule, recorded too (dynamic/passing.c).
 * 3. What differs, and what would cure it (dynamic/conclude.c): cures (cure.c) that go with the
 *    failure (observe.c), in turn over many schedules; the first that helps names the kind of bug. */
#define LOG_DOMAIN "explain"
#include "explain/dynamic/job.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "trace/trace.h"

#include <stdlib.h>

enum { CONFIRMATIONS = 5, ALL_SECONDS = 300 };

static void add_notes(struct job *j)
{
	struct strbuf text = { 0 };

	if (native_expired(&j->native))
		explanation_note(j->x, "the %.0f s of --time were over before everything was tried",
				 j->seconds);
	if (!j->failing.uncontrolled)
		return;
	uncontrolled_describe(j->failing.uncontrolled, &text);
	explanation_note(j->x, "not under control in this run: %s", strbuf_str(&text));
	strbuf_deinit(&text);
}

static struct err *investigate(struct job *j)
{
	unsigned same = 0, tried = CONFIRMATIONS;
	double t0 = clock_seconds(), t1, t2;
	struct err *err = job_find_failing(j);

	if (!err)
		err = confirm(j->session, &j->failing, &tried, &same);
	if (!err)
		err = native_init(&j->native, j->session, &j->failing, j->end);
	if (err)
		return err;
	j->x->replays_tried = tried;
	j->x->replays_same = same;
	j->runner = native_runner(&j->native);
	err = job_record_failing(j);
	if (err)
		return err;
	t1 = clock_seconds();
	err = job_find_passing(j);
	t2 = clock_seconds();
	if (!err)
		err = job_conclude(j);
	j->x->pairs_tried = j->alternates.pairs_tried;
	j->x->confirmed = same == CONFIRMATIONS && j->alternate.found;
	j->x->seconds_trace = t1 - t0;
	j->x->seconds_search = t2 - t1;
	j->x->seconds_advice = clock_seconds() - t2;
	add_notes(j);
	return err;
}

static struct err *open_target(struct job *j)
{
	struct err *err;

	j->target = j->options->target;
	err = target_from_plait(&j->target, j->options->plait, j->options->command);
	if (err)
		return err;
	j->x->program = arena_strdup(&j->x->arena, j->target.argv[0]);
	j->x->plait = arena_strdup(&j->x->arena, j->options->plait);
	return session_open(&j->target, &j->session);
}

struct err *explain_dynamic(const struct explain_options *options, struct explanation **ret)
{
	struct job j = { .options = options,
			 .seconds = options->seconds > 0 ? options->seconds : ALL_SECONDS };
	struct err *err;

	j.end = clock_seconds() + j.seconds;
	j.x = xcalloc(1, sizeof(*j.x));
	err = open_target(&j);
	if (!err)
		err = investigate(&j);
	trace_close(j.trace);
	if (j.copy_dir)
		file_remove_tree(j.copy_dir);
	free(j.copy_dir);
	free(j.trace_copy);
	native_deinit(&j.native);
	steps_deinit(&j.steps);
	stacks_deinit(&j.stacks);
	alternates_deinit(&j.alternates);
	run_result_deinit(&j.failing);
	session_close(j.session);
	target_deinit(&j.target);
	if (err) {
		explanation_free(j.x);
		return err;
	}
	*ret = j.x;
	return NULL;
}
