/* explain/trial.c - remedies on trial: the same random schedules without and with them. */
#include "explain/cure.h"

#include "base/err.h"
#include "base/log.h"

#include <string.h>

static struct err *one_run(const struct explain_runner *runner, const struct cure *cure, uint64_t i,
			   uint64_t seed, struct explain_result *ret)
{
	static const uint32_t strategies[] = { PLAIT_STRATEGY_POS, PLAIT_STRATEGY_RANDOM,
					       PLAIT_STRATEGY_PCT };
	struct explain_request request = {
		.strategy = strategies[i % ARRAY_SIZE(strategies)],
		.seed = seed + i,
		.constraints = cure ? cure->constraints : NULL,
		.nconstraints = cure ? cure->nconstraints : 0,
	};

	memset(ret, 0, sizeof(*ret));
	return runner->run(runner->context, &request, ret);
}

struct err *cure_rate(const struct explain_runner *runner, uint64_t enough, uint64_t max_runs,
		      uint64_t seed, double seconds, struct cure_rate *ret)
{
	double end = clock_seconds() + seconds;
	struct err *err = NULL;

	memset(ret, 0, sizeof(*ret));
	while (!err && ret->failed < enough && ret->runs < max_runs && clock_seconds() < end) {
		struct explain_result r;

		err = one_run(runner, NULL, ret->runs++, seed, &r);
		ret->failed += r.failed;
		progress("testing cures: %llu schedules without any",
			 (unsigned long long)ret->runs);
	}
	progress_done();
	return err;
}

struct err *cure_try(const struct explain_runner *runner, const struct cure *cure, uint64_t runs,
		     uint64_t seed, double seconds, bool stop_at_failure, struct cure_trial *ret)
{
	double end = clock_seconds() + seconds;
	struct err *err = NULL;

	memset(ret, 0, sizeof(*ret));
	while (!err && ret->runs < runs && clock_seconds() < end) {
		struct explain_result r;

		err = one_run(runner, cure, ret->runs++, seed, &r);
		ret->failed += r.failed;
		ret->dropped |= r.constraint_dropped;
		if (stop_at_failure && (ret->failed || ret->dropped))
			break;
		progress("testing a cure: %llu of %llu schedules", (unsigned long long)ret->runs,
			 (unsigned long long)runs);
	}
	progress_done();
	return err;
}
