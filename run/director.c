/* run/director.c - see director.h.
 *
 * Every thread of the program is traced from its birth. A signal that nobody handles and whose
 * default is to end the process is the failure: at that moment nothing has been torn down, so we
 * stop the other threads, write the dump, and kill the process. Other signals are passed on.
 *
 * A program that carries our runtime handles its faults and ends by itself when nobody can go on (`at_end`): there
 * the failure is the first fault, or the system call that ends the process, while all threads are where they were.
 *
 * With a seed one thread runs at a time, by single steps, as soon as there are two: a race between plain accesses
 * of a binary that nobody instrumented can be met in no other way. Between instructions of the program itself another
 * thread may be chosen; a thread that sleeps in a system call is left alone until it comes back. */
#include "run/director.h"

#include "base/err.h"
#include "base/log.h"
#include "base/map.h"
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
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MS = 5, POLLS = 200, SWITCH_ONE_IN = 4, SYSCALL_STOP = SIGTRAP | 0x80 };

struct director {
	const struct director_options *o;
	struct director_result *result; /* shared with the caller's process */
	pid_t pid;
	VEC(pid_t) tids;
	/* with a seed */
	VEC(pid_t) stopped; /* of those: that wait for us */
	uint64_t rng;
	uint64_t low, high; /* the program's code */
};

static bool is_stopped(const struct director *d, pid_t tid)
{
	for (size_t i = 0; i < d->stopped.len; i++)
		if (d->stopped.data[i] == tid)
			return true;
	return false;
}

static void set_stopped(struct director *d, pid_t tid, bool stopped)
{
	for (size_t i = 0; i < d->stopped.len; i++)
		if (d->stopped.data[i] == tid)
			d->stopped.data[i--] = vec_pop(&d->stopped);
	if (stopped)
		vec_push(&d->stopped, tid);
}

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

/* Raised by the processor in this thread, or by its own abort(). */
static bool is_fault(pid_t tid)
{
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 &&
	       (info.si_code > 0 || (info.si_signo == SIGABRT && info.si_code == SI_TKILL)) &&
	       (info.si_signo == SIGSEGV || info.si_signo == SIGBUS || info.si_signo == SIGFPE ||
		info.si_signo == SIGILL || info.si_signo == SIGABRT);
}

static bool is_failure(const struct director *d, pid_t tid, int signal)
{
	return ends_process(signal) &&
	       (!is_handled(d->pid, signal) || (d->o->at_end && is_fault(tid)));
}

/* ---- the end ---- */

/* Stop every thread but `except`; those that have ended are forgotten. */
static void stop_all(struct director *d, pid_t except)
{
	for (size_t i = 0; i < d->tids.len; i++) {
		pid_t tid = d->tids.data[i];
		int status;

		if (tid == except || is_stopped(d, tid))
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

static enum __ptrace_request go_on(const struct director *d)
{
	return d->o->at_end ? PTRACE_SYSCALL : PTRACE_CONT;
}

/* The thread has stopped before a system call: the one that ends the process? */
static bool is_exiting(pid_t tid)
{
	struct user_regs_struct regs;

	return ptrace(PTRACE_GETREGS, tid, NULL, &regs) == 0 && regs.orig_rax == SYS_exit_group;
}

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
	if (signal == SYSCALL_STOP && is_exiting(tid)) {
		leave_dump(d, tid, 0);
		return true;
	}
	if (event || signal == SIGTRAP || signal == SYSCALL_STOP) {
		signal = 0;
	} else if (signal == SIGSTOP) {
		signal = 0; /* a thread's birth */
	} else if (is_failure(d, tid, signal)) {
		d->result->signal = signal;
		leave_dump(d, tid, signal);
		return true;
	}
	ptrace(go_on(d), tid, NULL, (void *)(uintptr_t)signal);
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

/* ---- one thread at a time ---- */

/* Where the program's own code lies in the process. */
static void find_code(struct director *d)
{
	char name[64], line[512], path[256], real[256] = "";
	FILE *f;
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/exe", d->pid);
	n = readlink(name, real, sizeof(real) - 1);
	snprintf(name, sizeof(name), "/proc/%d/maps", d->pid);
	f = n > 0 ? fopen(name, "re") : NULL;
	while (f && fgets(line, sizeof(line), f)) {
		uint64_t low, high;
		char rights[8];

		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &low, &high, rights, path) == 4 &&
		    rights[2] == 'x' && !strcmp(path, real)) {
			d->low = low;
			d->high = high;
		}
	}
	if (f)
		fclose(f);
}

