/* run/director.c - see director.h.
 *
 * Every thread of the program is traced from its birth. A signal that nobody handles and whose
 * default is to end the process is the failure: at that moment nothing has been torn down, so we
 * stop the other threads, write the dump, and kill the process. Other signals are passed on.
 *
 * A program that carries our runtime handles its faults and ends by itself when nobody can go on (`at_end`): there
 * the failure is the first fault, or the system call that ends the process, while all threads are where they were.
 *
 * With turns or a seed one thread runs at a time (run/stage.c): a race between plain accesses of a binary that nobody
 * instrumented can be met in no other way. */
#include "run/director.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/vec.h"
#include "run/corefile.h"
#include "run/fatal.h"
#include "run/perform.h"

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

enum { TICK_MS = 5, TURNS_MOST = 20000, SYSCALL_STOP = SIGTRAP | 0x80 };

/* At random: a switch at one of so many instructions, by seed. */
static const unsigned one_in[] = { 64, 4, 16, 4 };

/* What the caller's process gets to know. */
struct shared {
	struct director_result result;
	size_t nturns;
	struct turn turns[TURNS_MOST];
};

struct director {
	const struct director_options *o;
	struct shared *shared;
	struct director_result *result; /* in it */
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
	} else if (signal_is_fatal(d->pid, tid, signal, d->o->at_end)) {
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

static void watch(struct director *d)
{
	ptrace(PTRACE_SETOPTIONS, d->pid, NULL,
	       PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
	know_thread(d, d->pid);
	ptrace(go_on(d), d->pid, NULL, NULL);
	watch_until_end(d);
}

/* ---- one thread at a time ---- */

static void keep_turns(struct director *d, const struct turns_made *made)
{
	d->shared->nturns = 0;
	if (made->len > TURNS_MOST)
		return;
	d->shared->nturns = made->len;
	if (made->len)
		memcpy(d->shared->turns, made->data, made->len * sizeof(made->data[0]));
}

static void judge(struct director *d, struct stage *s, enum performed how, struct actor *who)
{
	struct director_result *r = d->result;
	int signal = how == PERFORM_FAILED ? who->signal : 0;
	struct err *err;

	r->signal = signal;
	r->hangs = how == PERFORM_STUCK || how == PERFORM_LATE;
	r->stuck = how == PERFORM_STUCK;
	if (how == PERFORM_EXITS)
		r->exit_code = s->exit_code;
	if (!signal && !r->hangs)
		return;
	for (size_t i = 0; r->hangs && i < s->actors.len; i++)
		if (who->state == ACTOR_GONE)
			who = s->actors.data[i];
	err = stage_dump(s, who, signal, d->o->core);
	r->dumped = !err;
	err_free(err);
}

static struct err *direct(struct director *d)
{
	struct stage s = { .deadline = d->o->timeout > 0 ? clock_seconds() + d->o->timeout : 0 };
	struct performance p = { .stage = &s, .turns = d->o->turns, .nturns = d->o->nturns };
	struct turns_made made = { 0 };
	struct err *err = stage_open(&s, d->pid, d->o->program ? d->o->program : d->o->argv[0]);
	enum performed how;

	if (!err && d->o->turns) {
		how = perform(&p);
		d->result->missed = p.missed;
		judge(d, &s, how, p.now);
	} else if (!err) {
		how = improvise(&s, d->o->seed, one_in[d->o->seed % ARRAY_SIZE(one_in)], &p.now,
				&made);
		keep_turns(d, &made);
		judge(d, &s, how, p.now);
	}
	performance_deinit(&p);
	vec_deinit(&made);
	stage_close(&s);
	return err;
}

struct err *director_start(const struct director_options *o, struct process *ret)
{
	struct process_options how = { .argv = o->argv,
				       .program = o->program,
				       .env = o->env,
				       .folder = o->folder,
				       .in = o->in ? o->in : "/dev/null",
				       .out = o->speaks ? NULL : "/dev/null",
				       .err = o->speaks ? NULL : "/dev/null",
				       .own_group = true,
				       .no_core = true,
				       .traced = true };
	struct err *err = process_start(&how, ret);
	int status;

	if (!err && (waitpid(ret->pid, &status, __WALL) != ret->pid || !WIFSTOPPED(status)))
		err = err_new(ERR_ENV, "'%s' does not stop for us", o->argv[0]);
	return err;
}

static int work(void *arg)
{
	struct director *d = arg;
	struct process p;
	struct err *err = director_start(d->o, &p);

	if (err)
		return 1;
	d->pid = p.pid;
	if (d->o->seed || d->o->turns)
		err = direct(d);
	else
		watch(d);
	kill(-p.pid, SIGKILL);
	return err != NULL;
}

struct err *director_run(const struct director_options *o, struct director_result *ret)
{
	struct director d = { .o = o };
	struct process p;
	size_t which;
	struct err *err;

	d.shared = mmap(NULL, sizeof(*d.shared), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (d.shared == MAP_FAILED)
		return err_errno(errno, "no memory to share");
	d.result = &d.shared->result;
	d.result->exit_code = -1;
	err = process_fork(work, &d, &p);
	if (!err)
		err = process_wait(&p, 1, &which);
	if (!err && p.exit_code != 0)
		err = err_new(ERR_ENV, "'%s' cannot be run under ptrace", o->argv[0]);
	*ret = *d.result;
	if (!err && o->made) {
		o->made->len = 0;
		for (size_t i = 0; i < d.shared->nturns; i++)
			vec_push(o->made, d.shared->turns[i]);
	}
	munmap(d.shared, sizeof(*d.shared));
	return err;
}
