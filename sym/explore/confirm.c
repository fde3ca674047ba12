/* sym/explore/confirm.c - the solver proposes, a native run disposes: run the program with the input of
 * each error and see whether the same thing happens. A memory error need not crash by itself; when
 * the source is at hand the program is built once more with AddressSanitizer to make it visible. */
#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "sym/ir/program.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define NATIVE_SECONDS	 10
#define CONFIRM_AT_LEAST 2.0 /* seconds */

struct native {
	int status; /* of waitpid */
	bool timeout, cut;
	char text[256]; /* the first line of a sanitizer's report */
};

static void keep_report(struct native *n, const char *text)
{
	const char *at = strstr(text, "ERROR: AddressSanitizer: ");

	if (!at)
		return;
	at += strlen("ERROR: ");
	snprintf(n->text, sizeof(n->text), "%.*s", (int)MIN(strcspn(at, "\n"), 60), at);
	if (strstr(n->text, " on ")) /* addresses differ from run to run */
		*strstr(n->text, " on ") = '\0';
}

static bool should_stop(const struct sym_config *c)
{
	return c->interrupted && c->interrupted();
}

/* When confirming has to end: --seconds is for all, but the first findings get a moment. */
static double confirm_until(const struct sym_config *c, const struct sym_result *r)
{
	if (c->max_seconds <= 0)
		return 0;
	return clock_seconds() + MAX(c->max_seconds - r->stats.seconds, CONFIRM_AT_LEAST);
}

/* What the user gave as the environment, and what the path found out about it. */
static void set_environment(const struct sym_path *p, const char *const *env,
			    struct environment *ret)
{
	for (size_t i = 0; env && env[i]; i++)
		if (strchr(env[i], '='))
			environment_put(ret, env[i]);
	for (uint32_t i = 0; i < p->nenv; i++)
		environment_put(ret, p->env[i]);
	environment_set(ret, "ASAN_OPTIONS", "detect_leaks=0:abort_on_error=0:exitcode=99");
}

/* An interrupted run is no error: what was confirmed until then is told all the same. */
static struct err *run_in(const char *folder, const char *exe, const struct sym_path *p,
			  const struct sym_config *config, double seconds, struct native *n)
{
	_cleanup_(environment_deinit) struct environment env = { 0 };
	_cleanup_(xfreep) char *in = xasprintf("%s/in", folder);
	_cleanup_(xfreep) char *errors = xasprintf("%s/err", folder);
	_cleanup_(xfreep) char *work = xasprintf("%s/work", folder);
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	struct process_options o = { .argv = p->args,
				     .program = exe,
				     .in = in,
				     .out = "/dev/null",
				     .err = errors,
				     .folder = work,
				     .timeout = MAX(MIN(seconds, NATIVE_SECONDS), 0.01),
				     .own_group = true,
				     .no_core = true };
	struct process process = { 0 };
	struct err *err = file_make_dirs(work);

	if (!err)
		err = file_write(in, p->input, p->input_len);
	if (err)
		return err;
	set_environment(p, config->env, &env);
	o.env = env.data;
	err = process_run(&o, &process);
	n->status = process.status;
	n->timeout = process.timed_out;
	n->cut = n->timeout && seconds < NATIVE_SECONDS;
	if (err && should_stop(config)) {
		err_free(err);
		err = NULL;
		n->timeout = true;
	}
	if (!err)
		err_free(file_read(errors, &text));
	keep_report(n, strbuf_str(&text));
	return err;
}

/* until: of clock_seconds, 0 = no limit. n->cut: the time was up before the run could be judged. */
static struct err *run_native(const char *exe, const struct sym_path *p,
			      const struct sym_config *config, double until, struct native *n)
{
	_cleanup_(xfreep) char *folder = NULL;
	struct err *err = file_temp_dir(&folder);

	*n = (struct native){ 0 };
	if (err)
		return err;
	err = run_in(folder, exe, p, config, until > 0 ? until - clock_seconds() : NATIVE_SECONDS,
		     n);
	file_remove_tree(folder);
	return err;
}

static void describe(const struct native *n, char *buf, size_t len)
{
	if (*n->text)
		snprintf(buf, len, "%.60s", n->text);
	else if (n->timeout)
		snprintf(buf, len, "still running after %d s", NATIVE_SECONDS);
	else if (WIFSIGNALED(n->status))
		snprintf(buf, len, "%s", strsignal(WTERMSIG(n->status)));
	else
		snprintf(buf, len, "exit status %d", WEXITSTATUS(n->status));
}

/* Does a native run that ended like this show the same failure? */
static bool agrees(const struct sym_outcome *o, const struct native *n)
{
	int sig = WIFSIGNALED(n->status) ? WTERMSIG(n->status) : 0;

	switch (o->kind) {
	case SYM_EXIT:
		return WIFEXITED(n->status) && WEXITSTATUS(n->status) == o->code && !*n->text;
	case SYM_ASSERT:
		return sig == SIGABRT;
	case SYM_ABORT:
		return sig == SIGABRT || sig == SIGILL || sig == SIGTRAP; /* __builtin_trap */
	case SYM_DIV_ZERO:
		return sig == SIGFPE;
	case SYM_DEADLOCK:
	case SYM_LIVELOCK:
		return n->timeout;
	case SYM_UNSUPPORTED:
	case SYM_BUDGET:
		return false;
	default:
		return *n->text || (!n->timeout && (sig == SIGSEGV || sig == SIGBUS ||
						    sig == SIGABRT || sig == SIGILL));
	}
}

struct err *sym_confirm(struct sym_program *p, const struct sym_config *config,
			struct sym_result *r)
{
	double until = confirm_until(config, r);
	struct err *err = NULL;

	for (size_t i = 0; !err && p->native && i < r->paths.len && !should_stop(config); i++) {
		struct sym_path *path = &r->paths.data[i];
		const char *asan = NULL;
		struct native n;

		if (path->outcome.kind == SYM_UNSUPPORTED || path->outcome.kind == SYM_BUDGET)
			continue;
		if (until > 0 && clock_seconds() > until) {
			names_intern(&r->notes, "the time was used up before every finding could "
						"be run natively");
			break;
		}
		progress("running input %zu of %zu", i + 1, r->paths.len);
		err = run_native(p->native, path, config, until, &n);
		if (err)
			break;
		if (!agrees(&path->outcome, &n) && sym_kind_is_error(path->outcome.kind)) {
			asan = sym_sanitized(p);
			if (asan)
				err = run_native(asan, path, config, until, &n);
			if (err)
				break;
		}
		if (should_stop(config)) /* it may have died of the same signal */
			break;
		if (n.cut)
			continue; /* the next round says so */
		describe(&n, path->native, sizeof(path->native));
		path->confirmed = agrees(&path->outcome, &n) ? 1 : -1;
	}
	progress_done();
	return err;
}
