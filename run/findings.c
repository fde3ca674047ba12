/* run/findings.c - see findings.h. */
#include "run/findings.h"

#include "base/err.h"

#include <stdio.h>

void findings_deinit(struct findings *f)
{
	map_deinit(&f->seen);
	map_deinit(&f->doubtful);
	if (f->has_aside)
		run_result_deinit(&f->aside.result);
}

enum { BUDGET_GROWS = 8, BUDGET_GROWTHS = 8 };

void findings_measure(struct findings *f, const struct run_result *r)
{
	if (r->outcome == PLAIT_OUTCOME_HANG)
		return;
	f->longest = MAX(f->longest, r->points);
	/* those that had not ended were only long */
	if (f->result->point_budget && r->points > f->result->point_budget)
		f->result->unfinished = 0;
	f->point_budget = MAX(f->point_budget, f->longest * HANG_FACTOR);
}

/* A run that had not ended. */
enum hang {
	HANG_REAL,
	HANG_UNFAIR,	 /* a fair schedule ends */
	HANG_UNFINISHED, /* nothing says that it would never end */
};

static bool has_evidence(const struct findings *f, const struct run_result *r)
{
	return r->stopped || (f->longest && r->points > f->longest * HANG_FACTOR);
}

/* A program that has got into a loop it cannot leave hangs under a fair schedule as well. */
static struct err *judge_budget(struct findings *f, struct session *s,
				const struct run_result *hung, enum hang *ret)
{
	struct run_request req = fair_request(hung, f->point_budget);
	struct run_result r = { 0 };
	struct err *err = session_run(s, &req, &r);

	if (!err) {
		findings_measure(f, &r);
		*ret = r.outcome != PLAIT_OUTCOME_HANG		      ? HANG_UNFAIR
		       : has_evidence(f, hung) || has_evidence(f, &r) ? HANG_REAL
								      : HANG_UNFINISHED;
	}
	run_result_deinit(&r);
	return err;
}

static struct err *judge_hang(struct findings *f, struct session *s, const struct run_result *r,
			      enum hang *ret)
{
	*ret = HANG_REAL;
	if (r->timed_out && r->moving)
		*ret = HANG_UNFINISHED;
	else if (!r->timed_out)
		return judge_budget(f, s, r, ret);
	return NULL;
}

/* Longer runs get their time, unless the user has said how much. */
static void note_unfinished(struct findings *f, const struct run_result *r)
{
	f->result->unfinished++;
	f->result->point_budget = r->timed_out		      ? 0
				  : f->o->target.point_budget ? f->o->target.point_budget
							      : f->point_budget;
	if (!r->timed_out && f->result->unfinished <= BUDGET_GROWTHS)
		f->point_budget *= BUDGET_GROWS;
}

static struct err *save(const struct findings *f, struct session *s, struct hunt_failure *failure)
{
	const struct hunt_options *o = f->o;

	if (!o->output)
		return NULL;
	failure->plait = o->all ? xasprintf("%s/fail-%zu.plait", o->output, f->result->failures.len)
				: xstrdup(o->output);
	return err_wrap(save_plait(s, &failure->result, failure->plait), "saving %s",
			failure->plait);
}

static void add(struct findings *f, uint64_t signature, struct hunt_failure *new)
{
	map_put(&f->seen, signature, f->result->failures.len);
	vec_push(&f->result->failures, *new);
}

/* Replays cost time: a failure that never repeats is not tried for ever; one that the clock ends, for
 * seconds each time, is tried once. */
enum { DOUBTS = 4, CLOCK_DOUBTS = 1 };

static bool is_hopeless(struct findings *f, const struct run_result *r, uint64_t signature)
{
	const uint64_t *times = map_find(&f->doubtful, signature);

	return times && *times >= (r->timed_out ? CLOCK_DOUBTS : DOUBTS);
}

static void set_aside(struct findings *f, uint64_t signature, struct hunt_failure *new)
{
	++*(uint64_t *)map_put(&f->doubtful, signature, 0);
	f->result->set_aside++;
	if (f->has_aside) {
		run_result_deinit(&new->result);
		return;
	}
	f->aside = *new;
	f->has_aside = true;
}

/* *dismissed: it had not ended, and that is no failure. */
static struct err *dismiss_hang(struct findings *f, struct session *s, const struct run_result *r,
				bool *dismissed)
{
	enum hang hang = HANG_REAL;
	struct err *err = NULL;

	if (r->outcome == PLAIT_OUTCOME_HANG)
		err = judge_hang(f, s, r, &hang);
	if (!err && hang == HANG_UNFINISHED)
		note_unfinished(f, r);
	else if (!err && hang == HANG_UNFAIR)
		f->result->hangs_dismissed++;
	*dismissed = !err && hang != HANG_REAL;
	return err;
}

struct err *findings_consider(struct findings *f, struct session *s, struct run_result *r,
			      uint64_t run, const char *strategy)
{
	uint64_t signature = run_signature(r), *known = map_find(&f->seen, signature);
	struct hunt_failure new = { .run = run, .times = 1, .tried = f->o->replays };
	struct err *err;
	bool dismissed;

	assert(run_failed(r));
	if (known)
		f->result->failures.data[*known].times++;
	if (known || is_hopeless(f, r, signature))
		return NULL;
	err = dismiss_hang(f, s, r, &dismissed);
	if (!err && !dismissed)
		err = confirm(s, r, &new.tried, &new.same);
	if (err || dismissed)
		return err;
	snprintf(new.strategy, sizeof(new.strategy), "%s", strategy);
	new.result = *r;
	memset(r, 0, sizeof(*r));
	if (new.same < new.tried) {
		set_aside(f, signature, &new);
		return NULL;
	}
	add(f, signature, &new);
	return save(f, s, vec_last(&f->result->failures));
}

struct err *findings_end(struct findings *f, struct session *s)
{
	if (!f->has_aside || f->result->failures.len)
		return NULL;
	f->has_aside = false;
	f->result->unconfirmed = 1;
	add(f, run_signature(&f->aside.result), &f->aside);
	return save(f, s, vec_last(&f->result->failures));
}
