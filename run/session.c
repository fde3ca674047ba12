/* run/session.c - one target, many controlled runs: open, run, judge, close.
 *
 * A run is three steps: write the request into the control area (run/area.c), let the driver get it
 * done (run/server.c), read the result and judge it (run/judge.c). */
#define LOG_DOMAIN "run"
#include "run/session.h"

#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "debug/modules.h"
#include "debug/predicate.h"
#include "run/judge.h"
#include "run/output.h"
#include "run/sanitizer.h"
#include "sched/strategy.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEFAULT_TIMEOUT = 10 };

/* ---- opening ---- */

double session_timeout(const struct session *s)
{
	return s->target->timeout > 0 ? s->target->timeout : DEFAULT_TIMEOUT;
}

struct err *session_open_with(const struct target *target, const struct session_driver *driver,
			      void *context, struct session **ret)
{
	struct session *s = xcalloc(1, sizeof(*s));
	struct err *err;

	assert(driver->start && driver->finish && driver->close);
	s->target = target;
	s->driver = driver;
	s->context = context;
	s->socket = s->area.fd = s->target_process.pidfd = s->out_fd = s->errors_fd = -1;
	err = area_open(&s->area);
	if (!err)
		err = file_temp_dir(&s->dir);
	if (err) {
		session_close(s);
		return err;
	}
	s->out = xasprintf("%s/stdout", s->dir);
	s->errors = xasprintf("%s/stderr", s->dir);
	*ret = s;
	return NULL;
}

/* Every run reads the same bytes from their beginning. */
static struct err *make_input(struct session *s)
{
	const struct target *t = s->target;
	bool bytes = !t->input && t->input_data;

	if (bytes)
		s->input = xasprintf("%s/stdin", s->dir);
	else
		s->input = t->input ? realpath(t->input, NULL) : xstrdup("/dev/null");
	if (!s->input)
		return err_errno(errno, "cannot open %s", t->input);
	return bytes ? file_write(s->input, t->input_data, t->input_len) : NULL;
}

/* Where the runtime finds the log. */
static struct err *place_log(struct session *s)
{
	struct plait_log_place *place = area_log(&s->area);

	snprintf(place->path, sizeof(place->path), "%s/log", s->dir);
	return file_write(place->path, s->target->log, s->target->log_len);
}

/* The program as a path that holds in every folder. */
static char *program_path(const struct target *t)
{
	const char *name = t->argv[0];

	return t->folder && name[0] != '/' && strchr(name, '/')
		       ? xasprintf("%s/%s", t->folder, name)
		       : xstrdup(name);
}

/* A script cannot be controlled: the interpreter would be. */
static struct err *find_runtime(struct session *s)
{
	_cleanup_(xfreep) char *name = program_path(s->target);
	struct err *err = runtime_find(name, &s->runtime);
	const char *program = s->runtime.program;

	if (program && !file_exists(program)) {
		err_free(err);
		err = err_errno(ENOENT, "cannot open %s", program);
	} else if (s->runtime.is_other) {
		err_free(err);
		err = err_new(ERR_ENV, "%s: not an x86-64 program", program);
	} else if (s->runtime.is_script) {
		err_free(err);
		err = err_new(ERR_ENV, "%s: a script; name the program that it starts", program);
	}
	if (!err && !s->runtime.sees_memory)
		s->note = xstrdup("it is not instrumented, so only its synchronisation is seen; "
				  "`unplait cc' builds one whose memory accesses are, too");
	return err;
}

struct err *session_open(const struct target *target, struct session **ret)
{
	struct session *s = NULL;
	struct err *err;

	assert(target->argv && target->argv[0]);
	interrupt_catch();
	err = session_open_with(target, target->exec_each ? &exec_driver : &server_driver, NULL,
				&s);
	if (!err)
		err = find_runtime(s);
	if (!err)
		err = make_input(s);
	if (!err && target->log)
		err = place_log(s);
	if (!err && target->predicate)
		err = predicate_compile(target->predicate, s->runtime.program,
					area_predicate(&s->area));
	if (!err)
		err = inputs_place(&target->inputs, s->dir, area_inputs(&s->area));
	if (!err && !target->exec_each)
		err = server_open(s);
	if (err) {
		session_close(s);
		return err;
	}
	*ret = s;
	return NULL;
}

