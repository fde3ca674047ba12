/* predict/predict.c - recordings in, predictions out: see predict.h.
 *
 * Here recordings are chosen: those of runs that passed, all of one build with one command line. The
 * search is round.c. */
#include "predict/predict.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "predict/published.h"
#include "predict/round.h"
#include "run/record.h"
#include "sym/sym.h"
#include "trace/trace.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	DEFAULT_SECONDS = 60,
	DEFAULT_QUESTION_SECONDS = 2,
	DEFAULT_RUNS = 500,
	RECORD_SECONDS = 10
};

struct err *predict_open(const struct predict_options *o, struct predict **ret)
{
	struct predict *p = xcalloc(1, sizeof(*p));

	p->o = *o;
	if (p->o.seconds <= 0)
		p->o.seconds = DEFAULT_SECONDS;
	if (p->o.question_seconds <= 0)
		p->o.question_seconds = DEFAULT_QUESTION_SECONDS;
	if (!p->o.targets)
		p->o.targets = PREDICT_DEFAULT;
	if (!p->o.flips && p->o.published)
		p->o.flips = PUBLISHED_FLIPS;
	if (!p->o.traces)
		p->o.traces = PUBLISHED_TRACES;
	if (!p->o.runs)
		p->o.runs = DEFAULT_RUNS;
	p->target = target_borrow(&o->target);
	p->deadline = clock_seconds() + p->o.seconds;
	*ret = p;
	return NULL;
}

bool predict_targets_parse(const char *text, uint32_t *ret)
{
	static const char *const names[] = {
		"assert", "crash", "memory", "deadlock", "hang", "race"
	};

	*ret = 0;
	while (*text) {
		size_t len = strcspn(text, ","), i = 0;

		while (i < ARRAY_SIZE(names) &&
		       (strlen(names[i]) != len || strncmp(names[i], text, len) != 0))
			i++;
		if (i == ARRAY_SIZE(names))
			return false;
		*ret |= 1u << i;
		text += len + (text[len] == ',');
	}
	return *ret != 0;
}

static void skip(struct predict *p, const char *path, const char *why)
{
	vec_push(&p->skipped, ((struct predict_skipped){ xstrdup(path), xstrdup(why) }));
}

/* ---- which recordings can be used ---- */

/* The module whose sites come first: the program itself. */
static const struct trace_module *program_of(const struct trace_meta *meta)
{
	const struct trace_module *m = NULL;

	for (size_t i = 0; i < meta->nmodules; i++)
		if (meta->modules[i].nsites && meta->modules[i].first_site <= 1)
			m = &meta->modules[i];
	return m;
}

static const char *why_useless(const struct trace_meta *meta)
{
	if (meta->mode != PLAIT_MODE_PATH && meta->mode != PLAIT_MODE_FULL &&
	    meta->mode != PLAIT_MODE_CONTROL)
		return "its mode has no paths; record with --mode path";
	if (meta->outcome.kind == PLAIT_OUTCOME_UNKNOWN)
		return "it does not say how the run ended";
	if (meta->outcome.kind != PLAIT_OUTCOME_PASS)
		return "this run failed; `unplait solve` finds its schedule";
	if (!program_of(meta))
		return "its program was not built with `unplait cc`";
	if (meta->lost)
		return "parts of it were lost when it was recorded";
	return NULL;
}

static void command_text(char *const *command, struct strbuf *out)
{
	for (size_t i = 1; command && command[0] && command[i]; i++)
		strbuf_addf(out, "%s\n", command[i]);
}

/* All recordings are of one program, run in one way: that of the first. */
static const char *why_other(struct predict *p, const struct trace_meta *meta)
{
	const struct trace_module *m = program_of(meta);
	_cleanup_(strbuf_deinit) struct strbuf mine = { 0 };

	command_text(meta->command, &mine);
	if (!p->binary) {
		p->binary = xstrdup(m->path);
		memcpy(p->build_id, m->build_id, sizeof(p->build_id));
		p->arguments = xstrdup(strbuf_str(&mine));
		return NULL;
	}
	if (strcmp(p->build_id, m->build_id) != 0)
		return "it is of another build than the recordings before it";
	if (strcmp(p->arguments, strbuf_str(&mine)) != 0)
		return "its run had other arguments than the recordings before it";
	return NULL;
}

