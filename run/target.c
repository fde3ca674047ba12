/* run/target.c - what is run and what counts as failing, kept in the plait.
 *
 * Section "target": one line NAME=VALUE per setting that was given, in the order of `settings`.
 * Paths are stored absolute. A value with a line break cannot be stored (no path or command that
 * was typed has one): it is left out, and must be given again. */
#include "run/run.h"

#include "base/err.h"
#include "base/mem.h"
#include "trace/trace.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTION "target"

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

void target_write(const struct target *t, struct strbuf *out)
{
	put_path(out, "input", t->input);
	put_path(out, "expect", t->expect);
	put(out, "oracle", t->oracle);
	if (t->fail_on_exit)
		put(out, "fail-on", "exit");
	if (t->timeout > 0)
		strbuf_addf(out, "timeout=%g\n", t->timeout);
	if (t->point_budget)
		strbuf_addf(out, "steps=%llu\n", (unsigned long long)t->point_budget);
	if (t->spurious)
		put(out, "spurious", "1");
	if (t->exec_each)
		put(out, "exec", "1");
}

/* What was said on the command line wins. */
static void take(struct target *t, const char *name, const char *value)
{
	if (!strcmp(name, "input") && !t->input)
		t->input = value;
	else if (!strcmp(name, "expect") && !t->expect)
		t->expect = value;
	else if (!strcmp(name, "oracle") && !t->oracle)
		t->oracle = value;
	else if (!strcmp(name, "fail-on"))
		t->fail_on_exit |= !strcmp(value, "exit");
	else if (!strcmp(name, "timeout") && t->timeout <= 0)
		t->timeout = strtod(value, NULL);
	else if (!strcmp(name, "steps") && !t->point_budget)
		t->point_budget = strtoull(value, NULL, 10);
	else if (!strcmp(name, "spurious"))
		t->spurious = true;
	else if (!strcmp(name, "exec"))
		t->exec_each = true;
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
	struct err *err = trace_section(trace, SECTION, &data, &len);

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
	trace_close(trace);
	return err ? err : check(t, plait);
}

void target_deinit(struct target *t)
{
	size_t i;

	for (i = 0; t->stored_argv && t->stored_argv[i]; i++)
		free(t->stored_argv[i]);
	free(t->stored_argv);
	free(t->stored);
	t->stored_argv = NULL;
	t->stored = NULL;
}
