/* run/debug.c - a replay under gdb, or under our own eyes until it fails.
 *
 * gdb starts the target itself (and starts it again on `run`); what makes it a replay is the
 * environment and the control area, which this process keeps open meanwhile. Threads are switched
 * by futex, so that gdb sees them as the threads they are. */
#include "run/session.h"

#include "base/embed.h"
#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "run/director.h"

#include <string.h>

extern const char gdb_script[];
EMBED(gdb_script, "run/plait.py");

struct words VEC_FIELDS(char *);

static void push(struct words *w, const char *word)
{
	vec_push(w, xstrdup(word));
}

static void words_deinit(struct words *w)
{
	for (size_t i = 0; i < w->len; i++)
		free(w->data[i]);
	vec_deinit(w);
}

/* gdb hands its environment on to the target. What gdb must not have itself goes by command. */
static void set_by_command(struct words *w, const struct environment *e, const char *name)
{
	const char *value = environment_find(e, name);

	if (!value)
		return;
	push(w, "-ex");
	vec_push(w, xasprintf("set environment %s %s", name, value));
}

/* Of gdb's own environment nothing may change: a plait can set PATH or LC_ALL. A command is one line, so what has
 * several goes through gdb (run_gdb). */
static bool is_command(const char *entry)
{
	return strchr(entry, '=') && !strchr(entry, '\n');
}

/* The variables of the plait and the folder that its run began in. */
static void set_surroundings(struct words *w, const struct target *t)
{
	for (size_t i = 0; t->env && t->env[i]; i++) {
		int name = (int)strcspn(t->env[i], "=");

		if (!is_command(t->env[i]))
			continue;
		push(w, "-ex");
		vec_push(w, xasprintf("set environment %.*s %s", name, t->env[i],
				      t->env[i] + name + 1));
	}
	if (t->folder) {
		push(w, "-ex");
		vec_push(w, xasprintf("set cwd %s", t->folder));
	}
}

/* The target's arguments, and its standard input, as every other replay has it. */
static void set_arguments(struct words *w, const struct session *s)
{
	_cleanup_(strbuf_deinit) struct strbuf args = { 0 };

	strbuf_adds(&args, "set args");
	for (size_t i = 1; s->target->argv[i]; i++) {
		strbuf_addc(&args, ' ');
		strbuf_add_shell(&args, s->target->argv[i]);
	}
	strbuf_adds(&args, " < ");
	strbuf_add_shell(&args, s->input);
	push(w, "-ex");
	push(w, strbuf_str(&args));
}

static void gdb_command(const struct session *s, const char *gdb, const char *script_path,
			char *const *extra, struct words *argv)
{
	_cleanup_(environment_deinit) struct environment e = { 0 };

	environment_copy(&e);
	runtime_set_environment(&s->runtime, "control", &e);
	environment_set(&e, "LD_BIND_NOW", "1");
	push(argv, gdb);
	push(argv, "-q");
	set_by_command(argv, &e, "LD_PRELOAD");
	set_by_command(argv, &e, "LD_BIND_NOW");
	set_by_command(argv, &e, "ASAN_OPTIONS");
	set_by_command(argv, &e, "UBSAN_OPTIONS");
	set_surroundings(argv, s->target);
	set_arguments(argv, s);
	push(argv, "-x");
	push(argv, script_path);
	for (size_t i = 0; extra && extra[i]; i++)
		push(argv, extra[i]);
	push(argv, s->runtime.program);
	vec_push(argv, NULL);
}

/* The control area makes a replay of whatever process has this environment. */
static void point_to_area(const struct session *s, struct environment *e)
{
	environment_set(e, PLAIT_ENV_MODE, "control");
	environment_set(e, PLAIT_ENV_CONTROL, s->area.path);
	environment_set(e, PLAIT_ENV_DIR, NULL);
	environment_set(e, PLAIT_ENV_SERVER, NULL);
}

static struct err *run_gdb(const struct session *s, const char *gdb, const char *script_path,
			   char *const *extra, int *status)
{
	_cleanup_(environment_deinit) struct environment env = { 0 };
	_cleanup_(words_deinit) struct words argv = { 0 };
	struct process_options o = { .program = gdb };
	struct process p;
	struct err *err;

	gdb_command(s, gdb, script_path, extra, &argv);
	environment_copy(&env);
	for (size_t i = 0; s->target->env && s->target->env[i]; i++)
		if (!is_command(s->target->env[i]))
			environment_put(&env, s->target->env[i]);
	point_to_area(s, &env);
	o.argv = argv.data;
	o.env = env.data;
	err = process_start(&o, &p);
	process_wait_end(&p); /* Ctrl-C is gdb's */
	*status = p.exit_code >= 0 ? p.exit_code : 1;
	return err;
}

struct err *session_debug(struct session *s, const struct run_request *req, char *const *extra,
			  int *status)
{
	_cleanup_(xfreep) char *gdb = file_find_program("gdb");
	_cleanup_(xfreep) char *path = xasprintf("%s/plait.py", s->dir);
	struct err *err;

	if (!gdb)
		return err_new(ERR_ENV, "gdb is not installed");
	err = file_write(path, gdb_script, strlen(gdb_script));
	if (!err)
		err = session_write_request(s, req);
	s->area.control->gate = PLAIT_GATE_FUTEX;
	return err ? err : run_gdb(s, gdb, path, extra, status);
}

struct err *session_dump(struct session *s, const struct run_request *req, const char *core,
			 bool *dumped)
{
	_cleanup_(environment_deinit) struct environment env = { 0 };
	struct director_options o = { .argv = s->target->argv,
				      .program = s->runtime.program,
				      .folder = s->target->folder,
				      .in = s->input,
				      .timeout = session_timeout(s),
				      .core = core,
				      .at_end = true };
	struct director_result result = { 0 };
	struct err *err = session_write_request(s, req);

	*dumped = false;
	if (err)
		return err;
	s->area.control->gate = PLAIT_GATE_FUTEX;
	environment_copy(&env);
	runtime_set_environment(&s->runtime, "control", &env);
	environment_set(&env, "LD_BIND_NOW", "1");
	point_to_area(s, &env);
	for (size_t i = 0; s->target->env && s->target->env[i]; i++)
		environment_put(&env, s->target->env[i]);
	o.env = env.data;
	err = director_run(&o, &result);
	*dumped = result.dumped;
	return err;
}
