/* run/stage.c - see stage.h.
 *
 * An actor moves by PTRACE_SYSCALL, never by PTRACE_CONT: so one that was asleep stops where its call returns, and
 * cannot run on unnoticed. The kernel makes who is woken runnable before the waker's own call returns. After each
 * call of the actor that moves we therefore look at those that sleep: who still does has not been woken, and who
 * does not is on its way to its stop. No luck is in that.
 *
 * Whether an actor sleeps is read from /proc. In a futex call that is settled at once, because nobody else moves;
 * other calls (a pipe, a disk) get a moment first.
 *
 * To pass a break, the program's own byte is put back for one step: all others stand still meanwhile. */
#include "run/stage.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "run/corefile.h"
#include "run/fatal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <linux/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_US = 10000, NAP_US = 30, GRACE_MS = 20, SYSCALL_STOP = SIGTRAP | 0x80, INT3 = 0xcc };

/* ---- memory and breaks ---- */

static struct stage_break *find_break(const struct stage *s, uint64_t at)
{
	for (size_t i = 0; i < s->breaks.len; i++)
		if (s->breaks.data[i].at == at)
			return &s->breaks.data[i];
	return NULL;
}

bool stage_has_break(const struct stage *s, uint64_t at)
{
	return find_break(s, at) != NULL;
}

static bool poke(int memory, uint64_t at, uint8_t byte)
{
	return pwrite(memory, &byte, 1, (off_t)at) == 1;
}

bool stage_set_break(struct stage *s, uint64_t at)
{
	struct stage_break *b = find_break(s, at), fresh = { .at = at, .users = 1 };

	if (b) {
		b->users++;
		return true;
	}
	if (pread(s->memory, &fresh.byte, 1, (off_t)at) != 1 || !poke(s->memory, at, INT3))
		return false;
	vec_push(&s->breaks, fresh);
	return true;
}

void stage_clear_break(struct stage *s, uint64_t at)
{
	struct stage_break *b = find_break(s, at);

	if (!b || --b->users)
		return;
	poke(s->memory, at, b->byte);
	*b = vec_pop(&s->breaks);
}

/* Put the program's bytes, or our breaks, into a memory that has a copy of the text. */
static void show_breaks(const struct stage *s, int memory, bool ours)
{
	for (size_t i = 0; i < s->breaks.len; i++)
		poke(memory, s->breaks.data[i].at, ours ? INT3 : s->breaks.data[i].byte);
}

size_t stage_read(const struct stage *s, uint64_t at, void *to, size_t len)
{
	ssize_t n = pread(s->memory, to, len, (off_t)at);

	for (size_t i = 0; n > 0 && i < s->breaks.len; i++) {
		const struct stage_break *b = &s->breaks.data[i];

		if (b->at >= at && b->at - at < (uint64_t)n)
			((uint8_t *)to)[b->at - at] = b->byte;
	}
	return n > 0 ? (size_t)n : 0;
}

size_t stage_write(struct stage *s, uint64_t at, const void *from, size_t len)
{
	ssize_t n = pwrite(s->memory, from, len, (off_t)at);

	for (size_t i = 0; n > 0 && i < s->breaks.len; i++) {
		struct stage_break *b = &s->breaks.data[i];

		if (b->at >= at && b->at - at < (uint64_t)n) {
			b->byte = ((const uint8_t *)from)[b->at - at];
			poke(s->memory, b->at, INT3);
		}
	}
	return n > 0 ? (size_t)n : 0;
}

/* ---- actors ---- */

static struct actor *add_actor(struct stage *s, pid_t tid, struct actor *parent)
{
	struct actor *a = xcalloc(1, sizeof(*a));

	a->tid = tid;
	if (parent)
		snprintf(a->name, sizeof(a->name), "%.20s.%u", parent->name, ++parent->children);
	else
		snprintf(a->name, sizeof(a->name), "0");
	vec_push(&s->actors, a);
	return a;
}

struct actor *stage_find(const struct stage *s, const char *name)
{
	for (size_t i = 0; i < s->actors.len; i++)
		if (!strcmp(s->actors.data[i]->name, name))
			return s->actors.data[i];
	return NULL;
}

bool stage_registers(const struct actor *a, struct user_regs_struct *ret)
{
	return ptrace(PTRACE_GETREGS, a->tid, NULL, ret) == 0;
}

bool stage_owns(const struct stage *s, uint64_t address)
{
	return address >= s->low && address < s->high;
}

uint64_t stage_place(const struct stage *s, const struct actor *a)
{
	struct user_regs_struct regs;

	return stage_registers(a, &regs) ? regs.rip - s->bias : 0;
}

