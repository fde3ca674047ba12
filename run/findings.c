/* run/findings.c - see findings.h. */
#include "run/findings.h"

#include "base/err.h"

#include <stdio.h>

void findings_deinit(struct findings *f)
{
	map_deinit(&f->seen);
}

/* A hang under an unfair schedule is the scheduler's fault: half of the run again, then fairly. A
 * program that has got into a loop it cannot leave hangs all the same. */
static struct err *really_hangs(struct session *s, const struct run_result *hung, bool *ret)
{
	struct run_request req = schedule_request(&hung->schedule);
	struct run_result r = { 0 };
	struct err *err;

	req.strategy = PLAIT_STRATEGY_FAIR;
	req.seed = 1;
	req.points = PLAIT_POINTS_ALL;
	req.flags |= PLAIT_CONTROL_PREFIX;
	req.event_budget = 0;
	req.ndecisions = 0;
	while (req.ndecisions < hung->schedule.decisions.len &&
	       req.decisions[req.ndecisions].step < hung->steps / 2)
		req.ndecisions++;
	err = session_run(s, &req, &r);
	*ret = !err && r.outcome == PLAIT_OUTCOME_HANG;
	run_result_deinit(&r);
	return err;
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

struct err *findings_consider(struct findings *f, struct session *s, struct run_result *r,
			      uint64_t run, const char *strategy)
{
	uint64_t signature = run_signature(r), *known = map_find(&f->seen, signature);
	struct hunt_failure new = { .run = run, .times = 1, .tried = f->o->replays };
	struct err *err = NULL;
	bool hangs = true;

	assert(run_failed(r));
	if (known) {
		f->result->failures.data[*known].times++;
		return NULL;
	}
	if (r->outcome == PLAIT_OUTCOME_HANG && !r->timed_out)
		err = really_hangs(s, r, &hangs);
	if (err)
		return err;
	if (!hangs) {
		f->result->hangs_dismissed++;
		return NULL;
	}
	err = confirm(s, r, new.tried, &new.same);
	if (err)
		return err;
	if (new.same < new.tried)
		f->result->unconfirmed++;
	map_put(&f->seen, signature, f->result->failures.len);
	snprintf(new.strategy, sizeof(new.strategy), "%s", strategy);
	new.result = *r;
	memset(r, 0, sizeof(*r));
	vec_push(&f->result->failures, new);
	return save(f, s, vec_last(&f->result->failures));
}
