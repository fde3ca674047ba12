/* explain/dynamic/failing.c - the run that is explained.
 *
 * Replay the failing schedule; it must fail the same way. Then look for one with fewer switches that
 * fails the same way, and record that one with all events. */
#define LOG_DOMAIN "explain"
#include "explain/dynamic/job.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "explain/find/load.h"
#include "explain/show/present.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

enum { MINIMIZE_RUNS = 400, MINIMIZE_STEPS = 20000000 };
#define MINIMIZE_SHARE 0.25    /* ... and this part of the time that there is */
enum { HANG_EVENTS = 200000 }; /* of a run that does not end, the rest tells nothing new */

struct run_request job_replay_of(const struct schedule *s)
{
	struct run_request req = schedule_request(s);

	req.points = PLAIT_POINTS_ALL;
	return req;
}

static struct err *reproduce(struct job *j)
{
	struct schedule schedule = { 0 };
	struct run_request req;
	struct err *err = schedule_load(j->options->plait, &schedule);

	if (err)
		return err;
	req = job_replay_of(&schedule);
	if (j->target.event_budget || !req.event_budget)
		req.event_budget = 0; /* the target's decides: shorten_hang */
	else
		j->target.event_budget = req.event_budget; /* a hang: its decisions end there */
	err = session_run(j->session, &req, &j->failing);
	schedule_deinit(&schedule);
	if (!err && j->failing.diverged)
		err = err_new(ERR_INCONCLUSIVE, "%s does not fit this program any more: %s",
			      j->options->plait,
			      j->failing.text ? j->failing.text : "the run diverged");
	if (!err && !run_failed(&j->failing))
		err = err_new(ERR_INCONCLUSIVE,
			      "%s passed when it was replayed; explain needs a failing schedule "
			      "(`unplait hunt` finds one)",
			      j->options->plait);
	return err;
}

/* A run that hangs uses up its budget each time, and with few switches a budget is millions of
 * events: from here on a smaller one decides. */
static struct err *shorten_hang(struct job *j)
{
	uint64_t budget = j->target.event_budget;
	struct err *err;

	if (j->failing.outcome != PLAIT_OUTCOME_HANG || j->failing.timed_out)
		return NULL;
	j->target.event_budget = MIN(budget ? budget : UINT64_MAX, HANG_EVENTS);
	err = reproduce(j);
	if (!err)
		return NULL;
	err_free(err);
	j->target.event_budget = budget;
	return reproduce(j);
}

/* run_seconds: what one run takes, in real time. */
static struct err *shrink(struct job *j, double run_seconds)
{
	struct run_result small = { 0 };
	uint64_t runs = 0;
	/* a run that hangs takes its whole budget each time */
	uint64_t most = MIN(MAX(MINIMIZE_STEPS / (j->failing.steps + 1), 30), MINIMIZE_RUNS);
	struct err *err;

	most = MIN(most, 1 + (uint64_t)(j->seconds * MINIMIZE_SHARE / MAX(run_seconds, 1e-6)));
	err = minimize_run(j->session, &j->failing, most, &small, &runs);
	if (err)
		return err;
	log_verbose("minimized from %zu to %zu switches in %llu runs",
		    schedule_switches(&j->failing.schedule), schedule_switches(&small.schedule),
		    (unsigned long long)runs);
	run_result_deinit(&j->failing);
	j->failing = small;
	return NULL;
}

/* The failing run was found by other means: once more, in this session. */
static struct err *adopt_failing(struct job *j)
{
	struct run_request req = job_replay_of(&j->options->found->failing->schedule);
	struct err *err = session_run(j->session, &req, &j->failing);

	if (!err && !run_failed(&j->failing))
		err = err_new(ERR_INCONCLUSIVE, "the schedule that was found did not fail again");
	return err;
}

struct err *job_find_failing(struct job *j)
{
	double begin;
	struct err *err;