void session_close(struct session *s)
{
	if (!s)
		return;
	s->driver->close(s);
	area_close(&s->area);
	runtime_deinit(&s->runtime);
	modules_free(s->modules);
	if (s->out_fd >= 0)
		close(s->out_fd);
	if (s->errors_fd >= 0)
		close(s->errors_fd);
	if (s->dir)
		file_remove_tree(s->dir);
	free(s->dir);
	free(s->out);
	free(s->errors);
	free(s->input);
	free(s->note);
	free(s);
}

/* ---- a run ---- */

/* ---- a deadline ---- */

void session_set_deadline(struct session *s, double when)
{
	s->deadline = when;
}

bool session_is_late(const struct session *s)
{
	return s->deadline > 0 && clock_seconds() > s->deadline;
}

struct err *session_cut_off(struct session *s)
{
	s->cut = true;
	return err_new(ERR_INCONCLUSIVE, "the time was over before the run was");
}

bool session_was_cut_off(const struct session *s)
{
	return s->cut;
}

/* ---- one run ---- */

struct err *session_write_request(struct session *s, const struct run_request *req)
{
	uint32_t extra = s->early ? PLAIT_CONTROL_EARLY : 0;
	struct run_request r = *req;

	if (!r.point_budget)
		r.point_budget = MAX(s->longest * HANG_FACTOR, (uint64_t)RUN_POINTS);
	return area_write_request(&s->area, s->target, &r, extra, ++s->run_number);
}

struct err *session_start(struct session *s, const struct run_request *req)
{
	struct err *err;

	if (interrupted())
		return interrupt_error();
	assert(!s->running);
	err = session_write_request(s, req);
	if (err)
		return err;
	s->request = *req;
	s->cut = false;
	s->out_shown = s->errors_shown = 0;
	return s->driver->start(s);
}

/* The first run has made the files. */
static void open_output(struct session *s)
{
	if (s->out_fd < 0)
		s->out_fd = open(s->out, O_RDONLY | O_CLOEXEC);
	if (s->errors_fd < 0)
		s->errors_fd = open(s->errors, O_RDONLY | O_CLOEXEC);
}

void session_show_output(struct session *s)
{
	if (!s->target->live)
		return;
	open_output(s);
	output_follow(s->out_fd, &s->out_shown);
	output_follow(s->errors_fd, &s->errors_shown);
}

/* A run that is recorded notes its failure in its folder. What cannot be read stays unknown: the
 * recording itself will say why. */
