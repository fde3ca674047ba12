/* cmd/cmd-replay.c - run a recorded schedule again, exactly. */
#include "cmd/cmd.h"
#include "cmd/pinned.h"
#include "cmd/replay-script.h"
#include "cmd/show-run.h"
#include "cmd/show-steps.h"
#include "cmd/trust.h"
#include "cmd/witness-file.h"
#include "base/file.h"
#include "run/ends.h"
#include "run/run.h"
#include "trace/trace.h"
#include "witness/witness.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_same(const struct run_result *r, const struct schedule *s)
{
	return !r->diverged && r->outcome == s->outcome && (!s->steps || r->steps == s->steps) &&
	       (!s->hash || r->hash == s->hash);
}

static void print_text(const struct schedule *s, const struct run_result *r, const char *plait,
		       uint64_t n, uint64_t same, bool live)
{
	struct strbuf sb = { 0 };

	show_outcome(r, &sb);
	show_failure_stack(r, plait, &sb);
	if (r->diverged)
		strbuf_addf(&sb, "  diverged after %" PRIu64 " of %" PRIu64 " events\n",
			    r->diverged_step, s->steps);
	else if (!is_same(r, s))
		strbuf_addf(&sb,
			    "  another run than recorded: %" PRIu64 " events for %" PRIu64
			    ", outcome %s for %s\n",
			    r->steps, s->steps, outcome_name(r->outcome), outcome_name(s->outcome));
	strbuf_addf(&sb,
		    "  replayed %" PRIu64 " of %" PRIu64 " times, %" PRIu64
		    " events, %zu switches\n",
		    same, n, s->steps, schedule_switches(s));
	if (!live)
		show_output(r, false, &sb);
	show_uncontrolled(r->uncontrolled, NULL, &sb);
	fputs(strbuf_str(&sb), stdout);
	strbuf_deinit(&sb);
}

/* Once more with all events recorded, shown in order. */
static struct err *step(struct session *s, const struct run_result *r)
{
	struct strbuf sb = { 0 };
	struct trace *t = NULL;
	struct err *err;
	char *dir = NULL, *path;

	err = file_temp_dir(&dir);
	if (err)
		return err;
	path = xasprintf("%s/steps.plait", dir);
	err = save_plait(s, r, path);
	if (!err)
		err = trace_open(path, &t);
	if (!err)
		err = show_steps(t, &sb);
	fputs(strbuf_str(&sb), stdout);
	strbuf_deinit(&sb);
	trace_close(t);
	file_remove_tree(dir);
	free(path);
	free(dir);
	return err;
}

/* Somebody outside must interrupt a thread, as hunt does: see rt/control/away.c. */
static bool needs_nudges(const struct schedule *s)
{
	for (size_t i = 0; i < s->decisions.len; i++)
		if (s->decisions.data[i].kind == DECISION_OUTSIDE)
			return true;
	return false;
}

/* A command that looks at the failure needs the program to have run: `bt`, `info locals`. */
static bool starts_itself(const char *gdb_command)
{
	return strstr(gdb_command, "run") || strstr(gdb_command, "start") ||
	       strstr(gdb_command, "plait goto");
}

struct gdb_words VEC_FIELDS(char *);

/* The commands as arguments of gdb, NULL-terminated. run: the program is run first, unless they do so. */
static void gdb_arguments(const struct strings *commands, bool run, struct gdb_words *ret)
{
	if (commands->len) {
		vec_push(ret, "-batch");
		if (run && !starts_itself(commands->data[0])) {
			vec_push(ret, "-ex");
			vec_push(ret, "run");
		}
	}
	for (size_t i = 0; i < commands->len; i++) {
		vec_push(ret, "-ex");
		vec_push(ret, (char *)commands->data[i]);
	}
	vec_push(ret, NULL);
}

static struct err *debug(struct session *session, const struct schedule *schedule,
			 const struct strings *commands, int *status)
{
	bool nudges = needs_nudges(schedule);
	struct run_request req = schedule_request(schedule);
	struct gdb_words extra = { 0 };
	struct err *err;

	if (nudges)
		log_warn("a thread spins in code that was not built with unplait: nobody "
			 "interrupts it under gdb, where it will stay");
	gdb_arguments(commands, !nudges, &extra);
	err = session_debug(session, &req, extra.data, status);
	vec_deinit(&extra);
	return err;
}

static struct err *debug_script(const struct script *s, const struct target *t,
				const struct strings *commands, int *status)
{
	struct gdb_words extra = { 0 };
	struct err *err;

	gdb_arguments(commands, true, &extra);
	err = script_debug(t, s, extra.data, status);
	vec_deinit(&extra);
	return err;
}

static struct err *print_json(const struct cmd_common *common, const struct run_result *r,
			      const char *plait, uint64_t times, uint64_t same)
{
	struct json j;

	json_init(&j);
	json_begin_answer(&j);
	json_uint(&j, "times", times);
	json_uint(&j, "same", same);
	json_bool(&j, "diverged", r->diverged);
	json_outcome(&j, "outcome", r, plait);
	json_end(&j);
	return cmd_write_json(common, &j);
}

