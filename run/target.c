/* run/target.c - what is run and what counts as failing, kept in the plait.
 *
 * Section "target": one line NAME=VALUE per setting that was given, in the order of `settings`.
 * Paths are stored absolute. A value with a line break cannot be stored (no path or command that
 * was typed has one): it is left out, and must be given again. */
#include "run/run.h"

#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/mem.h"
#include "run/log.h"
#include "trace/trace.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTION	      "target"
#define INPUT_SECTION "stdin"
#define FILES_SECTION "inputs"

static void put(struct strbuf *out, const char *name, const char *value)
{
	if (value && !strchr(value, '\n'))
		strbuf_addf(out, "%s=%s\n", name, value);
}

static void put_path(struct strbuf *out, const char *name, const char *path)
{
	char full[PATH_MAX];

	if (path)
		put(out, name, realpath(path, full) ? full : path);
}

/* ---- when waits time out ---- */

static const char *const timeouts_names[] = PLAIT_TIMEOUTS_NAMES;

const char *timeouts_name(uint32_t timeouts)
{
	return timeouts < ARRAY_SIZE(timeouts_names) ? timeouts_names[timeouts] : "late";
}

bool timeouts_parse(const char *name, uint32_t *ret)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(timeouts_names); i++)
		if (!strcmp(name, timeouts_names[i])) {
			*ret = i;
			return true;
		}
	return false;
}

/* ---- the section ---- */

void target_write(const struct target *t, struct strbuf *out)
{
	put_path(out, "input", t->input);
	put_path(out, "expect", t->expect);
	put(out, "oracle", t->oracle);
	put(out, "predicate", t->predicate);
	if (t->fail_on_exit)
		put(out, "fail-on", "exit");
	if (t->timeout > 0)
		strbuf_addf(out, "timeout=%g\n", t->timeout);
	if (t->point_budget)
		strbuf_addf(out, "steps=%llu\n", (unsigned long long)t->point_budget);
	if (t->timeouts)
		put(out, "timeouts", timeouts_name(t->timeouts));
	if (t->spurious)
		put(out, "spurious", "1");
	if (t->exec_each)
		put(out, "exec", "1");
	for (size_t i = 0; t->env && t->env[i]; i++)
		put(out, "env", t->env[i]);
}

/* `entry` is borrowed from the text that was read. */
static void take_env(struct target *t, const char *entry)
{
	if (t->env && t->env != t->stored_env.data)
		return;
	if (t->stored_env.len)
		vec_pop(&t->stored_env); /* the NULL */
	vec_push(&t->stored_env, (char *)entry);
	vec_push(&t->stored_env, NULL);
	t->env = t->stored_env.data;
}

/* What was said on the command line wins. */
static void take(struct target *t, const char *name, const char *value)
{
	if (!strcmp(name, "input") && !t->input && !t->input_data)
		t->input = value;
	else if (!strcmp(name, "expect") && !t->expect)
		t->expect = value;
	else if (!strcmp(name, "oracle") && !t->oracle)
		t->oracle = value;
	else if (!strcmp(name, "predicate") && !t->predicate)
		t->predicate = value;
	else if (!strcmp(name, "fail-on"))
		t->fail_on_exit |= !strcmp(value, "exit");
	else if (!strcmp(name, "timeout") && t->timeout <= 0)
		t->timeout = strtod(value, NULL);
	else if (!strcmp(name, "steps") && !t->point_budget)
		t->point_budget = strtoull(value, NULL, 10);
	else if (!strcmp(name, "timeouts") && !t->timeouts)
		timeouts_parse(value, &t->timeouts);
	else if (!strcmp(name, "spurious"))
		t->spurious = true;
	else if (!strcmp(name, "exec"))
		t->exec_each = true;
	else if (!strcmp(name, "env"))
		take_env(t, value);
}

static void parse(struct target *t)
{
	char *line = t->stored, *end, *equals;

	for (; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			return;
		*end = 0;
		equals = strchr(line, '=');
		if (!equals)
			continue;
		*equals = 0;
		take(t, line, equals + 1);
	}
}

/* ---- standard input ---- */

/* Somebody else may hold the other end of a pipe open for good. */
enum { PATIENCE_MS = 500 };

static bool has_input(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	return S_ISREG(st.st_mode) || (S_ISFIFO(st.st_mode) && poll(&p, 1, PATIENCE_MS) > 0);
}