/* A line of the kernel's about this thread; "" when there is none. */
static void read_proc(const struct stage *s, const struct actor *a, const char *what, char *line,
		      size_t size)
{
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/task/%d/%s", s->pid, a->tid, what);
	f = fopen(name, "re");
	if (!f || !fgets(line, (int)size, f))
		line[0] = 0;
	if (f)
		fclose(f);
}

/* 'R', 'S', 't' ...; 0: it is gone. */
static char state_of(const struct stage *s, const struct actor *a)
{
	char line[256], *end;

	read_proc(s, a, "stat", line, sizeof(line));
	end = strrchr(line, ')');
	return end && end[1] ? end[2] : 0;
}

/* The number of the call that it sleeps in, -1 for none, with its fourth argument and the operation of a futex. */
static long call_of(const struct stage *s, const struct actor *a, unsigned long *operation,
		    unsigned long *fourth)
{
	char line[256];
	long number = -1;

	*operation = *fourth = 0;
	read_proc(s, a, "syscall", line, sizeof(line));
	if (sscanf(line, "%ld %*x %lx %*x %lx", &number, operation, fourth) < 1)
		return -1;
	return number;
}

bool actor_waits_forever(const struct stage *s, const struct actor *a)
{
	unsigned long operation, timeout;

	if (call_of(s, a, &operation, &timeout) != SYS_futex || timeout)
		return false;
	operation &= FUTEX_CMD_MASK;
	return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ||
	       operation == FUTEX_LOCK_PI || operation == FUTEX_WAIT_REQUEUE_PI;
}

/* ---- waiting ---- */

enum waited { REPORTED, SLEEPS, ENDED, LATE };

static void on_tick(int signal)
{
	(void)signal; /* it ends a wait */
}

static void start_ticks(void)
{
	struct sigaction action = { .sa_handler = on_tick };
	struct itimerval every = { { 0, TICK_US }, { 0, TICK_US } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

/* Has it come to rest in a call? One that nobody else moves for is asked for once only. */
static bool sleeps_now(const struct stage *s, const struct actor *a, double since)
{
	unsigned long operation, fourth;

	return state_of(s, a) == 'S' && (call_of(s, a, &operation, &fourth) == SYS_futex ||
					 clock_seconds() - since > GRACE_MS / 1000.0);
}

bool stage_is_late(const struct stage *s)
{
	return (s->deadline > 0 && clock_seconds() > s->deadline) ||
	       (s->interrupted && s->interrupted(s->interrupted_arg));
}

/* in_call: it may sleep at once; else it computes, and we look again when a tick has come. */
static enum waited wait_for(const struct stage *s, const struct actor *a, bool in_call, int *status)
{
	double since = clock_seconds();

	for (unsigned looks = 0;; looks++) {
		pid_t got = waitpid(a->tid, status, __WALL | (in_call ? WNOHANG : 0));

		if (got == a->tid)
			return REPORTED;
		if (got < 0 && errno != EINTR)
			return ENDED;
		if (state_of(s, a) == 'Z' && a->tid == s->pid)
			return ENDED; /* the first thread waits for the others to end */
		if (sleeps_now(s, a, since))
			return SLEEPS;
		if (stage_is_late(s))
			return LATE;
		if (in_call && looks > 2)
			usleep(NAP_US);
	}
}

/* ---- what an actor reports ---- */

enum { NOTHING = -1 };

static int take_birth(struct stage *s, struct actor *a)
{
	unsigned long tid = 0;
	int status;

	if (ptrace(PTRACE_GETEVENTMSG, a->tid, NULL, &tid) != 0)
		return NOTHING;
	while (waitpid((pid_t)tid, &status, __WALL) < 0 && errno == EINTR)
		;
	add_actor(s, (pid_t)tid, a);
	return STAGE_BORN;
}

/* A child process is nobody of ours. A copy of the memory has copies of our breaks. */
static void let_child_go(const struct stage *s, const struct actor *a, bool copied)
{
	unsigned long pid = 0;
	char name[64];
	int status, memory;

	if (ptrace(PTRACE_GETEVENTMSG, a->tid, NULL, &pid) != 0)
		return;
	while (waitpid((pid_t)pid, &status, __WALL) < 0 && errno == EINTR)
		;
	snprintf(name, sizeof(name), "/proc/%lu/mem", pid);
	memory = copied ? open(name, O_RDWR | O_CLOEXEC) : -1;
	if (memory >= 0) {
		show_breaks(s, memory, false);
		close(memory);
	}
	ptrace(PTRACE_DETACH, (pid_t)pid, NULL, NULL);
}

static int take_event(struct stage *s, struct actor *a, int event)
{
	if (event == PTRACE_EVENT_CLONE)
		return take_birth(s, a);
	if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK)
		let_child_go(s, a, event == PTRACE_EVENT_FORK);
	return NOTHING;
}

/* Before a system call, or behind it. */
static int take_call(struct stage *s, struct actor *a)
{
	struct __ptrace_syscall_info info = { 0 };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, a->tid, sizeof(info), &info) <= 0)
		return NOTHING;
	a->in_call = info.op == PTRACE_SYSCALL_INFO_ENTRY;
	if (a->in_call && info.entry.nr == SYS_exit_group) {
		s->exit_code = (int)(info.entry.args[0] & 0xff);
		return STAGE_EXITS;
	}
	if (a->in_call)
		return NOTHING;
	stage_look_around(s);
	return s->awaited && s->awaited->state == ACTOR_READY ? STAGE_WOKE : NOTHING;
}

