/* cmd/cmd-coop.c - `unplait coop`: record a little on many machines, merge, replay. */
#include "cmd/coop.h"

#include "coop/store.h"
#include "sched/strategy.h"

#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

static struct err *parse_share(const char *text, double *ret)
{
	char *end;

	if (strcmp(text, "1") == 0 || strcmp(text, "1spe") == 0) {
		*ret = 0;
		return NULL;
	}
	*ret = strtod(text, &end) / 100;
	if (end == text || (*end && strcmp(end, "%") != 0) || *ret <= 0 || *ret > 1)
		return err_new(ERR_USAGE,
			       "--share is a percentage such as 25%%, or 1 for a single element");
	return NULL;
}

static struct err *check(struct coop_options *o)
{
	struct err *err = parse_share(o->share, &o->choose.share);

	if (err)
		return err;
	if (strcmp(o->mode, "order") != 0 && strcmp(o->mode, "block") != 0)
		return err_new(ERR_USAGE, "--mode is order or block, not '%s'", o->mode);
	o->plait_mode = o->mode[0] == 'b' ? PLAIT_MODE_BLOCK : PLAIT_MODE_ORDER;
	if (!coop_heuristic_find(o->heuristic, &o->merge.heuristic))
		return err_new(ERR_USAGE, "--heuristic is sgm, dgm or 1spe, not '%s'",
			       o->heuristic);
	if (!coop_metric_find(o->metric, &o->merge.metric))
		return err_new(ERR_USAGE, "--metric is psim, dsim or dhs, not '%s'", o->metric);
	if (o->fail_on && strcmp(o->fail_on, "exit") != 0)
		return err_new(ERR_USAGE, "--fail-on knows 'exit' only, not '%s'", o->fail_on);
	if (strcmp(o->scheduler, "native") != 0 &&
	    sched_strategy_find(o->scheduler) == PLAIT_STRATEGY_COUNT)
		return err_new(ERR_USAGE, "--scheduler is native, random, pct or pos, not '%s'",
			       o->scheduler);
	if (o->instances < 1 || o->instances > 1000000 || o->attempts < 1)
		return err_new(ERR_USAGE, "--instances and --attempts begin at 1");
	o->target.fail_on_exit = o->fail_on != NULL;
	o->choose.instances = (uint32_t)o->instances;
	o->choose.seed = o->merge.seed = o->seed;
	o->choose.informed = o->informed;
	o->merge.limit = (uint32_t)o->attempts;
	return NULL;
}

/* ---- what the subcommands share ---- */

struct err *coop_open_program(struct coop_options *o, const char *binary, struct coop_program **p,
			      struct session **s)
{
	struct err *err = coop_program_open(binary, o->plait_mode, p);

	if (!err && o->command) {
		o->target.argv = o->command;
		err = session_open(&o->target, s);
	}
	return err;
}

struct err *coop_add_to_store(const char *path, const struct coop *c, uint64_t *added)
{
	struct coop_store *s = NULL;
	struct err *err = coop_store_open(path, &s);

	if (!err)
		err = coop_store_add(s, c, added);
	coop_store_close(s);
	return err;
}

/* ---- the command ---- */

/* Everything behind -- is the program; cut it off. */
static void take_command(struct coop_options *o, int *argc, char **argv)
{
	for (int i = 0; i < *argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		o->command = i + 1 < *argc ? argv + i + 1 : NULL;
		argv[i] = NULL;
		*argc = i;
		return;
	}
}

static struct err *coop_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct coop_options o = { .share = "25%",
				  .mode = "order",
				  .heuristic = "sgm",
				  .metric = "dsim",
				  .scheduler = "native",
				  .instances = 100,
				  .attempts = 500,
				  .seed = 1 };
	const struct opt table[] = {
		OPT_STR(0, "share", "P", &o.share,
			"share of the elements per profile (default 25%)"),
		OPT_COUNT('n', "instances", "N", &o.instances, "how many instances (default 100)"),
		OPT_FLAG(0, "informed", &o.informed,
			 "profiles by load (share of the accesses), not uniform"),
		OPT_FLAG(0, "random-at-start", &o.at_start,
			 "plan: a pool of 1000 profiles, for instances that draw one at start"),
		OPT_STR('m', "mode", "MODE", &o.mode, "order (variables) or block (basic blocks)"),
		OPT_U64(0, "seed", "N", &o.seed, "of every random choice (default 1)"),
		OPT_STR('o', "output", "PATH", &o.output,
			"plan: folder of profiles; record: of logs; merge: the plait"),
		OPT_STR(0, "plan", "DIR", &o.plan, "record: the profiles that `coop plan` wrote"),
		OPT_STR(0, "store", "FILE", &o.store, "record: add the logs to this store"),
		OPT_STR(0, "scheduler", "S", &o.scheduler,
			"record: native (default), or under control: random, pct, pos"),
		OPT_STR(0, "heuristic", "H", &o.heuristic, "merge: sgm (default), dgm or 1spe"),
		OPT_STR(0, "metric", "M", &o.metric, "merge: dsim (default), psim or dhs"),
		OPT_COUNT(0, "attempts", "N", &o.attempts, "merge: give up after N (default 500)"),
		OPT_FLAG(0, "again", &o.again, "merge: try what was tried before, too"),
		OPT_REAL(0, "timeout", "SEC", &o.target.timeout,
			 "real seconds per run (default 10)"),
		OPT_STR(0, "input", "FILE", &o.target.input, "standard input of the program"),
		OPT_STR(0, "fail-on", "exit", &o.fail_on, "a non-zero exit status is a failure"),
		OPT_END,
	};
	const char *what;
	struct err *err;

	take_command(&o, &argc, argv);
	err = cmd_parse(cmd, table, &o.common, true, &argc, &argv);
	if (!err)
		err = check(&o);
	if (err)
		return err;
	what = argc > 0 ? argv[0] : "";
	if (strcmp(what, "plan") == 0)
		return coop_cmd_plan(cmd, &o, argc - 1, argv + 1);
	if (strcmp(what, "record") == 0)
		return coop_cmd_record(cmd, &o, status);
	if (strcmp(what, "add") == 0)
		return coop_cmd_add(cmd, &o, argc - 1, argv + 1);
	if (strcmp(what, "merge") == 0)
		return coop_cmd_merge(cmd, &o, argc - 1, argv + 1, status);
	if (strcmp(what, "stats") == 0)
		return coop_cmd_stats(cmd, argc - 1, argv + 1, status);
	return cmd_usage(cmd, "plan, record, add, merge or stats?");
}

const struct cmd cmd_coop = {
	.name = "coop",
	.synopsis = "plan|record|add|merge|stats [OPTION]... [STORE|LOG...] [-- PROGRAM [ARG]...]",
	.summary = "record a little on many machines, merge it, replay the failure",
	.help = "Status 1 when a failure was recorded or reproduced, 4 when the attempts ran "
		"out.\n\n"
		"    unplait coop plan --share 25% -n 200 -o profiles -- ./server --test\n"
		"    unplait coop record -n 200 --plan profiles --store logs.db -- ./server "
		"--test\n"
		"    unplait coop add logs.db from-the-field/*.plait\n"
		"    unplait coop stats logs.db\n"
		"    unplait coop merge logs.db -o fail.plait -- ./server --test\n",
	.main = coop_main,
};
