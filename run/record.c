/* run/record.c - run, judge, seal, name. Up to `jobs` runs at a time; results are kept in the order
 * of the runs, whichever ends first. Each run has a temporary folder, gone when its plait is
 * written. */
#include "run/record.h"

#include "run/launch.h"
#include "run/runtime.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process.h"
#include "unplait/graph.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct slot {
	unsigned run; /* from 0 */
	char *dir, *out, *err;
};

struct recorder {
	const struct record_options *o;
	struct record_runs *results;
	bool sync_only;
	struct process *processes; /* per job */
	struct slot *slots;
	unsigned started;
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

static struct err *start(struct recorder *r, size_t job)
{
	const struct record_options *o = r->o;
	struct slot *s = &r->slots[job];
	_cleanup_(xfreep) char *cwd = getcwd(NULL, 0);
	_cleanup_(xfreep) char *options =
		xasprintf("%s%s%s", o->follow ? "follow," : "", r->sync_only ? "sync-only," : "",
			  o->options ? o->options : "");
	bool keep = o->judge.oracle || o->judge.expect;
	struct launch_options l = {
		.command = o->command, .mode = o->mode, .options = options, .timeout = o->timeout
	};
	struct err *err = file_temp_dir(&s->dir);

	if (err)
		return err;
	s->run = r->started++;
	s->out = xasprintf("%s/stdout", s->dir);
	s->err = xasprintf("%s/stderr", s->dir);
	err = trace_write_launch(s->dir, o->command, cwd, environ);
	if (err)
		return err;
	l.dir = s->dir;
	if (keep)
		l.stdout_path = s->out, l.stderr_path = s->err;
	else if (o->runs > 1)
		l.stdout_path = l.stderr_path = "/dev/null";
	else if (o->output_to_stderr)
		l.stdout_path = "";
	if (o->runs > 1)
		l.stdin_path = "/dev/null";
	return launch_start(&l, &r->processes[job]);
}

static char *plait_name(const struct record_options *o, unsigned run, const char *outcome)
{
	const char *base =
		strrchr(o->command[0], '/') ? strrchr(o->command[0], '/') + 1 : o->command[0];
	_cleanup_(xfreep) char *folder = NULL;

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

static struct err *keep(struct recorder *r, const char *dir, char *path,
			const struct trace_outcome *judged, double seconds, struct record_run *ret)
{
	struct trace_seal_options options = { .outcome = judged, .made_here = true };
	struct trace *t;
	struct err *err = trace_seal(dir, &options, path);

	if (!err)
		err = trace_open(path, &t);
	if (err) {
		free(path);
		return err;
	}
	ret->plait = path;
	ret->outcome = trace_meta(t)->outcome.kind;
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
				   NULL, 0, &run);
			if (!err)
				vec_push(r->results, run);
		}
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return err;
}

static struct err *finish(struct recorder *r, size_t job)
{
	struct slot *s = &r->slots[job];
	struct process *p = &r->processes[job];
	struct record_run *run = &r->results->data[s->run];
	struct run_end end = { .timed_out = p->timed_out,
			       .seconds = p->seconds,
			       .exit_code = p->exit_code,
			       .signal = p->signal,
			       .out = s->out,
			       .errors = s->err };
	struct trace_outcome judged = { .exit_code = end.exit_code,
					.signal = end.timed_out ? 0 : end.signal };
	char *path;
	struct err *err = judge(&r->o->judge, &end, &judged.kind, &judged.message);

	if (err)
		return err;
	path = plait_name(r->o, s->run, outcome_name(judged.kind));
	err = keep(r, s->dir, path, &judged, p->seconds, run);
	free(judged.message);
	if (!err && r->o->follow) {
		_cleanup_(xfreep) char *name = xstrdup(run->plait);

		err = keep_children(r, s->dir, name);
	}
	slot_clear(s);
	return err;
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
			err = finish(r, which);
			progress("%u of %u runs", r->started - (unsigned)running, r->o->runs);
		}
	}
	progress_done();
	return err;
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
	err = run_all(&r, jobs);
	for (size_t i = 0; i < jobs; i++) {
		if (!r.processes[i].ended)
			process_kill(&r.processes[i]);
		slot_clear(&r.slots[i]);
	}
	free(r.processes);
	free(r.slots);
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