/* A large file from its beginning: its path, if that still means the same file; else NULL. */
static char *path_of_large(int fd)
{
	_cleanup_(xfreep) char *link = xasprintf("/proc/self/fd/%d", fd);
	char *path = realpath(link, NULL);
	struct stat st, named;

	if (path && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > INPUT_MAX &&
	    lseek(fd, 0, SEEK_CUR) == 0 && stat(path, &named) == 0 && named.st_dev == st.st_dev &&
	    named.st_ino == st.st_ino)
		return path;
	free(path);
	return NULL;
}

/* Read on until the end, or until there are more than `most` bytes. */
static struct err *read_some(struct strbuf *text, size_t most)
{
	char bytes[65536];
	ssize_t n = 0;

	while (!interrupted() && text->len <= most &&
	       ((n = read(0, bytes, sizeof(bytes))) > 0 || (n < 0 && errno == EINTR)))
		strbuf_add(text, bytes, n > 0 ? (size_t)n : 0);
	if (interrupted())
		return interrupt_error();
	return n < 0 ? err_errno(errno, "standard input") : NULL;
}

/* The beginning of it, and the rest of what comes, into a file of ours. */
static struct err *spool_stdin(struct target *t, struct strbuf *text)
{
	struct err *err = file_temp_dir(&t->spool);
	FILE *f = NULL;

	if (!err) {
		t->stored_path = xasprintf("%s/stdin", t->spool);
		f = fopen(t->stored_path, "we");
	}
	while (!err && f && text->len) {
		if (fwrite(text->data, 1, text->len, f) != text->len || fflush(f) != 0)
			err = err_errno(errno, "cannot keep standard input in %s", t->spool);
		text->len = 0;
		if (!err)
			err = read_some(text, INPUT_MAX);
	}
	if (!err && !f)
		err = err_errno(errno, "cannot keep standard input in %s", t->spool);
	if (f)
		fclose(f);
	t->input = t->stored_path;
	if (err && t->spool)
		file_remove_tree(t->spool);
	if (!err)
		log_warn("standard input is too large for the plait: keep it, and give it to the "
			 "replay with --input");
	return err;
}

struct err *target_read_stdin(struct target *t)
{
	struct strbuf text = { 0 };
	struct err *err;

	if (t->input || t->input_data || !has_input(0))
		return NULL;
	t->input = t->stored_path = path_of_large(0);
	if (t->input) {
		log_warn("%s is too large for the plait: a replay needs it there", t->input);
		return NULL;
	}
	err = read_some(&text, INPUT_MAX);
	if (!err && text.len > INPUT_MAX)
		err = spool_stdin(t, &text);
	if (err || t->input) {
		strbuf_deinit(&text);
		return err;
	}
	t->input_len = text.len;
	if (text.len)
		t->input_data = t->stored_input = strbuf_detach(&text);
	return NULL;
}

struct err *target_read_input(struct target *t)
{
	struct strbuf text = { 0 };
	struct stat st;
	struct err *err;

	if (!t->input || (stat(t->input, &st) == 0 && st.st_size > INPUT_MAX))
		return NULL;
	err = file_read(t->input, &text);
	if (!err && text.len <= INPUT_MAX) {
		t->input_len = text.len;
		t->input_data = t->stored_input = text.len ? strbuf_detach(&text) : xstrdup("");
		t->input = NULL;
	}
	strbuf_deinit(&text);
	return err;
}

static struct err *take_input(struct target *t, struct trace *trace)
{
	const void *data = NULL;
	size_t len = 0;
	struct err *err = trace_section(trace, INPUT_SECTION, &data, &len);

	if (err || !data || t->input || t->input_data)
		return err;
	t->stored_input = xcalloc(1, len + 1);
	memcpy(t->stored_input, data, len);
	t->input_data = t->stored_input;
	t->input_len = len;
	return NULL;
}

/* ---- files ---- */

static struct err *take_files(struct target *t, struct trace *trace)
{
	const void *data = NULL;
	size_t len = 0;
	struct err *err = trace_section(trace, FILES_SECTION, &data, &len);

	return err || !data || t->inputs.len ? err : inputs_parse(data, len, &t->inputs);
}

static struct err *take_log(struct target *t, struct trace *trace)
{
	const void *data = NULL;
	size_t len = 0;
	struct err *err = trace_section(trace, LOG_SECTION, &data, &len);

