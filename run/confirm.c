/* run/confirm.c - a failure counts when its schedule fails again: replays, and the final one that
 * records every event. */
#include "run/run.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "run/log.h"
#include "trace/trace.h"

#include <sys/stat.h>
#include <unistd.h>

/* A run that was ended by the clock has no step at which it was declared a hang. */
static struct run_request replay_request(const struct run_result *r)
{
	struct run_request req = schedule_request(&r->schedule);

	if (r->timed_out)
		req.event_budget = 0;
	return req;
}

struct err *confirm(struct session *s, const struct run_result *expected, unsigned *n,
		    unsigned *same)
{
	struct run_request req = replay_request(expected);
	struct run_result r = { 0 };
	struct err *err = NULL;

	*same = 0;
	for (unsigned i = 0; i < *n && !err; i++) {
		err = session_run(s, &req, &r);
		if (!err && r.outcome == expected->outcome && r.signal == expected->signal &&
		    r.steps == expected->steps && r.hash == expected->hash)
			++*same;
		else if (!err)
			log_verbose("replay differs: outcome %d for %d, %llu steps for %llu%s%s",
				    r.outcome, expected->outcome, (unsigned long long)r.steps,
				    (unsigned long long)expected->steps, r.text ? ": " : "",
				    r.text ? r.text : "");
		if (*same <= i && r.timed_out)
			*n = i + 1;
	}
	run_result_deinit(&r);
	return err;
}

static void outcome_of(const struct run_result *r, struct trace_outcome *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->kind = r->outcome;
	ret->message = r->text; /* borrowed for the call */
	ret->signal = r->signal;
	ret->exit_code = r->exit_code;
	ret->code = r->failure.code;
	ret->thread = r->failure.thread;
	ret->site = r->failure.site;
	ret->address = r->failure.address;
	ret->nframes = r->failure.nframes;
	memcpy(ret->frames, r->failure.frames, sizeof(ret->frames));
}

/* ---- what the run read ---- */

enum { HEARD_MAX = 64 << 20 };

/* A replay has its files from the plait; its own plait carries the same. */
static void write_files(const struct session *s, struct strbuf *out)
{
	const struct target *t = session_target(s);
	const struct plait_inputs *named = session_inputs(s);
	struct inputs now = { 0 };

	if (t->inputs.len) {
		inputs_write(&t->inputs, out);
		return;
	}
	inputs_collect(named, &now);
	for (size_t i = 0; i < now.len; i++)
		if (now.data[i].kind == INPUT_LARGE)
			log_warn("%s (%llu bytes) is too large for the plait: a replay needs it "
				 "there",
				 now.data[i].path, (unsigned long long)now.data[i].size);
	if (named->lost)
		log_warn("the run names more files than a plait can carry: %u are missing",
			 named->lost);
	inputs_write(&now, out);
	inputs_deinit(&now);
}

/* Standard input itself, unless it is large: then its path must do (section "target"). */
static bool write_input(const struct target *t, struct strbuf *out)
{
	struct stat st;
	struct err *err;

	if (!t->input) {
		strbuf_add(out, t->input_data ? t->input_data : "", t->input_len);
		return t->input_data;
	}
	if (stat(t->input, &st) == 0 && st.st_size > INPUT_MAX)
		return false;
	err = file_read(t->input, out);
	if (!err && out->len <= INPUT_MAX)
		return true;
	err_free(err);
	return false;
}

/* What the run heard from others, or the log that it got its inputs from. Empty: nobody outside took part,
 * or it cannot be given back. */
static struct err *write_log(const struct session *s, const char *dir, uint32_t uncontrolled,
			     struct strbuf *out)
{
	const struct target *t = session_target(s);
	const struct plait_inputs *named = session_inputs(s);
	struct trace *trace = NULL;
	struct err *err;

	if (t->log)
		strbuf_add(out, t->log, t->log_len);
	if (t->log || !inputs_has(named, PLAIT_INPUT_OUTSIDE))
		return NULL;
	if (inputs_has(named, PLAIT_INPUT_UNHEARD) || uncontrolled & PLAIT_UNCONTROLLED_FORK) {
		log_warn("the run talks to others by %s, which is not in the plait: a replay needs "
			 "them there",
			 uncontrolled & PLAIT_UNCONTROLLED_FORK ? "a child process"
								: "stdio on a socket");
		return NULL;
	}
	err = trace_open(dir, &trace);
	if (!err)
		err = log_from_trace(trace, false, out);
	trace_close(trace);
	if (!err && out->len > HEARD_MAX) {
		log_warn("the run heard %zu bytes from others, too many for the plait: a replay "
			 "needs "
			 "them there",
			 out->len);
		out->len = 0;
	}
	return err;
}

struct err *save_plait(struct session *s, const struct run_result *r, const char *path)
{
	struct run_request req = replay_request(r);
	struct run_result again = { 0 };
	struct trace_outcome outcome;
	struct strbuf schedule = { 0 }, target = { 0 }, files = { 0 }, input = { 0 }, log = { 0 };
	const struct target *t = session_target(s);
	struct trace_extra extra[] = {
		{ .name = "schedule" }, { .name = "target" },	 { .name = "inputs" },
		{ .name = "stdin" },	{ .name = LOG_SECTION },
	};
	struct trace_seal_options options = {
		.made_here = true, .outcome = &outcome, .extra = extra, .nextra = 3
	};
	_cleanup_(xfreep) char *cwd = getcwd(NULL, 0);
	struct err *err;
	char *dir = NULL;

	err = file_temp_dir(&dir);
	if (err)
		return err;
	err = trace_write_launch(dir, session_argv(s), t->folder ? t->folder : cwd, NULL);
	req.record_dir = dir;
	if (!err)
		err = session_run(s, &req, &again);
	/* numbers of sites known by program counter may differ: do not compare hashes */
	if (!err && (again.steps != r->steps || again.outcome != r->outcome))
		log_warn("the recorded run differs from the one that was found: %s",
			 again.text ? again.text : "other steps");
	if (!err) {
		outcome_of(r, &outcome);
		schedule_write(&r->schedule, &schedule);
		extra[0].data = schedule.data;
		extra[0].len = schedule.len;
		target_write(t, &target);
		extra[1].data = strbuf_str(&target);
		extra[1].len = target.len;
		write_files(s, &files);
		extra[2].data = strbuf_str(&files);
		extra[2].len = files.len;
		if (write_input(t, &input))
			extra[options.nextra++] = (struct trace_extra){ .name = "stdin",
									.data = strbuf_str(&input),
									.len = input.len };
		err = write_log(s, dir, again.uncontrolled, &log);
		if (log.len)
			extra[options.nextra++] =
				(struct trace_extra){ .name = log_is_heard(log.data) ? HEARD_SECTION
										     : LOG_SECTION,
						      .data = log.data,
						      .len = log.len };
	}
	if (!err)
		err = trace_seal(dir, &options, path);
	file_remove_tree(dir);
	free(dir);
	strbuf_deinit(&schedule);
	strbuf_deinit(&target);
	strbuf_deinit(&files);
	strbuf_deinit(&input);
	strbuf_deinit(&log);
	run_result_deinit(&again);
	return err;
}
