/* explain/trial.c - remedies on trial: the same random schedules without and with them.
 *
 * Every other schedule is a neighbour of the failing one: the failure being explained is frequent
 * there however rare it is elsewhere, so a few hundred runs can tell whether a remedy meets it. */
#include "explain/cure.h"

#include "base/err.h"
#include "base/log.h"

#include <string.h>

static struct err *one_run(const struct explain_runner *runner, const struct cure *cure, uint64_t i,
			   uint64_t seed, struct explain_result *ret)
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
	};

	memset(ret, 0, sizeof(*ret));
	return runner->run(runner->context, &request, ret);
}

struct err *cure_try(const struct explain_runner *runner, const struct cure *cure,
		     const struct trial_limits *limits, struct cure_trial *ret)
{
	double end = clock_seconds() + limits->seconds;
	struct err *err = NULL;

	memset(ret, 0, sizeof(*ret));
	while (!err && ret->runs < limits->runs && clock_seconds() < end &&
	       ret->failed + ret->other < limits->failures) {
		struct explain_result r;

		err = one_run(runner, cure, ret->runs++, limits->seed, &r);
		ret->failed += r.failed && r.same_failure;
		ret->other += r.failed && !r.same_failure;
		ret->dropped |= r.constraint_dropped;
		progress("testing %s: %llu of %llu schedules", cure ? "a cure" : "without a cure",
			 (unsigned long long)ret->runs, (unsigned long long)limits->runs);
	}
	progress_done();
	return err;
}
