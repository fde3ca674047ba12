/* explain/cure/trial.c - cures on trial: the same random schedules without and with them.
 *
 * Every other schedule is a neighbour of the failing one: the failure being explained is frequent
 * there however rare it is elsewhere, so a few hundred runs can tell whether a cure meets it. */
#include "explain/cure/cure.h"

#include "base/err.h"
#include "base/log.h"

#include <string.h>

static struct err *one_run(const struct explain_runner *runner, const struct cure *cure, uint64_t i,
			   uint64_t seed, bool record, struct explain_result *ret)
{
	static const uint32_t strategies[] = { PLAIT_STRATEGY_FOLLOW, PLAIT_STRATEGY_POS,
					       PLAIT_STRATEGY_FOLLOW, PLAIT_STRATEGY_RANDOM,
					       PLAIT_STRATEGY_FOLLOW, PLAIT_STRATEGY_PCT };
	struct explain_request request = {
		.strategy = strategies[i % ARRAY_SIZE(strategies)],
		.seed = seed + i,
		.disturbed = true,
		.constraints = cure ? cure->constraints : NULL,
		.nconstraints = cure ? cure->nconstraints : 0,
		.record = record,
	};

	memset(ret, 0, sizeof(*ret));
	return runner->run(runner->context, &request, ret);
}

static void count(struct cure_trial *t, const struct trial_limits *limits,
		  const struct explain_result *r)
{
	size_t face = faces_of(limits->faces, r);
	bool counted = face < FACES && limits->counted & 1u << face;

	t->runs++;
	t->failed += r->failed && counted;
	t->other += r->failed && !counted;
	if (face < FACES)
		t->faces[face]++;
	t->dropped |= r->constraint_dropped;
}

struct cure_trial cure_trial_as(const struct cure_trial *t, uint32_t faces)
{
	struct cure_trial as = *t;

	as.failed = 0;
	for (size_t i = 0; i < FACES; i++)
		as.failed += faces & 1u << i ? t->faces[i] : 0;
	as.other = t->failed + t->other - as.failed;
	return as;
}

struct err *cure_try(const struct explain_runner *runner, const struct cure *cure,
		     const struct trial_limits *limits, const struct trial_watch *watch,
		     struct cure_trial *ret)
{
	double begin = explain_spent(runner), now = begin;
	struct err *err = NULL;
	uint64_t steps = 0;

	memset(ret, 0, sizeof(*ret));
	while (!err && ret->runs < limits->runs && now < begin + limits->seconds &&
	       ret->failed + ret->other < limits->failures) {
		bool record = watch && ret->runs < watch->runs && steps < watch->steps &&
			      now < begin + watch->seconds;
		struct explain_result r;

		err = one_run(runner, cure, ret->runs, limits->seed, record, &r);
		count(ret, limits, &r);
		if (!err && record)
			watch->see(watch->context, &r);
		steps += r.steps.len;
		steps_deinit(&r.steps);
		progress("testing %s: %llu of %llu schedules", cure ? "a cure" : "without a cure",
			 (unsigned long long)ret->runs, (unsigned long long)limits->runs);
		now = explain_spent(runner);
	}
	progress_done();
	return err;
}