static void add_file(struct predict *p, const char *path)
{
	struct trace *t;
	struct err *err = trace_open(path, &t);
	uint64_t digest = 0;
	const char *why;

	if (err) {
		skip(p, path, err_message(err));
		err_free(err);
		return;
	}
	why = why_useless(trace_meta(t));
	if (!why)
		why = why_other(p, trace_meta(t));
	if (!why)
		err = predict_digest(t, &digest);
	if (why || err) {
		skip(p, path, why ? why : err_message(err));
		err_free(err);
	} else {
		vec_push(&p->recordings, xstrdup(path));
		vec_push(&p->digests, digest);
	}
	trace_close(t);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_plait(const char *name)
{
	size_t len = strlen(name);

	return len > 6 && strcmp(name + len - 6, ".plait") == 0;
}

static struct err *add_folder(struct predict *p, const char *path)
{
	VEC(char *) files = { 0 };
	DIR *dir = opendir(path);
	struct dirent *e;

	if (!dir)
		return err_new(ERR_ENV, "%s cannot be read", path);
	while ((e = readdir(dir)))
		if (is_plait(e->d_name))
			vec_push(&files, xasprintf("%s/%s", path, e->d_name));
	closedir(dir);
	vec_sort(&files, by_name);
	for (size_t i = 0; i < files.len; i++) {
		add_file(p, files.data[i]);
		free(files.data[i]);
	}
	vec_deinit(&files);
	return NULL;
}

struct err *predict_add(struct predict *p, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return err_new(ERR_ENV,
			       "there is no recording %s; make some with `unplait record "
			       "--mode path --runs 10 -o runs/ -- PROGRAM`",
			       path);
	if (S_ISDIR(st.st_mode))
		return add_folder(p, path);
	add_file(p, path);
	return NULL;
}

struct err *predict_record(struct predict *p, unsigned runs)
{
	_cleanup_(xfreep) char *path = NULL;
	struct record_runs made = { 0 };
	struct record_options o = { .command = p->o.target.argv,
				    .mode = "path",
				    .runs = runs,
				    .jobs = 1,
				    .timeout = p->o.target.timeout > 0 ? p->o.target.timeout
								       : RECORD_SECONDS,
				    .output_to_stderr = true,
				    .judge = { .fail_on_exit = p->o.target.fail_on_exit,
					       .ignored = p->o.target.ignored,
					       .oracle = p->o.target.oracle,
					       .expect = p->o.target.expect },
				    .target = &p->o.target };
	struct err *err = p->dir ? NULL : file_temp_dir(&p->dir);

	if (err)
		return err;
	path = xasprintf("%s/%s", p->dir, runs > 1 ? "runs" : "run.plait");
	o.output = path;
	err = record_run_all(&o, &made);
	record_runs_deinit(&made);
	return err ? err : predict_add(p, path);
}

/* What we have recorded ourselves is gone when somebody reads its name. */
char *predict_name(const struct predict *p, const char *path)
{
	size_t len = p->dir ? strlen(p->dir) : 0;

	return xstrdup(len && strncmp(path, p->dir, len) == 0 ? path + len + 1 : path);
}

/* ---- the search ---- */

static struct err *open_target(struct predict *p)
{
	struct err *err;

	if (!p->recordings.len)
		return err_new(ERR_ENV, "no recording can be used%s%s",
			       p->skipped.len ? "; the first: " : "",
			       p->skipped.len ? p->skipped.data[0].why : "");
	err = sym_open(p->binary, NULL, &p->program);
	if (!err && !p->dir)
		err = file_temp_dir(&p->dir);
	if (err || p->o.no_run)
		return err;
	err = target_from_plait(&p->target, p->recordings.data[0],
				p->o.target.argv ? p->o.target.argv : NULL);
	return err ? err : session_open(&p->target, &p->session);
}

/* Follow a recording, unless one with the same decisions was followed. */
static struct err *load(struct predict *p, size_t recording)
{
	const char *path = p->recordings.data[recording];
	const uint64_t *known = map_find(&p->digested, p->digests.data[recording]);
	uint64_t what = known ? *known : 0;
	struct err *err = known ? NULL : round_add(p, path, path, NULL, &what);

	if (err && err_kind(err) == ERR_ENV) { /* this one is bad; others may be good */
		skip(p, path, err_message(err));
		err_free(err);
		return NULL;
	}
	if (err)
		return err;
	map_put(&p->digested, p->digests.data[recording], what);
	if (what)
		++*map_put(&p->runs, what, 0);
	p->result->recordings++;
	return NULL;
}

struct err *predict_load_next(struct predict *p, bool *more)
{
	size_t before = p->bases.len;
	struct err *err = NULL;

	/* the first one is followed however little time there is: without it nothing can be said */
	while (!err && p->next < p->recordings.len && p->bases.len == before &&
	       (!p->bases.len || !round_is_over(p))) {
		progress("following recording %zu of %zu", p->next + 1, p->recordings.len);
		err = load(p, p->next++);
	}
	*more = p->bases.len > before;
	return err;
}

/* The first that can be followed; the published search begins with all of them. */
static struct err *load_first(struct predict *p)
{
	bool more = true;
	struct err *err = predict_load_next(p, &more);

	while (!err && more && p->o.published)
		err = predict_load_next(p, &more);
	progress_done();
	if (!err && !p->bases.len)
		err = err_new(ERR_INCONCLUSIVE, "no recording can be followed: %s",
			      p->result->gaps.len ? p->result->gaps.text[0]
			      : p->skipped.len	  ? p->skipped.data[0].why
						  : "nothing was recorded");
	return err;
}

struct err *predict_run(struct predict *p, struct predict_result *ret)
{
	struct err *err;

	*ret = (struct predict_result){ 0 };
	p->result = ret;
	p->hunt = (struct hunt_options){
		.target = p->target, .replays = p->o.replays, .all = p->o.all, .output = p->o.output
	};
	p->findings = (struct findings){ .o = &p->hunt,
					 .result = &ret->found,
					 .point_budget = RUN_POINTS };
	err = open_target(p);
	if (!err)
		err = load_first(p);
	if (!err)
		err = p->o.published ? published_run(p) : round_run(p);
	ret->paths = p->runs.len;
	if (!err && p->next < p->recordings.len && !ret->predictions.len && !ret->races.len)
		names_intern(&ret->gaps, "some recordings were not followed, for lack of time");
	if (!err && !p->o.published)
		ret->exhausted = cover_is_proof(p);
	if (!err && p->session)
		err = findings_end(&p->findings, p->session);
	for (size_t i = 0; i < p->skipped.len; i++)
		vec_push(&ret->skipped, p->skipped.data[i]);
	p->skipped.len = 0;
	return err;
}

void predict_close(struct predict *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->bases.len; i++)
		base_close(&p->bases.data[i]);
	vec_deinit(&p->bases);
	for (size_t i = 0; i < p->recordings.len; i++)
		free(p->recordings.data[i]);
	vec_deinit(&p->recordings);
	vec_deinit(&p->digests);
	map_deinit(&p->digested);
	map_deinit(&p->runs);
	for (size_t i = 0; i < p->skipped.len; i++) {
		free(p->skipped.data[i].path);
		free(p->skipped.data[i].why);
	}
	vec_deinit(&p->skipped);
	map_deinit(&p->paths);
	map_deinit(&p->taken);
	map_deinit(&p->asked);
	map_deinit(&p->times);
	findings_deinit(&p->findings);
	claim_deinit(&p->claim);
	sym_close(p->program);
	session_close(p->session);
	target_deinit(&p->target);
	if (p->dir)
		file_remove_tree(p->dir);
	free(p->dir);
	free(p->binary);
	free(p->arguments);
	free(p);
}

void predict_result_deinit(struct predict_result *r)
{
	hunt_result_deinit(&r->found);
	for (size_t i = 0; i < r->predictions.len; i++) {
		struct prediction *x = &r->predictions.data[i];

		flips_deinit(&x->flips);
		free(x->base);
	}
	vec_deinit(&r->predictions);
	for (size_t i = 0; i < r->races.len; i++) {
		flips_deinit(&r->races.data[i].flips);
		free(r->races.data[i].base);
		free(r->races.data[i].plait);
	}
	vec_deinit(&r->races);
	for (size_t i = 0; i < r->unconfirmed.len; i++) {
		flips_deinit(&r->unconfirmed.data[i].flips);
		free(r->unconfirmed.data[i].base);
	}
	vec_deinit(&r->unconfirmed);
	for (size_t i = 0; i < r->published.sets.len; i++)
		flips_deinit(&r->published.sets.data[i].flips);
	vec_deinit(&r->published.sets);
	for (size_t i = 0; i < r->skipped.len; i++) {
		free(r->skipped.data[i].path);
		free(r->skipped.data[i].why);
	}
	vec_deinit(&r->skipped);
	names_deinit(&r->gaps);
}