/* It has met an int3, or has come to one by a step. */
static int take_trap(struct stage *s, struct actor *a)
{
	struct user_regs_struct regs;
	siginfo_t info = { 0 };

	if (!stage_registers(a, &regs) || ptrace(PTRACE_GETSIGINFO, a->tid, NULL, &info) != 0)
		return NOTHING;
	if (info.si_code == SI_KERNEL && stage_has_break(s, regs.rip - 1)) {
		regs.rip--;
		ptrace(PTRACE_SETREGS, a->tid, NULL, &regs);
	} else if (info.si_code == SI_KERNEL) { /* the program's own */
		a->signal = SIGTRAP;
		return STAGE_FAILED;
	}
	if (!stage_has_break(s, regs.rip))
		return NOTHING;
	++*map_put(&a->hits, regs.rip, 0);
	return STAGE_BREAK;
}

/* An enum stage_stop, or NOTHING that anybody else has to know about. */
static int take_report(struct stage *s, struct actor *a, int status)
{
	int signal = WSTOPSIG(status);

	if (!WIFSTOPPED(status)) {
		a->state = ACTOR_GONE;
		stage_look_around(s); /* its end wakes who joins it */
		return STAGE_GONE;
	}
	a->state = ACTOR_READY;
	if (status >> 16)
		return take_event(s, a, status >> 16);
	if (signal == SYSCALL_STOP)
		return take_call(s, a);
	if (signal == SIGTRAP)
		return take_trap(s, a);
	if (signal == SIGSTOP)
		return NOTHING;
	a->signal = signal;
	if (!signal_is_fatal(s->pid, a->tid, signal, false))
		return NOTHING;
	a->fails = true;
	return STAGE_FAILED;
}

void stage_look_around(struct stage *s)
{
	for (size_t i = 0; i < s->actors.len; i++) {
		struct actor *a = s->actors.data[i];
		enum waited w;
		int status;

		if (a->state != ACTOR_ASLEEP || state_of(s, a) == 'S')
			continue;
		w = wait_for(s, a, true, &status);
		if (w == REPORTED)
			take_report(s, a, status);
		else if (w == ENDED)
			a->state = ACTOR_GONE;
	}
}

/* ---- moving ---- */

/* Who sleeps, or still runs, stops as well; false: it has ended instead. */
static bool stop_sleeper(struct stage *s, struct actor *a)
{
	int status;

	if (a->state == ACTOR_GONE)
		return false;
	if (a->state == ACTOR_READY)
		return true;
	if (syscall(SYS_tgkill, s->pid, a->tid, SIGSTOP) != 0)
		return false;
	while (waitpid(a->tid, &status, __WALL) < 0)
		if (errno != EINTR)
			return false;
	return WIFSTOPPED(status);
}

enum stage_stop stage_go(struct stage *s, struct actor *a, enum stage_pace pace)
{
	for (;;) {
		struct user_regs_struct regs;
		bool step = pace == STAGE_STEP;
		uint64_t over = 0;
		enum waited w;
		int status, stop;

		if (a->fails)
			return STAGE_FAILED;
		if (!a->in_call && stage_registers(a, &regs) && stage_has_break(s, regs.rip))
			over = regs.rip;
		if (over)
			poke(s->memory, over, find_break(s, over)->byte);
		ptrace(over || step ? PTRACE_SINGLESTEP : PTRACE_SYSCALL, a->tid, NULL,
		       (void *)(uintptr_t)a->signal);
		a->signal = 0;
		w = wait_for(s, a, a->in_call, &status);
		if (over)
			poke(s->memory, over, INT3);
		if (w == ENDED) {
			a->state = ACTOR_GONE;
			return STAGE_GONE;
		}
		if (w != REPORTED) {
			a->state = ACTOR_ASLEEP;
			if (w == LATE && stop_sleeper(s, a))
				a->state = ACTOR_READY;
			return w == SLEEPS ? STAGE_ASLEEP : STAGE_LATE;
		}
		stop = take_report(s, a, status);
		if (stop != NOTHING)
			return (enum stage_stop)stop;
		if (step && !a->in_call)
			return STAGE_STEPPED;
	}
}

