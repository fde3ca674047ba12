/* run/judge.c - how a process ended, in the words of outcomes. */
#include "run/launch.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "debug/names.h"
#include "trace/trace.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

bool launch_has_libplait(const char *program)
{
	_cleanup_(xfreep) char *path = file_find_program(program);
	struct strbuf section = { 0 };
	bool found = false;

	if (path)
		err_free(binary_section(path, ".note.unplait", &section, &found));
	strbuf_deinit(&section);
	return found;
}

struct err *launch_check_preload(const char *program)
{
	_cleanup_(xfreep) char *path = file_find_program(program);
	struct strbuf section = { 0 };
	bool found = false;
	struct err *err = path ? binary_section(path, ".interp", &section, &found) : NULL;

	strbuf_deinit(&section);
	if (!path || err) { /* a script, or nothing: whoever starts it will say so */
		err_free(err);
		return NULL;
	}
	return found ? NULL
		     : err_new(ERR_ENV,
			       "%s is statically linked, which leaves no way into it: link it "
			       "without -static",
			       path);
}

static struct err *check_expected(const char *expect, const char *got, struct trace_outcome *o)
{
	struct strbuf want = { 0 }, have = { 0 };
	struct err *err = file_read(expect, &want);

	if (!err)
		err = file_read(got, &have);
	if (!err &&
	    (want.len != have.len || memcmp(strbuf_str(&want), strbuf_str(&have), want.len))) {
		o->kind = PLAIT_OUTCOME_OUTPUT;
		o->message = xasprintf("its output differs from %s", expect);
	}
	strbuf_deinit(&want);
	strbuf_deinit(&have);
	return err;
}

static struct err *ask_oracle(const char *oracle, const char *out, const char *err_path,
			      struct trace_outcome *o)
{
	char *command[] = { "sh", "-c", (char *)oracle, NULL };
	_cleanup_(xfreep) char *a = xasprintf("PLAIT_STDOUT=%s", out ? out : "/dev/null");
	_cleanup_(xfreep) char *b = xasprintf("PLAIT_STDERR=%s", err_path ? err_path : "/dev/null");
	char *environment[] = { a, b, NULL };
	struct launch_options options = { .command = command,
					  .environment = environment,
					  .stdin_path = "/dev/null",
					  .stdout_path = "" };
	struct launch l;
	struct err *err = launch_run(&options, &l);

	if (err)
		return err_wrap(err, "the oracle");
	if (l.exit_code == 127)
		return err_new(ERR_ENV, "the oracle '%s' cannot be run", oracle);
	if (l.exit_code != 0) {
		o->kind = PLAIT_OUTCOME_ORACLE;
		o->message = xasprintf("the oracle said so (status %d)", l.exit_code);
	}
	return NULL;
}

struct err *launch_judge(const struct launch *l, const struct judge_options *o,
			 const char *stdout_path, const char *stderr_path,
			 struct trace_outcome *ret)
{
	struct err *err = NULL;

	*ret = (struct trace_outcome){ .kind = PLAIT_OUTCOME_PASS,
				       .exit_code = l->exit_code,
				       .signal = l->signal };
	if (l->timed_out) {
		ret->kind = PLAIT_OUTCOME_HANG;
		ret->signal = 0;
		ret->message = xasprintf("it had not ended after %.3g seconds", l->seconds);
		return NULL;
	}
	if (l->signal) {
		ret->kind = l->signal == SIGABRT ? PLAIT_OUTCOME_ASSERT : PLAIT_OUTCOME_SIGNAL;
		return NULL;
	}
	if (o->fail_on_exit && l->exit_code != 0) {
		ret->kind = PLAIT_OUTCOME_EXIT;
		ret->message = xasprintf("it exited with status %d", l->exit_code);
		return NULL;
	}
	if (o->expect)
		err = check_expected(o->expect, stdout_path, ret);
	if (!err && o->oracle && ret->kind == PLAIT_OUTCOME_PASS)
		err = ask_oracle(o->oracle, stdout_path, stderr_path, ret);
	return err;
}
