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

/* What a plait has beside its events. */
struct sections {
	struct trace_extra extra[5];
	struct strbuf text[5];
	size_t n;
};

static struct strbuf *add_section(struct sections *to, const char *name)
{
	to->extra[to->n].name = name;
	return &to->text[to->n++];
}

static void drop_section(struct sections *to)
{
	strbuf_clear(&to->text[--to->n]);
}

static struct err *fill_sections(struct session *s, const struct run_result *r, const char *dir,
				 uint32_t uncontrolled, struct sections *to)
{
	const struct target *t = session_target(s);
	struct strbuf *log;
	struct err *err;

	schedule_write(&r->schedule, add_section(to, "schedule"));
	target_write(t, add_section(to, "target"));
	write_files(s, add_section(to, "inputs"));
	if (!write_input(t, add_section(to, "stdin")))
		drop_section(to);
	log = add_section(to, LOG_SECTION);
	err = write_log(s, dir, uncontrolled, log);
	if (!log->len)
		drop_section(to);
	else if (log_is_heard(log->data))
		to->extra[to->n - 1].name = HEARD_SECTION;
	for (size_t i = 0; i < to->n; i++) {
		to->extra[i].data = strbuf_str(&to->text[i]);
		to->extra[i].len = to->text[i].len;
	}
	return err;
}

/* The run once more, with every event, in `dir`. */
static struct err *record_again(struct session *s, const struct run_result *r, const char *dir,
				struct run_result *ret)
{
	struct run_request req = replay_request(r);
	const struct target *t = session_target(s);
	_cleanup_(xfreep) char *cwd = getcwd(NULL, 0);
	struct err *err =
		trace_write_launch(dir, session_argv(s), t->folder ? t->folder : cwd, NULL);

	req.record_dir = dir;
	if (!err)
		err = session_run(s, &req, ret);
	/* numbers of sites known by program counter may differ: do not compare hashes */
	if (!err && (ret->steps != r->steps || ret->outcome != r->outcome))
		log_warn("the recorded run differs from the one that was found: %s",
			 ret->text ? ret->text : "other steps");
	return err;
}

struct err *save_plait(struct session *s, const struct run_result *r, const char *path)
{
	struct run_result again = { 0 };
	struct trace_outcome outcome;
	struct sections sections = { 0 };
	char *dir = NULL;
	struct err *err = file_temp_dir(&dir);

	if (err)
		return err;
	outcome_of(r, &outcome);
	err = record_again(s, r, dir, &again);
	if (!err)
		err = fill_sections(s, r, dir, again.uncontrolled, &sections);
	if (!err)
		err = trace_seal(dir,
				 &(struct trace_seal_options){ .made_here = true,
							       .outcome = &outcome,
							       .extra = sections.extra,
							       .nextra = sections.n },
				 path);
	file_remove_tree(dir);
	free(dir);
	for (size_t i = 0; i < ARRAY_SIZE(sections.text); i++)
		strbuf_deinit(&sections.text[i]);
	run_result_deinit(&again);
	return err;
}
