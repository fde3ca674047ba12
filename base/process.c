/* base/process.c - see process.h.
 *
 * Starting is fork and exec with a pipe between: the pipe closes by itself when exec succeeds, and
 * brings back errno when it does not. Waiting is poll() on process descriptors: no handler for
 * SIGCHLD, no race, any number of processes at once. The poll wakes up every INTERRUPT_TICK_MS to
 * see whether we were interrupted. */
#include "base/process.h"

#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- in the child ---- */

/* Append, so that two descriptors on one file do not overwrite each other. */
enum { TO_FILE = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND };

static int redirect(const char *path, int fd, int flags)
{
	int from = open(path, flags, 0600);

	if (from < 0 || from == fd)
		return from < 0 ? -1 : 0;
	if (dup2(from, fd) < 0)
		return -1;
	return close(from);
}

/* dup2() onto itself would leave the descriptor closed by exec. */
static int hand_over(const struct process_fd *fd)
{
	if (fd->ours == fd->theirs)
		return fcntl(fd->ours, F_SETFD, 0);
	return dup2(fd->ours, fd->theirs);
}

static int set_descriptors(const struct process_options *o)
{
	if (o->in && redirect(o->in, 0, O_RDONLY) < 0)
		return -1;
	if (o->out_to_err && dup2(2, 1) < 0)
		return -1;
	if (o->out && redirect(o->out, 1, TO_FILE) < 0)
		return -1;
	if (o->err && redirect(o->err, 2, TO_FILE) < 0)
		return -1;
	for (size_t i = 0; i < PROCESS_FDS; i++)
		if ((o->fds[i].ours || o->fds[i].theirs) && hand_over(&o->fds[i]) < 0)
			return -1;
	return 0;
}

/* The pipe that tells of errors must not have a number that the program wants. */
static int out_of_the_way(int tell, const struct process_options *o)
{
	bool taken = false;
	int above = 3;

	for (size_t i = 0; i < PROCESS_FDS; i++) {
		taken |= o->fds[i].theirs == tell;
		above = MAX(above, o->fds[i].theirs + 1);
	}
	return taken ? fcntl(tell, F_DUPFD_CLOEXEC, above) : tell;
}

/* What both kinds of children need: they end with us, and Ctrl-C reaches them as it would have
 * reached us. exec resets handlers by itself; what we ignore it would keep. */
static void become_child(bool own_group, bool survives, pid_t parent)
{
	if (!survives)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!survives && getppid() != parent)
		_exit(127); /* we died before the kernel knew that it should tell the child */
	if (own_group)
		setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
}