	if (!err && !data)
		err = trace_section(trace, HEARD_SECTION, &data, &len);
	if (!err && data && !t->log)
		err = log_check(data, len);
	if (err || !data || t->log)
		return err;
	t->log = xmalloc(len);
	memcpy(t->log, data, len);
	t->log_len = len;
	return NULL;
}

/* ---- the command ---- */

/* "./prog" that is not here is where it was: the run then begins in that folder. */
static void take_folder(struct target *t, const struct trace_meta *meta)
{
	_cleanup_(xfreep) char *there = NULL;

	if (t->folder || !meta->cwd || !t->argv[0] || t->argv[0][0] == '/' ||
	    !strchr(t->argv[0], '/') || access(t->argv[0], X_OK) == 0)
		return;
	there = xasprintf("%s/%s", meta->cwd, t->argv[0]);
	if (access(there, X_OK) == 0)
		t->folder = t->stored_folder = xstrdup(meta->cwd);
}

static void copy_command(struct target *t, const struct trace_meta *meta)
{
	size_t i, n = 0;

	while (meta->command && meta->command[n])
		n++;
	t->stored_argv = xcalloc(n + 1, sizeof(*t->stored_argv));
	for (i = 0; i < n; i++)
		t->stored_argv[i] = xstrdup(meta->command[i]);
	t->argv = t->stored_argv;
}

/* Better now than a run that reads nothing and ends another way. */
static struct err *check(const struct target *t, const char *plait)
{
	if (!t->argv[0])
		return err_new(ERR_ENV,
			       "%s: does not say how the program was started; name the program "
			       "after it",
			       plait);
	if (t->input && access(t->input, R_OK) < 0)
		return err_new(ERR_ENV,
			       "%s: its standard input was %s, which cannot be read; give --input",
			       plait, t->input);
	if (t->expect && access(t->expect, R_OK) < 0)
		return err_new(ERR_ENV, "%s: its expected output was %s, which cannot be read",
			       plait, t->expect);
	return NULL;
}

/* A plait's settings, into what t does not say yet. */
static struct err *take_settings(struct target *t, struct trace *trace)
{
	const void *data = NULL;
	size_t len = 0;
	struct err *err = take_input(t, trace);

	if (!err)
		err = take_files(t, trace);
	if (!err)
		err = take_log(t, trace);
	if (!err)
		err = trace_section(trace, SECTION, &data, &len);
	if (err || !data)
		return err;
	t->stored = xcalloc(1, len + 1);
	memcpy(t->stored, data, len);
	parse(t);
	return NULL;
}

struct err *target_stored(struct trace *trace, struct target *ret)
{
	copy_command(ret, trace_meta(trace));
	return take_settings(ret, trace);
}

struct err *target_from_plait(struct target *t, const char *plait, char *const *command)
{
	struct trace *trace = NULL;
	struct err *err;

	if (command && command[0])
		t->argv = (char **)command;
	err = trace_open(plait, &trace);
	if (err && t->argv) { /* a bare schedule: all there is to know was given */
		err_free(err);
		return NULL;
	}
	if (!err && !t->argv)
		copy_command(t, trace_meta(trace));
	if (!err)
		err = take_settings(t, trace);
	if (!err && t->argv == t->stored_argv)
		take_folder(t, trace_meta(trace));
	trace_close(trace);
	return err ? err : check(t, plait);
}

struct target target_borrow(const struct target *t)
{
	struct target b = *t;

	b.stored = b.stored_input = b.stored_folder = b.stored_path = b.spool = b.log = NULL;
	b.log_len = 0;
	b.stored_argv = NULL;
	b.inputs = (struct inputs){ 0 };
	memset(&b.stored_env, 0, sizeof(b.stored_env));
	return b;
}

void target_deinit(struct target *t)
{
	size_t i;

	for (i = 0; t->stored_argv && t->stored_argv[i]; i++)
		free(t->stored_argv[i]);
	free(t->stored_argv);
	free(t->stored);
	free(t->stored_input);
	free(t->stored_folder);
	free(t->stored_path);
	if (t->spool)
		file_remove_tree(t->spool);
	free(t->spool);
	free(t->log);
	inputs_deinit(&t->inputs);
	vec_deinit(&t->stored_env);
	t->stored_argv = NULL;
	t->stored = t->stored_input = t->stored_folder = t->stored_path = t->spool = t->log = NULL;
}
