/* cmd/cmd-minimize.c - fewer context switches, same failure. */
#include "cmd/cmd.h"
#include "cmd/show-run.h"
#include "cmd/pinned.h"
#include "cmd/trust.h"
#include "run/run.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <stdio.h>

struct minimized {
	struct run_result before, after;
	uint64_t runs;
	unsigned tried, same;
};

static struct err *minimize(struct session *session, const struct schedule *schedule,
			    uint64_t max_runs, struct minimized *ret)
{
	struct run_request req = schedule_request(schedule);
	struct err *err = session_run(session, &req, &ret->before);

	if (!err && (ret->before.diverged || !run_failed(&ret->before)))
		err = err_new(
			ERR_INCONCLUSIVE, "the schedule does not fail when it is replayed%s%s",
			ret->before.text ? ": " : "", ret->before.text ? ret->before.text : "");
	if (!err)
		err = minimize_run(session, &ret->before, max_runs, &ret->after, &ret->runs);
	ret->tried = 5;
	if (!err)
		err = confirm(session, &ret->after, &ret->tried, &ret->same);
	return err;
}

static struct err *print(const struct cmd_common *common, const struct minimized *m,
			 const char *path)
{
	size_t before = schedule_switches(&m->before.schedule);
	size_t after = schedule_switches(&m->after.schedule);
	struct json j;

	if (!common->json) {
		printf("%zu switches instead of %zu, %" PRIu64 " events instead of %" PRIu64
		       ", in %" PRIu64 " runs\n  replayed %u of %u times; saved as %s\n",
		       after, before, m->after.steps, m->before.steps, m->runs, m->same, m->tried,
		       path);
		return NULL;
	}
	json_init(&j);
	json_begin_answer(&j);
	json_uint(&j, "switches_before", before);
	json_uint(&j, "switches", after);
	json_uint(&j, "events_before", m->before.steps);
	json_uint(&j, "events", m->after.steps);
	json_uint(&j, "runs", m->runs);
	json_outcome(&j, "outcome", &m->after, path);
	json_begin_object(&j, "replays");
	json_uint(&j, "tried", m->tried);
	json_uint(&j, "same", m->same);
	json_end(&j);
	json_str(&j, "plait", path);
	json_end(&j);
	return cmd_write_json(common, &j);
}

static struct err *minimize_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct cmd_common common = { 0 };
	struct target target = { 0 };
	const char *output = NULL, *fail_on = NULL;
	uint64_t runs = 2000;
	bool trust = false;
	const struct opt table[] = {
		OPT_STR('o', "output", "FILE", &output, "where to save it (FILE.min.plait)"),
		OPT_COUNT('n', "runs", "N", &runs, "use at most N runs (2000)"),
		OPT_REAL(0, "timeout", "SEC", &target.timeout, "real seconds per run (10)"),
		OPT_STR(0, "fail-on", "WHAT", &fail_on, FAIL_ON_HELP),
		OPT_FLAG(0, "trust", &trust, TRUST_HELP),
		OPT_END,
	};
	struct minimized m = { 0 };
	struct schedule schedule = { 0 };
	struct session *session = NULL;
	_cleanup_(xfreep) char *path = NULL;
	struct err *err = cmd_parse(cmd, table, &common, true, &argc, &argv);

	if (!err && argc < 1)
		err = cmd_usage(cmd, "which failing plait?");
	if (!err)
		err = run_options(fail_on, NULL, NULL, &target, NULL);
	if (!err)
		err = trust_check(argv[0], argc > 1, trust);
	if (!err)
		err = pinned(argv[0], argv + 1, &target, NULL);
	if (!err)
		err = schedule_load(argv[0], &schedule);
	if (!err)
		err = target_from_plait(&target, argv[0], argv + 1);
	if (!err) {
		target.fail_on_exit |= schedule.outcome == PLAIT_OUTCOME_EXIT;
		path = output ? xstrdup(output) : xasprintf("%s.min.plait", argv[0]);
		err = session_open(&target, &session);
	}
	if (!err)
		err = minimize(session, &schedule, runs, &m);
	if (!err)
		err = save_plait(session, &m.after, path);
	if (!err)
		err = print(&common, &m, path);
	if (!err)
		*status = m.same == m.tried ? 1 : 4;
	run_result_deinit(&m.before);
	run_result_deinit(&m.after);
	session_close(session);
	target_deinit(&target);
	schedule_deinit(&schedule);
	return err;
}

const struct cmd cmd_minimize = {
	.name = "minimize",
	.synopsis = "[OPTION]... FILE.plait [-- PROGRAM [ARG]...]",
	.summary = "fewer context switches, same failure",
	.help = "Status: 1 done and confirmed by replays, 4 the failure does not reproduce.\n",
	.main = minimize_main,
};
