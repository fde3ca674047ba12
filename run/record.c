/* run/record.c - run, judge, seal, name. Up to `jobs` runs at a time; results are kept in the order
 * of the runs, whichever ends first. Each run has a temporary folder, gone when its plait is
 * written. */
#include "run/record.h"

#include "run/launch.h"
#include "run/log.h"
#include "run/output.h"
#include "run/run.h"
#include "run/runtime.h"

#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process.h"
#include "unplait/graph.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct slot {
	unsigned run; /* from 0 */
	char *dir, *out, *err;
	uint64_t began, ticks_run; /* of the time stamp counter */
};

/* A run that exited with another status than 0 before any run exited with 0: it waits until we
 * know whether the program ever does. */
struct held {
	struct slot slot;
	struct process process;
};
enum { HELD_MOST = 16 };

struct recorder {
	const struct record_options *o;
	struct record_runs *results;
	bool sync_only;
	struct process *processes; /* per job */
	struct slot *slots;
	unsigned started;
	bool clean; /* a run has exited with status 0 */
	VEC(struct held) held;
	char *dir, *input;    /* standard input of all runs, and its folder; NULL = ours */
	struct strbuf target; /* section "target" of the plaits */
};

static void slot_clear(struct slot *s)
{
	if (s->dir)
		file_remove_tree(s->dir);
	free(s->dir);
	free(s->out);
	free(s->err);
	*s = (struct slot){ 0 };
}

/* Ours, and what the target says. */
static void add_environment(const struct target *t, struct environment *ret)
{
	environment_copy(ret);
	for (size_t i = 0; t && t->env && t->env[i]; i++)
		environment_put(ret, t->env[i]);
}

static struct err *start(struct recorder *r, size_t job)
{
	_cleanup_(environment_deinit) struct environment env = { 0 };
	const struct record_options *o = r->o;
	struct slot *s = &r->slots[job];
	_cleanup_(xfreep) char *cwd = getcwd(NULL, 0);
	_cleanup_(xfreep) char *last = o->last > 0 ? xasprintf("last=%.0f,", o->last * 1000) : NULL;
	_cleanup_(xfreep) char *options =
		xasprintf("%s%s%s%s", o->follow ? "follow," : "", r->sync_only ? "sync-only," : "",
			  last ? last : "", o->options ? o->options : "");
	bool keep = o->judge.oracle || o->judge.expect || o->runs > 1;
	struct launch_options l = {
		.command = o->command,
		.mode = o->mode,
		.options = options,
		.timeout = o->timeout,
		.takes_signals = o->last > 0,
	};
	struct err *err = file_temp_dir(&s->dir);

	if (err)
		return err;
	s->run = r->started++;
	s->out = xasprintf("%s/stdout", s->dir);
	s->err = xasprintf("%s/stderr", s->dir);
	add_environment(o->target, &env);
	err = trace_write_launch(s->dir, o->command, cwd, env.data);
	if (err)
		return err;
	l.dir = s->dir;
	l.env = env.data;
	if (keep)
		l.stdout_path = s->out, l.stderr_path = s->err;
	else if (o->output_to_stderr)
		l.stdout_path = "";
	l.stdin_path = r->input;
	s->began = __builtin_ia32_rdtsc();
	return launch_start(&l, &r->processes[job]);
}

/* A server is started again and again: each of its plaits gets the next number in a folder. NULL: it is
 * no folder. */
static char *next_in_folder(const char *folder, const char *outcome)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	unsigned last = 0;

	if (!d)
		return NULL;
	while ((e = readdir(d)))
		last = MAX(last, (unsigned)strtoul(e->d_name, NULL, 10));
	closedir(d);
	return xasprintf("%s/%04u-%s.plait", folder, last + 1, outcome);
}

static char *plait_name(const struct record_options *o, unsigned run, const char *outcome)
{
	const char *base =
		strrchr(o->command[0], '/') ? strrchr(o->command[0], '/') + 1 : o->command[0];
	_cleanup_(xfreep) char *folder = NULL;

	if (o->last > 0 && o->output && (folder = next_in_folder(o->output, outcome)))
		return xstrdup(folder);
	if (o->runs == 1)
		return o->output ? xstrdup(o->output) : xasprintf("%s.plait", base);
	folder = o->output ? xstrdup(o->output) : xasprintf("%s.plaits", base);
	return xasprintf("%s/%04u-%s.plait", folder, run + 1, outcome);
}

/* Mode graph: what was collected. */
static void note_graph(struct trace *t, struct record_run *ret)
{
	const struct plait_graph_header *h;
	const void *data = NULL;
	size_t len = 0;

	err_free(trace_section(t, "graph", &data, &len));
	if (!data || len < sizeof(*h))
		return;
	h = data;
	ret->has_graph = true;
	ret->nedges = h->edges;
}

/* Mode sync: the files that the run has read. */
static struct err *collect_files(const char *dir, const char *mode, struct strbuf *ret)
{
	struct plait_inputs *named;
	struct inputs files = { 0 };
	struct trace *t = NULL;
	struct err *err;

