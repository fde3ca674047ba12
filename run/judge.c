/* run/judge.c - see judge.h.
 *
 * The order matters. What the control engine has noted is exact, so it comes first. A process that
 * was killed because its time was over ended by a signal of ours, which means nothing. The output
 * is looked at only when nothing else was wrong. */
#include "run/judge.h"

#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "base/process.h"
#include "base/strbuf.h"

#include <signal.h>

/* UNKNOWN: the process itself must say. */
static bool judge_control(const struct run_end *e, enum plait_outcome_kind *ret)
{
	switch (e->control) {
	case PLAIT_END_DEADLOCK:
		*ret = PLAIT_OUTCOME_DEADLOCK;
		return true;
	case PLAIT_END_BUDGET:
		*ret = PLAIT_OUTCOME_HANG;
		return true;
	case PLAIT_END_LOG: /* nothing is wrong: nobody knows more of that run */
		*ret = PLAIT_OUTCOME_PASS;
		return true;
	case PLAIT_END_DIVERGED:
	case PLAIT_END_FULL:
	case PLAIT_END_INFEASIBLE:
	case PLAIT_END_BROKEN:
		*ret = PLAIT_OUTCOME_UNKNOWN;
		return true;
	case PLAIT_END_RUNNING:
	case PLAIT_END_EXIT:
	case PLAIT_END_MISUSE:
		break;
	}
	*ret = PLAIT_OUTCOME_UNKNOWN;
	return e->not_controlled && !e->timed_out;
}

/* AddressSanitizer and its relatives end a report with "SUMMARY: AddressSanitizer: ...", and the
 * process with an abort, an exit status, or what handlers of the program make of the abort. Theirs
 * is the last word. */
static char *sanitizer_report(const struct run_end *e)
{
	const char *at = NULL;

	if (!e->said || (!e->signal && e->exit_code <= 0))
		return NULL;
	for (const char *p = e->said; (p = strstr(p, "SUMMARY: ")); p++)
		at = p + strlen("SUMMARY: ");
	return at && strncmp(at + strcspn(at, ":\n") - strlen("Sanitizer"), "Sanitizer:", 10) == 0
		       ? xstrndup(at, strcspn(at, "\n"))
		       : NULL;
}

static bool judge_process(const struct judge_options *o, const struct run_end *e,
			  enum plait_outcome_kind *ret, char **message)
{
	if (e->timed_out) {
		*ret = PLAIT_OUTCOME_HANG;
		*message = xasprintf("it had not ended after %.3g seconds", e->seconds);
	} else if ((*message = sanitizer_report(e))) {
		*ret = PLAIT_OUTCOME_SANITIZER;
	} else if (e->signal) {
		*ret = e->signal == SIGABRT ? PLAIT_OUTCOME_ASSERT : PLAIT_OUTCOME_SIGNAL;
	} else if (e->exit_code != 0 && o->fail_on_exit) {
		*ret = PLAIT_OUTCOME_EXIT;
		*message = xasprintf("it exited with status %d", e->exit_code);
	} else {
		*ret = PLAIT_OUTCOME_PASS;
	}
	return *ret != PLAIT_OUTCOME_PASS;
}

static struct err *compare_output(const char *expect, const char *got, bool *same)
{
	struct strbuf want = { 0 }, have = { 0 };
	struct err *err = file_read(expect, &want);

	assert(got);
	if (!err)
		err = file_read(got, &have);
	*same = !err && want.len == have.len &&
		memcmp(strbuf_str(&want), strbuf_str(&have), want.len) == 0;
	strbuf_deinit(&want);
	strbuf_deinit(&have);
	return err;
}

/* Its own output goes to our standard error: standard output carries our results. */
static struct err *ask_oracle(const char *oracle, const struct run_end *e, int *status)
{
	char *command[] = { "sh", "-c", (char *)oracle, NULL };
	_cleanup_(environment_deinit) struct environment env = { 0 };
	struct process_options o = {
		.argv = command, .in = "/dev/null", .out_to_err = true, .own_group = true
	};
	struct process p;
	struct err *err;

	environment_copy(&env);
	environment_set(&env, "PLAIT_STDOUT", e->out ? e->out : "/dev/null");
	environment_set(&env, "PLAIT_STDERR", e->errors ? e->errors : "/dev/null");
	o.env = env.data;
	err = process_run(&o, &p);
	if (err)
		return err_wrap(err, "the oracle");
	if (p.exit_code == 127)
		return err_new(ERR_ENV, "the oracle '%s' cannot be run", oracle);
	*status = p.exit_code;
	return NULL;
}

static struct err *judge_output(const struct judge_options *o, const struct run_end *e,
				enum plait_outcome_kind *ret, char **message)
{
	struct err *err = NULL;
	bool same = true;
	int status = 0;

	if (o->expect)
		err = compare_output(o->expect, e->out, &same);
	if (err || !same) {
		*ret = PLAIT_OUTCOME_OUTPUT;
		*message = err ? NULL : xasprintf("its output differs from %s", o->expect);
		return err;
	}
	if (o->oracle)
		err = ask_oracle(o->oracle, e, &status);
	if (!err && status != 0) {
		*ret = PLAIT_OUTCOME_ORACLE;
		*message = xasprintf("the oracle said so (status %d)", status);
	}
	return err;
}

/* What the user does not want to hear of passes. */
static void forgive(const struct judge_options *o, enum plait_outcome_kind *kind, char **message)
{
	if (!(o->ignored & 1u << *kind))
		return;
	*kind = PLAIT_OUTCOME_PASS;
	free(*message);
	*message = NULL;
}

struct err *judge(const struct judge_options *o, const struct run_end *end,
		  enum plait_outcome_kind *ret, char **message)
{
	struct err *err = NULL;

	assert(!o->expect || end->out);
	*message = NULL;
	if (!judge_control(end, ret) && !judge_process(o, end, ret, message))
		err = judge_output(o, end, ret, message);
	forgive(o, ret, message);
	return err;
}
