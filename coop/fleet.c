/* coop/fleet.c - instances under control: a fleet on one machine, with all the variety of schedules
 * that a seed can give, and pilot runs to learn what there is to record. */
#include "coop/program.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "run/run.h"
#include "trace/trace.h"

static struct err *run_into(struct session *s, const char *dir, uint32_t strategy, uint64_t seed,
			    struct coop_program *p, const bool *chosen, struct coop *ret)
{
	struct run_request req = { .strategy = strategy,
				   .seed = seed,
				   .depth = 3,
				   .length = 1000,
				   .points = PLAIT_POINTS_LEARNED,
				   .flags = PLAIT_CONTROL_LEARN,
				   .record_dir = dir };
	struct run_result r = { 0 };
	struct trace_outcome outcome;
	struct trace *t = NULL;
	char *why = NULL;
	struct err *err = session_run(s, &req, &r);

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
		log_debug(1, "seed %llu: %s", (unsigned long long)seed, why);
	free(why);
	trace_close(t);
	run_result_deinit(&r);
	return err;
}

struct err *fleet_run(struct session *s, struct coop_program *p, uint32_t strategy, uint64_t seed,
		      const bool *chosen, struct coop *ret)
{
	char *dir = NULL;
	struct err *err = file_temp_dir(&dir);

	if (err)
		return err;
	err = run_into(s, dir, strategy, seed, p, chosen, ret);
	file_remove_tree(dir);
	free(dir);
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
		uint32_t k = program_find(p, c.elements.data[e].id), different = 0, first[16];

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