	if (strcmp(mode, "sync") != 0)
		return NULL;
	err = trace_open(dir, &t);
	if (err)
		return err;
	named = xcalloc(1, sizeof(*named));
	err = log_names(t, named);
	if (!err) {
		inputs_collect(named, &files);
		inputs_write(&files, ret);
	}
	trace_close(t);
	inputs_deinit(&files);
	free(named);
	return err;
}

static struct err *keep(struct recorder *r, const char *dir, char *path,
			const struct trace_outcome *judged, double seconds, uint64_t clock_hz,
			struct record_run *ret)
{
	const struct target *target = r->o->target;
	struct trace_extra extra[] = {
		{ .name = "target", .data = strbuf_str(&r->target), .len = r->target.len },
		{ .name = "stdin",
		  .data = target ? target->input_data : NULL,
		  .len = target ? target->input_len : 0 },
		{ .name = NULL },
	};
	struct trace_seal_options options = {
		.outcome = judged,
		.clock_hz = clock_hz,
		.made_here = true,
		.extra = extra,
		.nextra = !target ? 0 : 1 + (target->input_data != NULL)
	};
	_cleanup_(strbuf_deinit) struct strbuf files = { 0 };
	struct trace *t;
	struct err *err = collect_files(dir, r->o->mode, &files);

	if (!err && files.len)
		extra[options.nextra++] = (struct trace_extra){ .name = "inputs",
								.data = strbuf_str(&files),
								.len = files.len };
	if (!err)
		err = trace_seal(dir, &options, path);
	if (!err)
		err = trace_open(path, &t);
	if (err) {
		free(path);
		return err;
	}
	ret->plait = path;
	ret->outcome = trace_meta(t)->outcome.kind;
	ret->signal = trace_meta(t)->outcome.signal;
	ret->message =
		trace_meta(t)->outcome.message ? xstrdup(trace_meta(t)->outcome.message) : NULL;
	ret->nthreads = trace_meta(t)->nthreads;
	ret->nevents = trace_meta(t)->nevents;
	ret->lost = trace_meta(t)->lost;
	ret->seconds = seconds;
	ret->sync_only = r->sync_only;
	note_graph(t, ret);
	trace_close(t);
	return NULL;
}

/* Folders of followed children, inside ours: NAME.1.plait ... next to NAME.plait. */
static struct err *keep_children(struct recorder *r, const char *dir, const char *path)
{
	size_t len = strlen(path) - (strstr(path, ".plait") ? strlen(".plait") : 0);
	struct dirent **names;
	int n = scandir(dir, &names, NULL, alphasort), count = 0;
	struct err *err = NULL;

	for (int i = 0; i < n; i++) {
		if (strncmp(names[i]->d_name, "fork-", 5) == 0 && !err) {
			_cleanup_(xfreep) char *child = xasprintf("%s/%s", dir, names[i]->d_name);
			struct record_run run = { 0 };

			err = keep(r, child, xasprintf("%.*s.%d.plait", (int)len, path, ++count),
				   NULL, 0, 0, &run);
			if (!err)
				vec_push(r->results, run);
		}
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return err;
}

/* Which test failed, in the words of the program. */
static void add_headline(const struct slot *s, struct trace_outcome *judged)
{
	_cleanup_(xfreep) char *out = output_read_file(s->out);
	_cleanup_(xfreep) char *errors = output_read_file(s->err);
	char *headline = output_headline(out, errors);

	if (!headline)
		return;
	free(judged->message);
	judged->message = headline;
}

/* Ticks of the time stamp counter in a second, as long as the process ran; 0: too short to tell. The
 * runtime tells it only at an orderly end. */
static uint64_t clock_rate(const struct slot *s, const struct process *p)
{
	return p->seconds > 0.01 && s->ticks_run ? (uint64_t)((double)s->ticks_run / p->seconds)
						 : 0;
}

static struct err *judge_and_keep(struct recorder *r, struct slot *s, const struct process *p,
				  bool fail_on_exit)
{
	struct judge_options judge_by = r->o->judge;
	struct record_run *run = &r->results->data[s->run];
	_cleanup_(xfreep) char *said = output_read_file(s->err);
	struct run_end end = { .timed_out = p->timed_out,
			       .seconds = p->seconds,
			       .exit_code = p->exit_code,
			       .signal = p->signal,
			       .out = s->out,
			       .errors = s->err,
			       .said = said };
	struct trace_outcome judged = { .exit_code = end.exit_code,
					.signal = end.timed_out ? 0 : end.signal };
	char *path;
	struct err *err;

	judge_by.fail_on_exit |= fail_on_exit;
	err = judge(&judge_by, &end, &judged.kind, &judged.message);
	if (err)
		return err;
	if (r->o->runs > 1 && judged.kind == PLAIT_OUTCOME_EXIT)
		add_headline(s, &judged);
	path = plait_name(r->o, s->run, outcome_name(judged.kind));
	err = keep(r, s->dir, path, &judged, p->seconds, clock_rate(s, p), run);
	free(judged.message);
	if (!err && r->o->follow) {
		_cleanup_(xfreep) char *name = xstrdup(run->plait);

		err = keep_children(r, s->dir, name);
	}
	slot_clear(s);
	return err;
}

/* The oldest one that waits. */
static struct err *release(struct recorder *r)
{
	struct held h = r->held.data[0];