static int set_up(const struct process_options *o)
{
	struct rlimit no_core = { 0, 0 };

	if (o->fixed_addresses)
		personality(ADDR_NO_RANDOMIZE);
	if (o->no_core)
		setrlimit(RLIMIT_CORE, &no_core);
	if (o->mask)
		sigprocmask(SIG_SETMASK, o->mask, NULL);
	if (set_descriptors(o) < 0)
		return -1;
	if (o->traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		return -1;
	return o->folder ? chdir(o->folder) : 0;
}

static _Noreturn void run_program(const struct process_options *o, const char *program, int tell,
				  pid_t parent)
{
	int error;
	ssize_t n;

	become_child(o->own_group, o->survives, parent);
	tell = out_of_the_way(tell, o);
	if (set_up(o) == 0)
		execve(program, o->argv, o->env ? o->env : environ);
	error = errno;
	n = write(tell, &error, sizeof(error));
	_exit(n == (ssize_t)sizeof(error) ? 127 : 126);
}

/* ---- starting ---- */

static int read_error(int fd)
{
	int error = 0;
	ssize_t n;

	while ((n = read(fd, &error, sizeof(error))) < 0 && errno == EINTR)
		;
	return n == (ssize_t)sizeof(error) ? error : 0;
}

/* Returns 0 when the program runs, else errno of what went wrong. */
static int spawn(const struct process_options *o, const char *program, pid_t *ret)
{
	pid_t parent = getpid();
	int fds[2], error;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return errno;
	*ret = fork();
	if (*ret == 0)
		run_program(o, program, fds[1], parent);
	error = *ret < 0 ? errno : 0;
	close(fds[1]);
	if (!error) {
		error = read_error(fds[0]);
		if (error)
			waitpid(*ret, NULL, 0);
	}
	close(fds[0]);
	return error;
}

/* From here on the process can be waited for. */
static struct err *watch(struct process *p, const char *name)
{
	int error;

	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (p->pidfd >= 0)
		return NULL;
	error = errno;
	process_kill(p);
	return err_errno(error, "cannot watch '%s'", name);
}

struct err *process_start(const struct process_options *o, struct process *ret)
{
	_cleanup_(xfreep) char *program = NULL;
	int error;

	assert(o->argv && o->argv[0]);
	assert(!o->out || !o->out_to_err);
	*ret = (struct process){ .pidfd = -1,
				 .exit_code = -1,
				 .own_group = o->own_group,
				 .takes_signals = o->takes_signals,
				 .cleans_up = o->cleans_up };
	program = o->program ? xstrdup(o->program) : file_find_program(o->argv[0]);
	if (!program && strchr(o->argv[0], '/'))
		program = xstrdup(o->argv[0]); /* the kernel says what is wrong with it */
	if (!program)
		return err_new(ERR_ENV, "there is no program '%s'", o->argv[0]);
	fflush(NULL);
	ret->started = clock_seconds();
	ret->deadline = o->timeout > 0 ? ret->started + o->timeout : 0;
	error = spawn(o, program, &ret->pid);
	if (error) {
		ret->ended = true;
		return err_errno(error, "cannot start '%s'", o->argv[0]);
	}
	return watch(ret, o->argv[0]);
}

struct err *process_fork(int (*work)(void *arg), void *arg, struct process *ret)
{
	pid_t parent = getpid();

	assert(work);
	*ret = (struct process){ .pidfd = -1, .exit_code = -1, .started = clock_seconds() };
	fflush(NULL);
	ret->pid = fork();
	if (ret->pid == 0) {
		become_child(false, false, parent);
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		_exit(work(arg));
	}
	if (ret->pid < 0) {
		ret->ended = true;
		return err_errno(errno, "cannot start a process");
	}
	return watch(ret, "a copy of unplait");
}

/* ---- waiting ---- */

static void reap(struct process *p)
{
	assert(!p->ended && p->pid > 0);
	while (waitpid(p->pid, &p->status, 0) < 0 && errno == EINTR)
		;
	p->ended = true;
	p->seconds = clock_seconds() - p->started;
	p->exit_code = WIFEXITED(p->status) ? WEXITSTATUS(p->status) : -1;
	p->signal = WIFSIGNALED(p->status) ? WTERMSIG(p->status) : 0;
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->pidfd = -1;
}

void process_wait_end(struct process *p)
{
	if (!p->ended && p->pid > 0)
		reap(p);
}

enum { LAST_WORDS_MS = 500, CLEAN_UP_MS = 3000 };

/* Tell it to end, and give it some time for that. A program that does not listen is killed all the same. */
static void ask_to_end(const struct process *p, int signal, int ms)
{
	struct pollfd fd = { .fd = p->pidfd, .events = POLLIN };

	if (kill(p->pid, signal) == 0)
		poll(&fd, 1, ms);
}

void process_kill(struct process *p)
{
	if (p->ended || p->pid <= 0)
		return;
	if (p->cleans_up)
		ask_to_end(p, SIGTERM, CLEAN_UP_MS);
	if (p->own_group)
		kill(-p->pid, SIGKILL);
	kill(p->pid, SIGKILL);
	reap(p);
}

/* Milliseconds until the first deadline, or until it is time to look for an interrupt. */
static int until_deadline(const struct process *all, size_t n)
{
	double now = clock_seconds(), first = INTERRUPT_TICK_MS / 1000.0;

	for (size_t i = 0; i < n; i++)
		if (!all[i].ended && all[i].deadline)
			first = MIN(first, MAX(all[i].deadline - now, 0));
	return (int)(first * 1000) + 1;
}

static bool find_ended(struct process *all, size_t n, const struct pollfd *fds, size_t *ret)
{
	double now = clock_seconds();

	for (size_t i = 0; i < n; i++) {
		struct process *p = &all[i];

		if (p->ended)
			continue;
		if (fds[i].revents) {
			reap(p);
		} else if (p->deadline && now >= p->deadline) {
			/* a runtime that aborts saves what its threads have not yet written */
			if (!p->cleans_up)
				ask_to_end(p, SIGABRT, LAST_WORDS_MS);
			process_kill(p);
			p->timed_out = true;
		} else {
			continue;
		}
		*ret = i;
		return true;
	}
	return false;
}

/* Are we to stop? Not if there is somebody to pass the signal on to. */
static bool stopped(const struct process *all, size_t n)
{
	int signal = interrupted();

	if (!signal || n != 1 || !all->takes_signals)
		return signal != 0;
	interrupt_forget();
	/* what a terminal sends has reached the whole group of processes already */
	if (!all->ended && (all->own_group || (signal != SIGINT && signal != SIGQUIT)))
		kill(all->pid, signal);
	return false;
}

struct err *process_wait(struct process *all, size_t n, size_t *ret)
{
	struct pollfd *fds = xcalloc(n + 1, sizeof(*fds));
	bool found = false;

	while (!stopped(all, n) && !found) {
		for (size_t i = 0; i < n; i++)
			fds[i] = (struct pollfd){ .fd = all[i].ended ? -1 : all[i].pidfd,
						  .events = POLLIN };
		if (poll(fds, n, until_deadline(all, n)) >= 0)
			found = find_ended(all, n, fds, ret);
	}
	free(fds);
	if (found && !stopped(all, n))
		return NULL;
	for (size_t i = 0; i < n; i++)
		process_kill(&all[i]);
	return interrupt_error();
}

bool process_wait_for(struct process *p, double seconds)
{
	struct pollfd fd = { .fd = p->pidfd, .events = POLLIN };
	double end = clock_seconds() + seconds, left = seconds;

	while (!p->ended && !interrupted()) {
		int n = poll(&fd, 1, (int)(MIN(left, INTERRUPT_TICK_MS / 1000.0) * 1000 + 0.999));

		if (n > 0)
			reap(p);
		left = end - clock_seconds();
		if (n <= 0 && left <= 0)
			break;
	}
	return p->ended;
}

struct err *process_run(const struct process_options *o, struct process *ret)
{
	struct err *err = process_start(o, ret);
	size_t which;

	return err ? err : process_wait(ret, 1, &which);
}
