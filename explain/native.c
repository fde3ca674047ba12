#include "explain/native.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/sweep.h"
#include "explain/find/load.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

struct err *native_init(struct native *n, struct session *session, const struct run_result *failing,
			double end)
{
	memset(n, 0, sizeof(*n));
	n->session = session;
	n->failing = failing;
	n->begin = clock_seconds();
	n->end = end;
	schedule_turns(&failing->schedule, &n->turns);
	return file_temp_dir_fast(&n->dir);
}

void native_deinit(struct native *n)
{
	run_result_deinit(&n->last);
	vec_deinit(&n->turns);
	if (n->dir)
		file_remove_tree(n->dir);
	free(n->dir);
	memset(n, 0, sizeof(*n));
}

static struct err *fresh_folder(struct native *n)
{
	file_remove_tree(n->dir);
	sweep_add(n->dir);
	return file_make_dirs(n->dir);
}

struct err *native_record(struct native *n, const struct run_request *request, struct trace **ret)
{
	struct run_request recorded = *request;
	struct err *err = fresh_folder(n);

	*ret = NULL;
	recorded.record_dir = n->dir;
	if (!err)
		err = session_run(n->session, &recorded, &n->last);
	if (!err)
		err = trace_open(n->dir, ret);
	return err;
}

static struct err *record_steps(struct native *n, const struct run_request *request,
				struct steps *ret)
{
	struct trace *trace;
	struct err *err = native_record(n, request, &trace);

	if (!err)
		err = steps_load(trace, ret);
	if (!err)
		steps_add_caught(ret, &n->last);
	trace_close(trace);
	return err;
}

/* The failing order of turns, or a neighbour of it. */
static void copy_turns(const struct native *n, const struct explain_request *request,
		       struct turns *ret)
{
	for (size_t i = 0; i < n->turns.len; i++)
		vec_push(ret, n->turns.data[i]);
	if (request->disturbed)
		turns_disturb(ret, request->seed);
	turns_link(ret);
}

/* What a run costs on an idle machine, roughly. */
#define SECONDS_RUN	      0.001
#define SECONDS_STEP	      2e-7
#define SECONDS_RECORDED_STEP 2e-6
#define OVERLOAD	      6 /* beyond that, time counts after all */

static void spend(struct native *n, bool recorded)
{
	n->spent += SECONDS_RUN +
		    (double)n->last.steps * (recorded ? SECONDS_RECORDED_STEP : SECONDS_STEP);
}

bool native_expired(const struct native *n)
{
	return clock_seconds() >= n->end;
}

static double spent(void *context)
{
	const struct native *n = context;

	if (native_expired(n))
		return EXPLAIN_ALL_SPENT;
	return MAX(n->spent, (clock_seconds() - n->begin) / OVERLOAD);
}

/* Where a run that does not end was when its budget was used up is chance. */
static uint64_t signature(const struct run_result *r)
{
	return r->outcome == PLAIT_OUTCOME_HANG ? PLAIT_OUTCOME_HANG : run_signature(r);
}

static struct err *run(void *context, const struct explain_request *request,
		       struct explain_result *ret)
{
	struct native *n = context;
	const struct schedule *schedule = &n->failing->schedule;
	struct run_request req = {
		.strategy = request->strategy,
		.seed = request->seed,
		.depth = 3,
		.length = n->failing->points,
		.points = PLAIT_POINTS_ALL,
		.flags = PLAIT_CONTROL_PREFIX | PLAIT_CONTROL_AGAIN |
			 (schedule->flags & PLAIT_CONTROL_NO_POISON),
		.decisions = schedule->decisions.data,
		.ndecisions = schedule_prefix(schedule, request->prefix_steps),
		.constraints = request->constraints,
		.nconstraints = request->nconstraints,
	};
	struct turns turns = { 0 };
	struct err *err;

	memset(ret, 0, sizeof(*ret));
	if (request->eager)
		req.flags |= PLAIT_CONTROL_EAGER;
	/* who waits until the others are done waits for sleepers too */
	for (size_t i = 0; i < request->nconstraints; i++)
		if (request->constraints[i].kind == PLAIT_CONSTRAINT_LATE)
			req.flags |= PLAIT_CONTROL_EAGER;
	if (request->strategy == PLAIT_STRATEGY_FOLLOW) {
		copy_turns(n, request, &turns);
		req.turns = turns.data;
		req.nturns = turns.len;
		req.flags |= PLAIT_CONTROL_EAGER; /* a sleeper is due when its turn comes */
	}
	if (request->record)
		err = record_steps(n, &req, &ret->steps);
	else
		err = session_run(n->session, &req, &n->last);
	vec_deinit(&turns);
	if (err)
		return err;
	spend(n, request->record);
	ret->failed = run_failed(&n->last);
	ret->signature = ret->failed ? signature(&n->last) : 0;
	ret->same_failure = ret->failed && ret->signature == signature(n->failing);
	ret->end = &n->last;
	ret->constraint_dropped = n->last.uncontrolled & PLAIT_UNCONTROLLED_CONSTRAINT;
	return NULL;
}

struct explain_runner native_runner(struct native *n)
{
	return (struct explain_runner){ .run = run, .spent = spent, .context = n };
}
