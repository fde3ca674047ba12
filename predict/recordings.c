/* predict/recordings.c - which recordings are used: those of runs that passed, all of one build with one
 * command line and input. With a store (paths.h) they are kept there first, and all that it has of this
 * key is used. */
#define LOG_DOMAIN "predict"
#include "predict/digest.h"
#include "predict/round.h"

#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "run/record.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RECORD_SECONDS = 10 };

static void skip(struct predict *p, const char *path, const char *why)
{
	vec_push(&p->skipped, ((struct predict_skipped){ xstrdup(path), xstrdup(why) }));
}

static const char *why_useless(const struct trace_meta *meta, enum predict_method method)
{
	if (meta->mode != PLAIT_MODE_PATH && meta->mode != PLAIT_MODE_FULL &&
	    meta->mode != PLAIT_MODE_CONTROL)
		return "its mode has no paths; record with --mode path";
	if (meta->outcome.kind == PLAIT_OUTCOME_UNKNOWN)
		return "it does not say how the run ended";
	if (meta->outcome.kind != PLAIT_OUTCOME_PASS)
		return "this run failed; `unplait solve` finds its schedule";
	if (method == PREDICT_VALUES && meta->mode == PLAIT_MODE_PATH)
		return "it has no values; record with --mode full, or use --method auto";
	if (!predict_program(meta))
		return "its program was not built with `unplait cc`";
	if (meta->lost)
		return "parts of it were lost when it was recorded";
	return NULL;
}

/* The first line of a key is the build. */
static bool is_same_build(const char *a, const char *b)
{
	size_t n = strcspn(a, "\n");

	return strcspn(b, "\n") == n && strncmp(a, b, n) == 0;
}

/* All recordings are of one program, run in one way: that of the first. */
static struct err *check_key(struct predict *p, struct trace *t, const char **why)
{
	_cleanup_(xfreep) char *key = NULL;
	struct err *err = predict_key(t, &key);

	if (err)
		return err;
	if (!p->key) {
		p->binary = xstrdup(predict_program(trace_meta(t))->path);
		p->key = key;
		key = NULL;
	} else if (!is_same_build(p->key, key)) {
		*why = "it is of another build than the recordings before it";
	} else if (strcmp(p->key, key) != 0) {
		*why = "its run had other arguments or input than the recordings before it";
	}
	return NULL;
}

/* Into the store, or, without one, to the others. */
static struct err *keep(struct predict *p, const char *path, const struct file_map *bytes,
			struct trace *t)
{
	uint64_t digest;
	struct err *err;

	if (p->store)
		return paths_add(p->store, bytes, t, NULL);
	err = predict_digest(t, &digest);
	if (!err)
		vec_push(&p->recordings, ((struct paths_run){ xstrdup(path), digest, 1 }));
	return err;
}

/* *why: it cannot be used. Errors are about it alone, but for those of the store. */
static struct err *look_at(struct predict *p, const char *path, char **why)
{
	struct file_map bytes = { 0 };
	struct trace *t = NULL;
	const char *useless = NULL;
	struct err *err = file_map_open(path, &bytes), *bad = err;

	if (!err)
		bad = err = trace_open_memory(path, bytes.data, bytes.len, &t);
	if (!err)
		useless = why_useless(trace_meta(t), p->o.method);
	if (!err && !useless)
		bad = err = check_key(p, t, &useless);
	if (!err && !useless) {
		err = keep(p, path, &bytes, t);
		bad = p->store ? NULL : err;
	}
	if (bad || useless)
		*why = xstrdup(bad ? err_message(bad) : useless);
	err_free(bad);
	trace_close(t);
	file_map_close(&bytes);
	return bad ? NULL : err;
}

static struct err *add_file(struct predict *p, const char *path)
{
	_cleanup_(xfreep) char *why = NULL;
	struct err *err = look_at(p, path, &why);

	if (why)
		skip(p, path, why);
	return err;
}

