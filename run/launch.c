/* run/launch.c - start a target, wait for it.
 *
 * Waiting is poll() on process descriptors: no signal handler for children, no race, any number at
 * once. Ctrl-C sets a flag and interrupts the poll; whoever waits kills what it started and
 * returns an error, so that the command's own cleanup (temporary folders) runs. */
#include "run/launch.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "unplait/abi.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	interrupted = signal;
}

int launch_interrupted(void)
{
	return interrupted;
}

void launch_catch_interrupts(void)
{
	static bool done;
	struct sigaction action = { .sa_handler = on_interrupt };

	if (done)
		return;
	done = true;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/* ---- in the child ---- */

static int redirect(const char *path, int fd, int flags)
{
	int from = open(path, flags | O_CLOEXEC, 0644);

	return from < 0 || dup2(from, fd) < 0 ? -1 : 0;
}

static int set_up(const struct launch_options *o, bool own_group)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (own_group)
		setpgid(0, 0);
	for (int s = 1; s < 32; s++)
		if (s == SIGINT || s == SIGTERM || s == SIGHUP)
			signal(s, SIG_DFL);
	if (o->no_aslr)
		personality(ADDR_NO_RANDOMIZE);
	if (o->stdin_path && redirect(o->stdin_path, 0, O_RDONLY) < 0)
		return -1;
	if (o->stdout_path && !*o->stdout_path && dup2(2, 1) < 0)
		return -1;
	if (o->stdout_path && *o->stdout_path &&
	    redirect(o->stdout_path, 1, O_WRONLY | O_CREAT | O_TRUNC) < 0)
		return -1;
	if (o->stderr_path && redirect(o->stderr_path, 2, O_WRONLY | O_CREAT | O_TRUNC) < 0)
		return -1;
	return 0;
}

/* ---- the environment ---- */

struct words VEC_FIELDS(char *);

static bool is_ours(const char *entry)
{
	static const char *const ours[] = { PLAIT_ENV_MODE, PLAIT_ENV_DIR, PLAIT_ENV_OPTIONS,
					    PLAIT_ENV_CONTROL, PLAIT_ENV_SERVER };
	size_t n = strcspn(entry, "=");

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (strlen(ours[i]) == n && strncmp(entry, ours[i], n) == 0)
			return true;
	return false;
}

static void set(struct words *env, const char *name, const char *value)
{
	if (value)
		vec_push(env, xasprintf("%s=%s", name, value));
}

static struct err *add_preload(struct words *env)
{
	_cleanup_(xfreep) char *library = file_find_part("libplait.so");
	const char *others = getenv("LD_PRELOAD");

	if (!library)
		return err_new(ERR_ENV, "libplait.so is not where unplait was installed");
	vec_push(env, others ? xasprintf("LD_PRELOAD=%s:%s", library, others)
			     : xasprintf("LD_PRELOAD=%s", library));
	return NULL;
}

static struct err *make_environment(const struct launch_options *o, struct words *env)
{
	struct err *err = NULL;

	for (char **e = environ; *e; e++)
		if (!is_ours(*e) && !(o->preload && strncmp(*e, "LD_PRELOAD=", 11) == 0))
			vec_push(env, xstrdup(*e));
	set(env, PLAIT_ENV_MODE, o->mode);
	set(env, PLAIT_ENV_DIR, o->dir);
	set(env, PLAIT_ENV_OPTIONS, o->options);
	for (char *const *e = o->environment; e && *e; e++)
		vec_push(env, xstrdup(*e));
	if (o->preload)
		err = add_preload(env);
	vec_push(env, NULL);
	return err;
}

static void words_deinit(struct words *w)
{
	for (size_t i = 0; i < w->len; i++)
		free(w->data[i]);
	vec_deinit(w);
}

/* ---- starting ---- */

/* fork and exec; the pipe brings back errno when exec fails, and closes when it succeeds. */
static int spawn(const struct launch_options *o, const char *program, char **env, bool own_group,
		 pid_t *ret)
{
	int fds[2], error = 0;
	ssize_t n;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return errno;
	*ret = fork();
	if (*ret < 0) {
		error = errno;
		close(fds[0]);
		close(fds[1]);
		return error;
	}
	if (*ret == 0) {
		if (set_up(o, own_group) == 0)
			execve(program, o->command, env);
		error = errno;
		n = write(fds[1], &error, sizeof(error));
		_exit(127);
	}
	close(fds[1]);
	n = read(fds[0], &error, sizeof(error));
	close(fds[0]);
	if (n == (ssize_t)sizeof(error)) {
		waitpid(*ret, NULL, 0);
		return error;
	}
	return 0;
}