	if (j->options->found)
		return adopt_failing(j);
	err = reproduce(j);
	if (!err)
		err = shorten_hang(j);
	begin = clock_seconds();
	if (!err)
		err = reproduce(j); /* the first run has paid for the start of the program */
	return err ? err : shrink(j, clock_seconds() - begin);
}

uint32_t job_add_pending(struct job *j, struct step e)
{
	e.clock = j->failing.steps;
	e.pending = true;
	e.index = 0;
	for (size_t k = 0; k < j->steps.len; k++)
		e.index += j->steps.data[k].thread == e.thread;
	vec_push(&j->steps, e);
	return (uint32_t)j->steps.len - 1;
}

/* What the waiting threads of a deadlock wait to do, in the run that was recorded just now: a run
 * that records has its heap elsewhere. */
static void add_pending(struct job *j)
{
	const struct run_result *recorded = &j->native.last;

	for (size_t i = 0; i < recorded->blocked.len; i++) {
		const struct plait_blocked *b = &recorded->blocked.data[i];

		if (b->thread < j->steps.nthreads) {
			uint32_t at = job_add_pending(j, (struct step){ .thread = b->thread,
									.kind = b->kind,
									.site = b->site,
									.address = b->object });

			stacks_add(&j->stacks, at, b->frames, b->nframes);
		}
	}
	steps_link(&j->steps);
}

/* Record the failing run and keep it: later recordings reuse the folder. */
static struct err *record(struct job *j)
{
	struct run_request req = job_replay_of(&j->failing.schedule);
	struct trace *recording = NULL;
	struct err *err = native_record(&j->native, &req, &recording);

	trace_close(recording);
	if (err)
		return err;
	err = file_temp_dir(&j->copy_dir);
	if (err)
		return err;
	j->trace_copy = xasprintf("%s/failing.plait", j->copy_dir);
	err = trace_seal(j->native.dir, NULL, j->trace_copy);
	if (!err)
		err = trace_open(j->trace_copy, &j->trace);
	if (!err)
		err = steps_load(j->trace, &j->steps);
	if (!err) {
		uint32_t caught = steps_add_caught(&j->steps, &j->native.last);

		if (caught != STEP_NONE)
			stacks_add(&j->stacks, caught, j->native.last.failure.frames,
				   j->native.last.failure.nframes);
		add_pending(j);
		if (!gone_find(&j->steps, &j->native.last, &j->gone))
			j->gone.kind = BUG_UNKNOWN;
	}
	return err;
}

/* The last place at which the failing thread was seen. */
static uint32_t last_site(const struct job *j)
{
	for (size_t i = j->steps.len; i-- > 0;)
		if (j->steps.data[i].thread == j->failing.failure.thread && j->steps.data[i].site)
			return j->steps.data[i].site;
	return 0;
}

static void describe_outcome(struct job *j)
{
	struct explanation *x = j->x;
	const char *where = present_failure(x, j->trace, &j->failing.failure);
	const char *at = where ? where : present_site(x, j->trace, last_site(j));
	const char *text = j->failing.text && *j->failing.text ? j->failing.text : NULL;

	x->outcome = outcome_name(j->failing.outcome);
	if (!text && j->failing.signal)
		text = arena_strdup(&x->arena, strsignal(j->failing.signal));
	if (text && at && j->failing.outcome == PLAIT_OUTCOME_SIGNAL)
		x->outcome_text = arena_printf(&x->arena, "%s: %s, %s %s", x->outcome, text,
					       where ? "at" : "after", at);
	else
		x->outcome_text = arena_printf(&x->arena, "%s%s%s", x->outcome, text ? ": " : "",
					       text ? text : "");
}

struct err *job_record_failing(struct job *j)
{
	struct err *err = record(j);

	if (err)
		return err;
	describe_outcome(j);
	return present_stack(j->x, j->trace, &j->native.last);
}

uint32_t job_failed_thread(const struct job *j)
{
	if (j->failing.outcome == PLAIT_OUTCOME_DEADLOCK ||
	    j->failing.outcome == PLAIT_OUTCOME_HANG)
		return STEP_NONE;
	return j->failing.failure.thread;
}
