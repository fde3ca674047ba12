/* coop/fleet.c - instances under control: a fleet on one machine, with all the variety of schedules
 * that a seed can give, and pilot runs to learn what there is to record. */
#include "coop/program.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "run/run.h"
#include "trace/trace.h"

/* Run with all events recorded, and make a log of what is chosen. */
static struct err *run_into(struct session *s, const char *dir, struct run_request *req,
			    struct coop_program *p, const bool *chosen, struct coop *ret)
{
	struct run_result r = { 0 };
	struct trace_outcome outcome;
	struct trace *t = NULL;
	char *why = NULL;
	struct err *err;

	req->record_dir = dir;
	err = session_run(s, req, &r);
	if (!err)
		err = trace_open(dir, &t);
	if (!err) {
		outcome = trace_meta(t)->outcome;
		outcome.kind = r.outcome;
		outcome.exit_code = r.exit_code;
		outcome.signal = r.signal;
		err = coop_load_trace(ret, t, p, chosen, &outcome, &why);
	}
	if (!err && why)
		log_debug(1, "seed %llu: %s", (unsigned long long)req->seed, why);
	free(why);
	trace_close(t);
	run_result_deinit(&r);
	return err;
}

static struct err *run_recorded(struct session *s, struct run_request *req, struct coop_program *p,
				const bool *chosen, struct coop *ret)
{
	char *dir = NULL;
	struct err *err = file_temp_dir(&dir);

	if (err)
		return err;
	err = run_into(s, dir, req, p, chosen, ret);
	file_remove_tree(dir);
	free(dir);
	return err;
}

static struct run_request request(uint32_t strategy, uint64_t seed)
{
	return (struct run_request){ .strategy = strategy,
				     .seed = seed,
				     .depth = 3,
				     .length = 1000,
				     .points = PLAIT_POINTS_LEARNED,
				     .flags = PLAIT_CONTROL_LEARN };
}

struct err *fleet_run(struct session *s, struct coop_program *p, uint32_t strategy, uint64_t seed,
		      const bool *chosen, struct coop *ret)
{
	struct run_request req = request(strategy, seed);

	return run_recorded(s, &req, p, chosen, ret);
}

struct err *fleet_collect(struct session *s, struct coop_program *p, uint32_t failing,
			  uint32_t passing, double seconds, uint64_t seed, struct coop *ret)
{
	static const uint32_t strategies[] = { PLAIT_STRATEGY_PCT, PLAIT_STRATEGY_RANDOM,
					       PLAIT_STRATEGY_POS };
	double end = clock_seconds() + seconds;
	struct run_result r = { 0 };
	struct err *err = NULL;

	for (uint64_t i = 0; !err && failing && clock_seconds() < end; i++) {
		struct run_request req = request(strategies[i % 3], seed + i);
		uint32_t *left;

		err = session_run(s, &req, &r);
		left = r.outcome == PLAIT_OUTCOME_PASS ? &passing : &failing;
		if (err || r.outcome == PLAIT_OUTCOME_UNKNOWN || !*left)
			continue;
		--*left;
		req = schedule_request(&r.schedule);
		err = run_recorded(s, &req, p, NULL, ret);
	}
	run_result_deinit(&r);
	return err;
}

struct err *fleet_pilot(struct session *s, struct coop_program *p, uint32_t runs, uint64_t seed)
{
	struct coop c = { 0 };
	struct err *err = NULL;

	for (uint32_t i = 0; i < runs && !err; i++)
		err = fleet_run(s, p, i ? PLAIT_STRATEGY_PCT : PLAIT_STRATEGY_FAIR, seed + i, NULL,
				&c);
	for (uint32_t e = 0; e < c.elements.len && !err; e++) {
		uint32_t k = coop_program_find(p, c.elements.data[e].id), different = 0, first[16];

		if (k == COOP_NONE)
			continue;
		for (uint32_t i = 0; i < c.logs.len && i < ARRAY_SIZE(first); i++) {
			uint32_t v = coop_find(&c, i, e), n = 0;

			first[i] = v;
			while (first[n] != v)
				n++;
			different += n == i;
			if (v != COOP_NONE)
				p->elements.data[k].accesses += c.vectors.data[v].accesses;
		}
		p->elements.data[k].seen = p->elements.data[k].accesses > 0;
		if (c.logs.len > 1)
			p->elements.data[k].dispersion =
				(double)(different - 1) / (double)(MIN(c.logs.len, 16) - 1);
	}
	coop_deinit(&c);
	return err;
}
