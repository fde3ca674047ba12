/* sym/explore/confirm.c - the solver proposes, a native run disposes: run the program with the input of
 * each error and see whether the same thing happens. A memory error need not crash by itself; when
 * the source is at hand the program is built once more with AddressSanitizer to make it visible. */
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "sym/ir/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NATIVE_SECONDS 10

struct native {
	int status; /* of waitpid */
	bool timeout;
	char text[256]; /* the first line of a sanitizer's report */
};

static void child(const char *exe, const struct sym_path *p, const char *const *env,
		  const char *folder, int in, int err_fd)
{
	int null = open("/dev/null", O_WRONLY);
	struct rlimit no_core = { 0, 0 };
	VEC(const char *) e = { 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	dup2(in, 0);
	dup2(null, 1);
	dup2(err_fd, 2);
	if (chdir(folder))
		_exit(126);
	for (size_t i = 0; env && env[i]; i++)
		vec_push(&e, env[i]);
	for (uint32_t i = 0; i < p->nenv; i++)
		vec_push(&e, p->env[i]);
	vec_push(&e, "ASAN_OPTIONS=detect_leaks=0:abort_on_error=0:exitcode=99");
	vec_push(&e, NULL);
	execve(exe, p->args, (char *const *)e.data);
	_exit(127);
}

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

static struct err *run_native(const char *exe, const struct sym_path *p,
			      const struct sym_config *config, struct native *n)
{
	_cleanup_(xfreep) char *folder = NULL;
	_cleanup_(xfreep) char *in_path = NULL;
	_cleanup_(xfreep) char *err_path = NULL;
	struct strbuf text = { 0 };
	struct err *err = file_temp_dir(&folder);
	double start;
	int in, err_fd;
	pid_t pid;

	*n = (struct native){ 0 };
	if (err)
		return err;
	in_path = xasprintf("%s.in", folder);
	err_path = xasprintf("%s.err", folder);
	err = file_write(in_path, p->input, p->input_len);
	if (err)
		return err;
	in = open(in_path, O_RDONLY | O_CLOEXEC);
	err_fd = open(err_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	pid = fork();
	if (pid == 0)
		child(exe, p, config->env, folder, in, err_fd);
	start = clock_seconds();
	while (pid > 0 && waitpid(pid, &n->status, WNOHANG) == 0) {
		if (clock_seconds() - start > NATIVE_SECONDS || should_stop(config)) {
			kill(pid, SIGKILL);
			n->timeout = true;
			waitpid(pid, &n->status, 0);
			break;
		}
		poll(NULL, 0, 2);
	}
	close(in);
	close(err_fd);
	err_free(file_read(err_path, &text));
	keep_report(n, strbuf_str(&text));
	strbuf_deinit(&text);
	unlink(in_path);
	unlink(err_path);
	file_remove_tree(folder);
	return pid < 0 ? err_errno(errno, "fork") : NULL;
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
	struct err *err = NULL;

	for (size_t i = 0; !err && p->native && i < r->paths.len && !should_stop(config); i++) {
		struct sym_path *path = &r->paths.data[i];
		const char *asan = NULL;
		struct native n;

		if (path->outcome.kind == SYM_UNSUPPORTED || path->outcome.kind == SYM_BUDGET)
			continue;
		progress("running input %zu of %zu", i + 1, r->paths.len);
		err = run_native(p->native, path, config, &n);
		if (err)
			break;
		if (!agrees(&path->outcome, &n) && sym_kind_is_error(path->outcome.kind)) {
			asan = sym_sanitized(p);
			if (asan)
				err = run_native(asan, path, config, &n);
			if (err)
				break;
		}
		if (should_stop(config)) /* it may have died of the same signal */
			break;
		describe(&n, path->native, sizeof(path->native));
		path->confirmed = agrees(&path->outcome, &n) ? 1 : -1;
	}
	progress_done();
	return err;
}