static void read_failure(const char *dir, struct plait_failure *ret)
{
	_cleanup_(xfreep) char *path = xasprintf("%s/run", dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (pread(fd, ret, sizeof(*ret), offsetof(struct plait_run, failure)) !=
	    (ssize_t)sizeof(*ret))
		memset(ret, 0, sizeof(*ret));
	close(fd);
}

/* Why a program called abort() stands in what it printed before. */
static char *describe_failure(const struct run_result *r)
{
	bool bare = strcmp(r->failure.text, "abort()") == 0;
	char *report = bare ? output_report(r->out, r->errors) : NULL;

	return report ? report : xstrdup(r->failure.text);
}

/* What the engine or the runtime noted is more exact than what the judge can say. */
static char *describe(const struct session *s, const struct run_result *r, char *verdict)
{
	const char *text = s->area.control->text;
	char *ret = NULL;

	if (r->outcome == PLAIT_OUTCOME_SANITIZER)
		return verdict;
	if (text[0])
		ret = xstrdup(text);
	else if (r->failure.text[0])
		ret = describe_failure(r);
	else if (r->timed_out)
		ret = xasprintf("no end within %g seconds of real time: something outside control "
				"blocks",
				session_timeout(s));
	else if (r->signal)
		ret = output_report(r->out, r->errors);
	else
		return verdict;
	free(verdict);
	return ret;
}

/* What a failing test printed is part of its outcome. */
static void read_output(struct session *s, struct run_result *r)
{
	char *named;

	open_output(s);
	r->out = output_read(s->out_fd);
	r->errors = output_read(s->errors_fd);
	named = s->runtime.sanitized ? sanitizer_name_places(r->errors, &s->modules) : NULL;
	if (named) {
		free(r->errors);
		r->errors = named;
	}
}

/* The run was a forked child, and the process that we know is its harness: what ended the child is
 * what counts, not how the harness tells of it. */
static void judge_child(const struct run_result *r, struct run_end *end)
{
	if (!(r->uncontrolled & PLAIT_UNCONTROLLED_PARENT) || !r->failure.signal || end->timed_out)
		return;
	end->signal = r->failure.signal;
	end->exit_code = -1;
}

static struct err *judge_run(struct session *s, int status, struct run_result *r)
{
	const struct target *t = s->target;
	struct judge_options o = { t->fail_on_exit, t->ignored, t->oracle, t->expect };
	struct run_end end = { .control = r->end,
			       .not_controlled = !s->area.control->started,
			       .timed_out = r->timed_out,
			       .seconds = session_timeout(s),
			       .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
			       .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
			       .out = s->out,
			       .errors = s->errors };
	char *message;
	struct err *err;

	if (s->request.record_dir)
		read_failure(s->request.record_dir, &r->failure);
	else
		r->failure = area_process(&s->area)->failure;
	judge_child(r, &end);
	r->exit_code = end.exit_code;
	r->signal = end.signal;
	if (r->signal || r->exit_code > 0)
		read_output(s, r);
	end.said = r->errors;
	err = judge(&o, &end, &r->outcome, &message);
	if (!r->out && run_failed(r))
		read_output(s, r);
	r->text = describe(s, r, message);
	if (r->outcome == PLAIT_OUTCOME_EXIT)
		run_fail_by_exit(r);
	r->schedule.outcome = r->outcome;
	return err;
}

struct err *session_finish(struct session *s, struct run_result *ret)
{
	const struct run_request *req = &s->request;
	struct err *err;
	int status = 0;

	run_result_deinit(ret);
	err = s->driver->finish(s, &status, &ret->timed_out);
	if (err)
		return err;
	ret->moving = ret->timed_out && s->moving;
	session_show_output(s);
	area_read_result(&s->area, req, ret);
	err = judge_run(s, status, ret);
	if (!err && ret->outcome != PLAIT_OUTCOME_HANG)
		s->longest = MAX(s->longest, ret->points);
	log_debug(2, "run %llu: %s seed %llu: outcome %d, %llu steps, %llu switches, hash %llx",
		  (unsigned long long)s->run_number, sched_strategy_name(req->strategy),
		  (unsigned long long)req->seed, ret->outcome, (unsigned long long)ret->steps,
		  (unsigned long long)ret->switches, (unsigned long long)ret->hash);
	return err;
}

struct err *session_run(struct session *s, const struct run_request *req, struct run_result *ret)
{
	struct err *err = session_start(s, req);

	return err ? err : session_finish(s, ret);
}

/* ---- what others may look at ---- */

const struct plait_run *session_process(const struct session *s)
{
	return area_process(&s->area);
}

const struct plait_inputs *session_inputs(const struct session *s)
{
	return area_inputs(&s->area);
}

const struct plait_stack *session_stacks(const struct session *s)
{
	return area_stacks(&s->area);
}

const struct plait_races *session_races(const struct session *s)
{
	return area_races(&s->area);
}

const struct plait_prints *session_prints(const struct session *s)
{
	return area_prints(&s->area);
}

struct knowledge session_knowledge(const struct session *s)
{
	return area_knowledge(&s->area);
}

uint32_t session_learn_all(struct session *s, const struct session *from)
{
	return area_learn(&s->area, &from->area);
}

uint64_t session_npoints(const struct session *s)
{
	return area_npoints(&s->area);
}

const char *session_note(const struct session *s)
{
	return s->note;
}

bool session_sees_memory(const struct session *s)
{
	return s->runtime.sees_memory;
}

char *const *session_argv(const struct session *s)
{
	return s->target->argv;
}

const char *session_stdout(const struct session *s)
{
	return s->out;
}

const char *session_stderr(const struct session *s)
{
	return s->errors;
}

const struct target *session_target(const struct session *s)
{
	return s->target;
}