/* The last run is left in *r; *same: how many went as the schedule says. */
static struct err *replay_times(struct session *session, const struct schedule *schedule,
				uint64_t times, struct run_result *r, uint64_t *same)
{
	struct err *err = NULL;

	for (uint64_t i = 0; !err && i < times; i++) {
		struct run_request req = schedule_request(schedule);

		err = session_run(session, &req, r);
		*same += !err && is_same(r, schedule);
		progress("%" PRIu64 " of %" PRIu64 " replays", i + 1, times);
	}
	progress_done();
	return err;
}

static struct err *replay_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct cmd_common common = { 0 };
	struct target target = { 0 };
	uint64_t times = 1, same = 0;
	const char *gate = NULL, *fail_on = NULL, *output = NULL, *racing = NULL;
	struct strings gdb_commands = { 0 };
	bool gdb = false, steps = false, trust = false;
	const struct opt table[] = {
		OPT_COUNT(0, "times", "N", &times, "replay N times (default 1)"),
		OPT_REAL(0, "timeout", "SEC", &target.timeout, "real seconds per run (default 10)"),
		OPT_STR(0, "input", "FILE", &target.input, "standard input of the program"),
		OPT_JUDGE(&target, &fail_on),
		OPT_FLAG(0, "show-output", &target.live,
			 "copy what the program prints to standard error as it runs"),
		OPT_FLAG(0, "step", &steps, "print the interleaving, event by event"),
		OPT_FLAG(0, "gdb", &gdb, "debug it: breakpoints, stepping, run again; help plait"),
		OPT_LIST(0, "gdb-command", "CMD", &gdb_commands,
			 "debug it without you: run to the failure, then CMD (any number of them)"),
		OPT_FLAG(0, "exec", &target.exec_each, "start the program anew for each run"),
		OPT_FLAG(0, "trust", &trust, TRUST_HELP),
		OPT_STR(0, "racing", "FILE", &racing,
			"of a recording of mode sync: add the lines that raced to this list"),
		OPT_STR('o', "output", "FILE", &output,
			"of a witness: save the failing run to FILE"),
		OPT_STR(0, "gate", "G", &gate, "how threads are switched: fiber or futex"),
		OPT_END,
	};
	struct schedule schedule = { 0 };
	struct script script = { 0 };
	bool has_script = false;
	struct run_result r = { 0 };
	struct session *session = NULL;
	struct err *err;

	err = cmd_parse(cmd, table, &common, true, &argc, &argv);
	if (!err && argc < 1)
		err = cmd_usage(cmd, "which plait?");
	if (!err)
		err = run_options(fail_on, gate, NULL, &target, NULL);
	if (!err && witness_is(argv[0])) {
		target.argv = argv + 1;
		return witness_replay(argv[0], &target, output, &common, status);
	}
	if (!err && output)
		err = cmd_usage(cmd, "-o is for witnesses: a plait is a saved run already");
	if (!err)
		err = trust_check(argv[0], argc > 1, trust);
	if (!err)
		err = pinned(argv[0], argv + 1, &target, racing);
	if (!err)
		err = schedule_load(argv[0], &schedule);
	if (!err)
		err = target_from_plait(&target, argv[0], argv + 1);
	if (!err && argc == 1)
		err = script_load(argv[0], &script, &has_script);
	if (err)
		goto out;
	if (has_script) {
		err = gdb || gdb_commands.len
			      ? debug_script(&script, &target, &gdb_commands, status)
			      : script_replay(&script, &target, times, &common, status);
		goto out;
	}
	if (schedule.outcome == PLAIT_OUTCOME_EXIT)
		target.fail_on_exit = true;
	err = session_open(&target, &session);
	if (!err && (gdb || gdb_commands.len)) {
		err = debug(session, &schedule, &gdb_commands, status);
		goto out;
	}
	if (!err)
		err = replay_times(session, &schedule, times, &r, &same);
	if (!err && steps)
		err = step(session, &r);
	if (err)
		goto out;
	*status = same < times ? 4 : schedule.outcome > PLAIT_OUTCOME_PASS ? 1 : 0;
	if (common.json) {
		err = print_json(&common, &r, argv[0], times, same);
	} else {
		print_text(&schedule, &r, argv[0], times, same, target.live);
	}
out:
	session_close(session);
	target_deinit(&target);
	schedule_deinit(&schedule);
	script_deinit(&script);
	run_result_deinit(&r);
	return err;
}

const struct cmd cmd_replay = {
	.name = "replay",
	.synopsis = "[--times <n>] <file> [<program> [<arg>...]]",
	.summary = "run a recorded schedule again, exactly",
	.help = "Status: 1 the failure was reproduced every time, 0 a passing run was, 4 it "
		"diverged. Input, oracle and the like are the plait's unless they are given.\n",
	.main = replay_main,
};