struct err *launch_start(const struct launch_options *o, struct launch *ret)
{
	_cleanup_(xfreep) char *program = file_find_program(o->command[0]);
	_cleanup_(words_deinit) struct words env = { 0 };
	struct err *err;
	int error;

	*ret = (struct launch){ .pidfd = -1, .exit_code = -1 };
	if (!program && strchr(o->command[0], '/'))
		program = xstrdup(o->command[0]); /* the kernel says what is wrong with it */
	if (!program)
		return err_new(ERR_ENV, "there is no program '%s'", o->command[0]);
	err = make_environment(o, &env);
	if (err)
		return err;
	launch_catch_interrupts();
	/* a group of its own could not read from the terminal */
	ret->own_group = !isatty(0) || o->stdin_path;
	ret->started = clock_seconds();
	ret->deadline = o->timeout > 0 ? ret->started + o->timeout : 0;
	error = spawn(o, program, env.data, ret->own_group, &ret->pid);
	if (error)
		return err_errno(error, "cannot start '%s'", o->command[0]);
	ret->pidfd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
	if (ret->pidfd < 0) {
		error = errno;
		launch_kill(ret);
		return err_errno(error, "cannot watch '%s'", o->command[0]);
	}
	return NULL;
}

/* ---- waiting ---- */

static void reap(struct launch *l)
{
	int status = 0;

	while (waitpid(l->pid, &status, 0) < 0 && errno == EINTR)
		;
	l->ended = true;
	l->seconds = clock_seconds() - l->started;
	l->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	l->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (l->pidfd >= 0)
		close(l->pidfd);
	l->pidfd = -1;
}

void launch_kill(struct launch *l)
{
	if (l->ended || l->pid <= 0)
		return;
	if (l->own_group)
		kill(-l->pid, SIGKILL);
	kill(l->pid, SIGKILL);
	reap(l);
}

enum { LAST_WORDS_MS = 500 };

/* A runtime that is told to abort saves what its threads have not yet written (branch bits); a
 * program that does not listen is killed all the same. */
static void ask_to_end(const struct launch *l)
{
	struct pollfd fd = { .fd = l->pidfd, .events = POLLIN };

	if (l->ended || l->pidfd < 0 || kill(l->pid, SIGABRT))
		return;
	poll(&fd, 1, LAST_WORDS_MS);
}

/* Milliseconds until the first deadline, -1 for none. */
static int until_deadline(const struct launch *launches, size_t n)
{
	double now = clock_seconds(), first = -1;

	for (size_t i = 0; i < n; i++) {
		double left = launches[i].deadline - now;

		if (launches[i].ended || !launches[i].deadline)
			continue;
		if (left < 0)
			left = 0;
		if (first < 0 || left < first)
			first = left;
	}
	return first < 0 ? -1 : (int)MIN(first * 1000 + 1, 1e9);
}

static bool find_ended(struct launch *launches, size_t n, const struct pollfd *fds, size_t *ret)
{
	double now = clock_seconds();

	for (size_t i = 0; i < n; i++) {
		struct launch *l = &launches[i];

		if (l->ended)
			continue;
		if (fds[i].revents) {
			reap(l);
		} else if (l->deadline && now >= l->deadline) {
			l->timed_out = true;
			ask_to_end(l);
			launch_kill(l);
		} else {
			continue;
		}
		*ret = i;
		return true;
	}
	return false;
}

struct err *launch_wait(struct launch *launches, size_t n, size_t *ret)
{
	struct pollfd *fds = xcalloc(n + 1, sizeof(*fds));
	bool found = false;

	while (!interrupted && !found) {
		for (size_t i = 0; i < n; i++)
			fds[i] = (struct pollfd){ .fd = launches[i].ended ? -1 : launches[i].pidfd,
						  .events = POLLIN };
		poll(fds, n, until_deadline(launches, n));
		found = find_ended(launches, n, fds, ret);
	}
	free(fds);
	if (found && !interrupted)
		return NULL;
	for (size_t i = 0; i < n; i++)
		launch_kill(&launches[i]);
	return err_new(ERR_ENV, "interrupted");
}

struct err *launch_run(const struct launch_options *o, struct launch *ret)
{
	struct err *err = launch_start(o, ret);
	size_t which;

	return err ? err : launch_wait(ret, 1, &which);
}