	assert(r->held.len > 0);
	memmove(&r->held.data[0], &r->held.data[1], --r->held.len * sizeof(h));
	return judge_and_keep(r, &h.slot, &h.process, r->clean);
}

/* A status other than 0 is a failure when other runs exit with 0. */
static struct err *finish(struct recorder *r, size_t job)
{
	const struct judge_options *j = &r->o->judge;
	const struct process *p = &r->processes[job];
	bool learns = !j->fail_on_exit && !j->oracle && !j->expect &&
		      !(j->ignored & OUTCOME_BIT(PLAIT_OUTCOME_EXIT));
	struct err *err = NULL;

	r->clean |= learns && p->exit_code == 0;
	if (learns && !r->clean && p->exit_code > 0 && !p->timed_out) {
		vec_push(&r->held, ((struct held){ r->slots[job], *p }));
		r->slots[job] = (struct slot){ 0 };
		return r->held.len > HELD_MOST ? release(r) : NULL;
	}
	while (!err && r->clean && r->held.len)
		err = release(r);
	return err ? err : judge_and_keep(r, &r->slots[job], p, r->clean);
}

static struct err *run_all(struct recorder *r, size_t jobs)
{
	struct err *err = NULL;
	size_t running = 0, which;

	for (size_t i = 0; i < jobs; i++)
		r->processes[i].ended = true;
	while (!err && (r->started < r->o->runs || running > 0)) {
		for (size_t i = 0; i < jobs && !err && r->started < r->o->runs; i++)
			if (r->processes[i].ended && !(err = start(r, i)))
				running++;
		if (!err)
			err = process_wait(r->processes, jobs, &which);
		if (!err) {
			running--;
			r->slots[which].ticks_run = __builtin_ia32_rdtsc() - r->slots[which].began;
			err = finish(r, which);
			progress("%u of %u runs", r->started - (unsigned)running, r->o->runs);
		}
	}
	while (!err && r->held.len)
		err = release(r);
	progress_done();
	return err;
}

/* Several runs get the same input; a single one may read ours. */
static struct err *prepare_input(struct recorder *r)
{
	const struct target *t = r->o->target;
	struct err *err = NULL;

	if (t && t->input) {
		r->input = realpath(t->input, NULL);
		return r->input ? NULL : err_errno(errno, "cannot open %s", t->input);
	}
	if (!t || !t->input_data) {
		r->input = r->o->runs > 1 ? xstrdup("/dev/null") : NULL;
		return NULL;
	}
	err = file_temp_dir(&r->dir);
	if (err)
		return err;
	r->input = xasprintf("%s/stdin", r->dir);
	return file_write(r->input, t->input_data, t->input_len);
}

static void recorder_deinit(struct recorder *r, size_t jobs)
{
	for (size_t i = 0; i < jobs; i++) {
		if (!r->processes[i].ended)
			process_kill(&r->processes[i]);
		slot_clear(&r->slots[i]);
	}
	for (size_t i = 0; i < r->held.len; i++)
		slot_clear(&r->held.data[i].slot);
	vec_deinit(&r->held);
	free(r->processes);
	free(r->slots);
	if (r->dir)
		file_remove_tree(r->dir);
	free(r->dir);
	free(r->input);
	strbuf_deinit(&r->target);
}

struct err *record_run_all(const struct record_options *o, struct record_runs *ret)
{
	size_t jobs = MAX(1, MIN(o->jobs, o->runs));
	struct recorder r = { .o = o, .results = ret };
	_cleanup_(runtime_deinit) struct runtime runtime = { 0 };
	struct err *err;

	assert(o->command && o->command[0] && o->mode && o->runs > 0);
	*ret = (struct record_runs){ 0 };
	err = runtime_find(o->command[0], &runtime);
	r.sync_only = runtime.library != NULL;
	if (!err && o->runs > 1) {
		_cleanup_(xfreep) char *name = plait_name(o, 0, "");

		*strrchr(name, '/') = 0;
		err = file_make_dirs(name);
	}
	if (err)
		return err;
	for (unsigned i = 0; i < o->runs; i++)
		vec_push(ret, (struct record_run){ 0 });
	r.processes = xcalloc(jobs, sizeof(*r.processes));
	r.slots = xcalloc(jobs, sizeof(*r.slots));
	if (o->target)
		target_write(o->target, &r.target);
	err = prepare_input(&r);
	if (!err)
		err = run_all(&r, jobs);
	recorder_deinit(&r, jobs);
	return err;
}

void record_runs_deinit(struct record_runs *r)
{
	for (size_t i = 0; i < r->len; i++) {
		free(r->data[i].plait);
		free(r->data[i].message);
	}
	vec_deinit(r);
}
