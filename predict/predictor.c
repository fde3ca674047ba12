/* predict/predictor.c - predict as a part of hunt's auto: see struct predictor (run/run.h). */
#include "predict/predict.h"

#include "base/err.h"

static struct err *predict(void *arg, const struct target *target, const char *plait,
			   const struct predict_limits *limits, struct predicted *ret)
{
	struct predict_options o = { .target = *target,
				     .seconds = limits->seconds,
				     .runs = limits->runs,
				     .questions = limits->questions,
				     .decisions = limits->decisions,
				     .seed = 1,
				     .steady = true,
				     .replays = 1 };
	struct predict_result r = { 0 };
	struct predict *p = NULL;
	struct err *err = predict_open(&o, &p);

	(void)arg;
	if (!err)
		err = predict_add(p, plait);
	if (!err)
		err = predict_run(p, &r);
	for (size_t i = 0; i < r.found.failures.len; i++) {
		vec_push(&ret->failing, ((struct schedule){ 0 }));
		schedule_copy(&r.found.failures.data[i].result.schedule, vec_last(&ret->failing));
	}
	ret->runs = r.native_runs;
	predict_result_deinit(&r);
	predict_close(p);
	return err;
}

const struct predictor predict_predictor = { .predict = predict };