bool stage_look_at(struct stage *s, struct actor *a)
{
	if (a->state == ACTOR_ASLEEP && !a->looked_at)
		a->looked_at = stop_sleeper(s, a);
	return a->state == ACTOR_READY || a->looked_at;
}

void stage_let_sleep(struct stage *s)
{
	for (size_t i = 0; i < s->actors.len; i++) {
		struct actor *a = s->actors.data[i];

		if (!a->looked_at)
			continue;
		a->looked_at = false;
		a->in_call = false; /* the kernel starts it again */
		stage_go(s, a, STAGE_ON);
	}
}

/* The first thread's end is told after that of all others, which we have to ask for. */
void stage_kill(struct stage *s)
{
	int status;

	kill(-s->pid, SIGKILL);
	for (size_t i = 1; i < s->actors.len; i++) {
		pid_t tid = s->actors.data[i]->tid;

		while (s->actors.data[i]->state != ACTOR_GONE) {
			pid_t got = waitpid(tid, &status, __WALL);

			if ((got < 0 && errno != EINTR) || (got == tid && !WIFSTOPPED(status)))
				s->actors.data[i]->state = ACTOR_GONE;
		}
	}
}

/* ---- the whole ---- */

/* Where the program's own code lies in the process. */
static void find_code(struct stage *s)
{
	char name[64], line[512], path[256], real[256] = "";
	FILE *f;
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/exe", s->pid);
	n = readlink(name, real, sizeof(real) - 1);
	snprintf(name, sizeof(name), "/proc/%d/maps", s->pid);
	f = n > 0 ? fopen(name, "re") : NULL;
	while (f && fgets(line, sizeof(line), f)) {
		uint64_t low, high;
		char rights[8];

		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &low, &high, rights, path) == 4 &&
		    rights[2] == 'x' && !strcmp(path, real)) {
			s->low = low;
			s->high = high;
		}
	}
	if (f)
		fclose(f);
}

/* Its entry point in the process, less the one in the file. */
static struct err *find_bias(struct stage *s, const char *path)
{
	_cleanup_(strbuf_deinit) struct strbuf auxv = { 0 };
	const Elf64_auxv_t *v;
	Elf64_Ehdr header;
	char name[64];
	struct err *err;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	n = fd >= 0 ? read(fd, &header, sizeof(header)) : -1;
	if (fd >= 0)
		close(fd);
	if (n != (ssize_t)sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return err_new(ERR_ENV, "%s is no ELF file", path);
	snprintf(name, sizeof(name), "/proc/%d/auxv", s->pid);
	err = file_read(name, &auxv);
	v = (const Elf64_auxv_t *)auxv.data;
	for (size_t i = 0; !err && i < auxv.len / sizeof(*v); i++)
		if (v[i].a_type == AT_ENTRY)
			s->bias = v[i].a_un.a_val - header.e_entry;
	return err;
}

struct err *stage_open(struct stage *s, pid_t pid, const char *path)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/mem", pid);
	s->pid = pid;
	s->memory = open(name, O_RDWR | O_CLOEXEC);
	if (s->memory < 0)
		return err_errno(errno, "%s", name);
	ptrace(PTRACE_SETOPTIONS, pid, NULL,
	       PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL |
		       PTRACE_O_TRACESYSGOOD);
	start_ticks();
	add_actor(s, pid, NULL);
	find_code(s);
	return find_bias(s, path);
}

void stage_close(struct stage *s)
{
	struct itimerval never = { 0 };

	setitimer(ITIMER_REAL, &never, NULL);
	for (size_t i = 0; i < s->actors.len; i++) {
		map_deinit(&s->actors.data[i]->hits);
		free(s->actors.data[i]);
	}
	vec_deinit(&s->actors);
	vec_deinit(&s->breaks);
	if (s->memory > 0)
		close(s->memory);
}

struct err *stage_dump(struct stage *s, struct actor *first, int signal, const char *path)
{
	VEC(pid_t) tids = { 0 };
	struct err *err;

	show_breaks(s, s->memory, false);
	vec_push(&tids, first->tid);
	for (size_t i = 0; i < s->actors.len; i++)
		if (stop_sleeper(s, s->actors.data[i]) && s->actors.data[i] != first)
			vec_push(&tids, s->actors.data[i]->tid);
	err = corefile_write(s->pid, tids.data, tids.len, signal, path);
	vec_deinit(&tids);
	return err;
}
