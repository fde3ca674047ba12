/* run/director.c - see director.h.
 *
 * Every thread of the program is traced from its birth. A signal that nobody handles and whose
 * default is to end the process is the failure: at that moment nothing has been torn down, so we
 * stop the other threads, write the dump, and kill the process. Other signals are passed on. */
#include "run/director.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/vec.h"
#include "run/corefile.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MS = 5 };

struct director {
	const struct director_options *o;
	struct director_result *result; /* shared with the caller's process */
	pid_t pid;
	VEC(pid_t) tids;
};

static void forget_thread(struct director *d, pid_t tid)
{
	for (size_t i = 0; i < d->tids.len; i++)
		if (d->tids.data[i] == tid)
			d->tids.data[i--] = vec_pop(&d->tids);
}

static void know_thread(struct director *d, pid_t tid)
{
	for (size_t i = 0; i < d->tids.len; i++)
		if (d->tids.data[i] == tid)
			return;
	vec_push(&d->tids, tid);
}

/* ---- signals ---- */

static bool ends_process(int signal)
{
	return signal != SIGCHLD && signal != SIGURG && signal != SIGWINCH && signal != SIGCONT &&
	       signal != SIGSTOP && signal != SIGTSTP && signal != SIGTTIN && signal != SIGTTOU;
}

/* Does the program catch or ignore it? */
static bool is_handled(pid_t pid, int signal)
{
	char name[64], line[256];
	uint64_t caught = 0, ignored = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/status", pid);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "SigCgt: %lx", &caught);
		sscanf(line, "SigIgn: %lx", &ignored);
	}
	if (f)
		fclose(f);
	return (caught | ignored) >> (signal - 1) & 1;
}

/* ---- the end ---- */

/* Stop every thread but `except`; those that have ended are forgotten. */
static void stop_all(struct director *d, pid_t except)
{
	for (size_t i = 0; i < d->tids.len; i++) {
		pid_t tid = d->tids.data[i];
		int status;

		if (tid == except)
			continue;
		if (syscall(SYS_tgkill, d->pid, tid, SIGSTOP) != 0 ||
		    waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status)) {
			forget_thread(d, tid);
			i--;
		}
	}
}

static void leave_dump(struct director *d, pid_t first, int signal)
{
	struct err *err;

	stop_all(d, first);
	for (size_t i = 0; i < d->tids.len; i++)
		if (d->tids.data[i] == first) {
			d->tids.data[i] = d->tids.data[0];
			d->tids.data[0] = first;
		}
	err = corefile_write(d->pid, d->tids.data, d->tids.len, signal, d->o->core);
	d->result->dumped = !err;
	err_free(err);
}

/* ---- while it runs ---- */

/* True when the run is over. */
static bool handle(struct director *d, pid_t tid, int status)
{
	int signal, event = status >> 16;

	if (!WIFSTOPPED(status)) {
		forget_thread(d, tid);
		if (tid != d->pid)
			return false;
		d->result->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		d->result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		return true;
	}
	know_thread(d, tid);
	signal = WSTOPSIG(status);
	if (event || signal == SIGTRAP) {
		signal = 0;
	} else if (signal == SIGSTOP) {
		signal = 0; /* a thread's birth */
	} else if (ends_process(signal) && !is_handled(d->pid, signal)) {
		d->result->signal = signal;
		leave_dump(d, tid, signal);
		return true;
	}
	ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)signal);
	return false;
}

static void watch_until_end(struct director *d)
{
	double end = clock_seconds() + d->o->timeout;
	int status;

	for (;;) {
		pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);

		if (tid < 0 && errno != EINTR)
			return;
		if (tid > 0 && handle(d, tid, status))
			return;
		if (tid > 0)
			continue;
		if (d->o->timeout > 0 && clock_seconds() > end) {
			d->result->hangs = true;
			leave_dump(d, d->pid, 0);
			return;
		}
		usleep(TICK_MS * 100);
	}
}

static int work(void *arg)
{
	struct director *d = arg;
	struct process_options o = { .argv = d->o->argv,
				     .program = d->o->program,
				     .env = d->o->env,
				     .folder = d->o->folder,
				     .in = d->o->in ? d->o->in : "/dev/null",
				     .out = "/dev/null",
				     .err = "/dev/null",
				     .own_group = true,
				     .no_core = true,
				     .traced = true };
	struct process p;
	struct err *err = process_start(&o, &p);
	int status;

	if (err)
		return 1;
	d->pid = p.pid;
	if (waitpid(p.pid, &status, __WALL) != p.pid || !WIFSTOPPED(status))
		return 1;
	ptrace(PTRACE_SETOPTIONS, p.pid, NULL, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
	know_thread(d, p.pid);
	ptrace(PTRACE_CONT, p.pid, NULL, NULL);
	watch_until_end(d);
	kill(-p.pid, SIGKILL);
	return 0;
}

struct err *director_run(const struct director_options *o, struct director_result *ret)
{
	struct director d = { .o = o };
	struct process p;
	size_t which;
	struct err *err;

	d.result = mmap(NULL, sizeof(*d.result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (d.result == MAP_FAILED)
		return err_errno(errno, "no memory to share");
	d.result->exit_code = -1;
	err = process_fork(work, &d, &p);
	if (!err)
		err = process_wait(&p, 1, &which);
	if (!err && p.exit_code != 0)
		err = err_new(ERR_ENV, "'%s' cannot be run under ptrace", o->argv[0]);
	*ret = *d.result;
	munmap(d.result, sizeof(*d.result));
	return err;
}