static struct err *add_files(struct predict *p, char *const *files, size_t n)
{
	struct err *err = p->store ? paths_begin(p->store) : NULL;

	if (err)
		return err;
	for (size_t i = 0; i < n && !err && !interrupted(); i++)
		err = add_file(p, files[i]);
	return p->store ? paths_end(p->store, err) : err;
}

static struct err *add_folder(struct predict *p, const char *path)
{
	struct predict_files files = { 0 };
	struct err *err = predict_list(path, &files);

	if (!err)
		err = add_files(p, files.data, files.len);
	predict_files_deinit(&files);
	return err;
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
	return add_files(p, (char *const[]){ (char *)path }, 1);
}

struct err *predict_record(struct predict *p, unsigned runs)
{
	_cleanup_(xfreep) char *path = NULL;
	struct record_runs made = { 0 };
	struct record_options o = { .command = p->o.target.argv,
				    .mode = p->o.method == PREDICT_VALUES ? "full" : "path",
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

/* ---- from the store ---- */

/* What was given says which of its programs is meant; otherwise there must be only one. */
static struct err *find_key(struct predict *p)
{
	struct err *err = p->key ? NULL : paths_key(p->store, &p->key);

	if (err || p->key)
		return err;
	return err_new(
		ERR_ENV,
		"the store %s holds nothing, or runs of several programs, arguments or inputs; "
		"give a recording to say which",
		p->o.store);
}

/* The program is where the first of its recordings that can be read says. */
static void find_binary(struct predict *p)
{
	for (size_t i = 0; i < p->recordings.len && !p->binary; i++) {
		struct trace *t = NULL;
		struct err *err = trace_open(p->recordings.data[i].plait, &t);

		if (!err && predict_program(trace_meta(t)))
			p->binary = xstrdup(predict_program(trace_meta(t))->path);
		err_free(err);
		trace_close(t);
	}
}

struct err *predict_choose(struct predict *p)
{
	struct err *err = NULL;

	if (p->store && !p->recordings.len && (p->key || !p->skipped.len))
		err = find_key(p);
	if (!err && p->store && p->key && !p->recordings.len)
		err = paths_runs(p->store, p->key, &p->recordings);
	if (err)
		return err;
	find_binary(p);
	if (p->recordings.len && p->binary)
		return NULL;
	return err_new(ERR_ENV, "no recording can be used%s%s",
		       p->skipped.len ? "; the first: " : "",
		       p->skipped.len ? p->skipped.data[0].why : "");
}

struct err *predict_first(struct predict *p, const char **ret)
{
	struct err *err = predict_choose(p);

	*ret = err ? NULL : p->recordings.data[0].plait;
	return err;
}

struct err *predict_keep(struct predict *p, const struct base *b)
{
	struct file_map bytes = { 0 };
	struct err *err;

	if (!p->store)
		return NULL;
	err = file_map_open(b->plait, &bytes);
	if (!err)
		err = paths_begin(p->store);
	if (!err)
		err = paths_end(p->store, paths_add(p->store, &bytes, b->trace, b->l.paths));
	file_map_close(&bytes);
	return err;
}

/* ---- one after the other ---- */

/* Follow a recording, unless one with the same decisions was followed. */
static struct err *load(struct predict *p, size_t recording)
{
	const struct paths_run *r = &p->recordings.data[recording];
	const char *path = r->plait;
	const uint64_t *known = map_find(&p->digested, r->digest);
	uint64_t what = known ? *known : 0;
	struct err *err = known ? NULL : round_add(p, path, path, NULL, &what);

	if (err && err_kind(err) == ERR_ENV) { /* this one is bad; others may be good */
		skip(p, path, err_message(err));
		err_free(err);
		return NULL;
	}
	if (err)
		return err;
	map_put(&p->digested, r->digest, what);
	if (what)
		*map_put(&p->runs, what, 0) += r->runs;
	p->result->recordings += r->runs;
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
