/* run/pin.c - see pin.h. */
#define LOG_DOMAIN "run"
#include "run/pin.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/racing.h"
#include "debug/binary.h"
#include "run/log.h"
#include "run/reorder.h"
#include "run/session.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void pin_report_deinit(struct pin_report *r)
{
	free(r->path);
	free(r->text);
	free(r->races);
	*r = (struct pin_report){ 0 };
}

/* In place of the recording; where that cannot be written, beside our other temporary files. */
static struct err *put_in_place(const char *path, struct session *s, const struct run_result *r,
				struct pin_report *ret)
{
	_cleanup_(xfreep) char *beside = xasprintf("%s.pinning", path);
	struct err *err = save_plait(s, r, beside);

	if (!err && rename(beside, path) == 0) {
		ret->path = xstrdup(path);
		return NULL;
	}
	unlink(beside);
	if (!err)
		return err_new(ERR_ENV, "%s: cannot be written", path);
	return err;
}

/* Nothing can be run from a flight recorder's plait: what came before its first event is not known. */
static struct err *check_beginning(const struct trace_meta *m)
{
	return m->flags & PLAIT_RUN_LAST ? err_new(ERR_ENV, "it was made by `record --last' and "
							    "has the end of a run alone, so it "
							    "cannot be run again; `unplait info' "
							    "tells what each thread did last")
					 : NULL;
}

/* Counts and answers mean something in this build alone. */
static struct err *check_build(const struct trace_meta *m, const char *program)
{
	char now[41] = "";

	if (!m->nmodules || !m->modules[0].build_id[0])
		return NULL;
	err_free(binary_build_id(program, now));
	return now[0] && strcmp(now, m->modules[0].build_id) != 0
		       ? err_new(ERR_ENV,
				 "it was recorded with another build of %s; a recording of mode "
				 "sync "
				 "is replayed with the same build only",
				 program)
		       : NULL;
}

/* Libraries run as they are: what they do may decide what the program does. */
static void check_libraries(const struct trace_meta *m)
{
	const char *first = NULL;
	size_t others = 0;

	for (size_t i = 1; i < m->nmodules; i++) {
		const struct trace_module *lib = &m->modules[i];
		char now[41] = "";

		if (!lib->build_id[0] || lib->path[0] != '/')
			continue;
		err_free(binary_build_id(lib->path, now));
		if (strcmp(now, lib->build_id) == 0)
			continue;
		first = first ? first : lib->path;
		others += first != lib->path;
	}
	if (first && others)
		log_warn("%s and %zu more libraries are not those that the recorded run had; it "
			 "may go "
			 "another way now",
			 first, others);
	else if (first)
		log_warn("%s is not the library that the recorded run had; it may go another way "
			 "now",
			 first);
}

static struct err *check_complete(const struct trace_meta *m)
{
	if (m->flags & PLAIT_RUN_EXECED)
		return err_new(ERR_ENV,
			       "the program became another one (exec): what was recorded is "
			       "not all of it");
	return m->lost || m->flags & PLAIT_RUN_NO_SPACE
		       ? err_new(ERR_ENV,
				 "%llu records are missing (was the disk full?): it cannot be "
				 "replayed",
				 (unsigned long long)m->lost)
		       : NULL;
}

static struct err *take_log(struct target *t, struct trace *trace, bool cut_at_signals)
{
	struct strbuf log = { 0 };
	struct err *err = log_from_trace(trace, cut_at_signals, &log);

	if (!err) {
		free(t->log);
		t->log_len = log.len;
		t->log = strbuf_detach(&log);
	}
	strbuf_deinit(&log);
	return err;
}

/* Attempts with the log of the trace, all of it or up to the first signals. */
static struct err *pin_with(struct trace *trace, bool cut_at_signals, struct target *t,
			    const struct pin_options *o, struct pin_report *ret)
{
	struct run_result r = { 0 };
	struct racing racing = { 0 };
	struct session *s = NULL;
	struct err *err = o->racing ? racing_read(&racing, o->racing, true) : NULL;

	if (!err)
		err = take_log(t, trace, cut_at_signals);
	if (!err)
		err = session_open(t, &s);
	if (!err)
		err = check_build(trace_meta(trace), s->runtime.program);
	if (!err)
		err = reorder(s, &trace_meta(trace)->outcome, o->attempts, &racing, &r, ret);
	if (!err && o->racing)
		err = racing_write(&racing, o->racing);
	if (!err && ret->state == PIN_DONE)
		err = put_in_place(trace_path(trace), s, &r, ret);
	session_close(s);
	run_result_deinit(&r);
	racing_deinit(&racing);
	return err;
}

struct err *pin_plait(const char *path, const struct pin_options *o, struct pin_report *ret)
{
	struct trace *trace = NULL;
	struct target t = { .input = o->input,
			    .timeout = o->timeout ? o->timeout : 3600,
			    .gate = o->gate };
	struct err *err = trace_open(path, &trace);

	*ret = (struct pin_report){ .state = PIN_NOT_NEEDED };
	if (err) { /* a bare schedule, or no plait: the command itself will say */
		err_free(err);
		return NULL;
	}
	if (!log_is_bare(trace)) {
		err = check_beginning(trace_meta(trace));
		trace_close(trace);
		return err_wrap(err, "%s", path);
	}
	err = check_complete(trace_meta(trace));
	if (!err)
		err = target_from_plait(&t, path, o->command);
	t.fail_on_exit |= trace_meta(trace)->outcome.kind == PLAIT_OUTCOME_EXIT;
	if (!err)
		check_libraries(trace_meta(trace));
	if (!err)
		err = pin_with(trace, false, &t, o, ret);
	/* where exactly a handler ran is not known: at worst the replay ends there */
	if (!err && ret->state == PIN_DIVERGED && log_has_signals(t.log))
		err = pin_with(trace, true, &t, o, ret);
	trace_close(trace);
	target_deinit(&t);
	return err_wrap(err, "%s", path);
}
