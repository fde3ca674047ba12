/* run/samples.c - a sample of failing and of passing runs under control.
 *
 * Statistics want runs that differ as real ones do, so the strategies take turns and every seed is
 * used once; the first few runs take every access as a scheduling point and so learn which sites
 * are shared. A run that is wanted is repeated with its events recorded (save_plait). */
#include "run/samples.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "trace/trace.h"

#include <stdlib.h>

enum { LEARNING_RUNS = 5, ALL_POINTS_EVERY = 4 };

static struct run_request request(const struct samples_options *o, uint64_t run, uint64_t longest)
{
	static const uint32_t turns[] = { PLAIT_STRATEGY_RANDOM, PLAIT_STRATEGY_POS,
					  PLAIT_STRATEGY_PCT, PLAIT_STRATEGY_RANDOM };
	bool all = run < LEARNING_RUNS || run % ALL_POINTS_EVERY == 0;

	return (struct run_request){
		.strategy = run < LEARNING_RUNS ? PLAIT_STRATEGY_RANDOM : turns[run % 4],
		.seed = o->seed + run,
		.depth = 3,
		.length = longest ? longest : 100,
		.points = all ? PLAIT_POINTS_ALL : PLAIT_POINTS_LEARNED,
		.flags = PLAIT_CONTROL_LEARN | PLAIT_CONTROL_AGAIN,
	};
}

static struct err *keep(const struct samples_options *o, struct session *s,
			const struct run_result *r, struct samples_result *ret)
{
	_cleanup_(xfreep) char *path =
		xasprintf("%s/%04u-%s.plait", o->folder,
			  (unsigned)(ret->failing + ret->passing + 1), outcome_name(r->outcome));

	if (run_failed(r))
		ret->failing++;
	else
		ret->passing++;
	return save_plait(s, r, path);
}

/* Could not be judged, or a hang that may be the scheduler's fault. */
static bool unusable(const struct run_result *r)
{
	return r->outcome == PLAIT_OUTCOME_UNKNOWN || r->outcome == PLAIT_OUTCOME_HANG ||
	       r->diverged;
}

struct err *samples_run(const struct samples_options *o, struct samples_result *ret)
{
	uint64_t max = o->max_runs ? o->max_runs : 20000, longest = 0;
	double end = clock_seconds() + (o->seconds > 0 ? o->seconds : 60);
	struct run_result r = { 0 };
	struct session *s;
	struct err *err = session_open(&o->target, &s);

	*ret = (struct samples_result){ 0 };
	if (err)
		return err;
	err = file_make_dirs(o->folder);
	while (!err && ret->runs < max && clock_seconds() < end &&
	       (ret->failing < o->wanted || ret->passing < o->wanted)) {
		struct run_request req = request(o, ret->runs, longest);
		bool wanted;

		err = session_run(s, &req, &r);
		if (err)
			break;
		ret->runs++;
		longest = MAX(longest, r.points);
		wanted = run_failed(&r) ? ret->failing < o->wanted : ret->passing < o->wanted;
		if (wanted && !unusable(&r))
			err = keep(o, s, &r, ret);
		progress("%llu schedules: %llu failing, %llu passing",
			 (unsigned long long)ret->runs, (unsigned long long)ret->failing,
			 (unsigned long long)ret->passing);
	}
	progress_done();
	run_result_deinit(&r);
	session_close(s);
	return err;
}