static uint64_t random_of(struct director *d, uint64_t n)
{
	d->rng = d->rng * 6364136223846793005ull + 1442695040888963407ull;
	return hash_u64(d->rng) % n;
}

static bool in_program(const struct director *d, pid_t tid)
{
	struct user_regs_struct regs;

	return ptrace(PTRACE_GETREGS, tid, NULL, &regs) == 0 && regs.rip >= d->low &&
	       regs.rip < d->high;
}

/* Does the thread sleep in a system call? */
static bool sleeps(const struct director *d, pid_t tid)
{
	char name[64], line[256] = "", *state;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/task/%d/stat", d->pid, tid);
	f = fopen(name, "re");
	if (f && !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	state = strrchr(line, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

/* What a thread reported while one at a time runs. *over: the run is. *signal: to be passed on with its next
 * step. */
static void take_report(struct director *d, pid_t tid, int status, int *signal, bool *over)
{
	*signal = 0;
	if (!WIFSTOPPED(status)) {
		set_stopped(d, tid, false);
		*over = handle(d, tid, status);
		return;
	}
	know_thread(d, tid);
	set_stopped(d, tid, true);
	if (status >> 16 || WSTOPSIG(status) == SIGTRAP || WSTOPSIG(status) == SIGSTOP)
		return;
	if (is_failure(d, tid, WSTOPSIG(status))) {
		d->result->signal = WSTOPSIG(status);
		leave_dump(d, tid, WSTOPSIG(status));
		*over = true;
		return;
	}
	*signal = WSTOPSIG(status);
}

/* Wait until the thread that was told to step reports, or sleeps. False: it sleeps, or is gone. */
static bool wait_step(struct director *d, pid_t tid, int *signal, bool *over)
{
	int status;

	for (unsigned polls = 0;; polls++) {
		pid_t got = waitpid(tid, &status, __WALL | WNOHANG);

		if (got == tid) {
			take_report(d, tid, status, signal, over);
			return !*over && is_stopped(d, tid);
		}
		if (got < 0 && errno != EINTR)
			return false;
		if (polls > POLLS && sleeps(d, tid))
			return false;
		if (polls > POLLS)
			usleep(TICK_MS * 10);
	}
}

/* Threads that slept, or were born, and have reported by now. */
static void look_around(struct director *d, bool *over)
{
	int status, signal;
	pid_t tid;

	while (!*over && (tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
		take_report(d, tid, status, &signal, over);
}

static void step_until_end(struct director *d)
{
	double end = clock_seconds() + d->o->timeout;
	pid_t now = 0;
	bool over = false;
	int signal = 0;

	find_code(d);
	while (!over) {
		if (d->o->timeout > 0 && clock_seconds() > end) {
			d->result->hangs = true;
			leave_dump(d, d->pid, 0);
			return;
		}
		if (!now || !is_stopped(d, now)) {
			look_around(d, &over);
			if (over)
				return;
			if (!d->stopped.len) {
				usleep(TICK_MS * 10);
				continue;
			}
			now = d->stopped.data[random_of(d, d->stopped.len)];
			signal = 0;
		}
		set_stopped(d, now, false);
		ptrace(PTRACE_SINGLESTEP, now, NULL, (void *)(uintptr_t)signal);
		if (!wait_step(d, now, &signal, &over) ||
		    (in_program(d, now) && !random_of(d, SWITCH_ONE_IN) && !signal)) {
			if (!over)
				look_around(d, &over);
			if (!over && d->stopped.len && !signal)
				now = d->stopped.data[random_of(d, d->stopped.len)];
		}
	}
}

/* Until there is a second thread; it stops where it is born. True when the run is over. */
static bool run_to_second_thread(struct director *d)
{
	int status;

	for (;;) {
		if (waitpid(d->pid, &status, __WALL) != d->pid)
			return true;
		if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_CLONE) {
			set_stopped(d, d->pid, true);
			return false;
		}
		if (handle(d, d->pid, status))
			return true;
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
	ptrace(PTRACE_SETOPTIONS, p.pid, NULL,
	       PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
	know_thread(d, p.pid);
	ptrace(go_on(d), p.pid, NULL, NULL);
	if (!d->o->seed)
		watch_until_end(d);
	else if (!run_to_second_thread(d))
		step_until_end(d);
	kill(-p.pid, SIGKILL);
	return 0;
}

struct err *director_run(const struct director_options *o, struct director_result *ret)
{
	struct director d = { .o = o, .rng = o->seed };
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
