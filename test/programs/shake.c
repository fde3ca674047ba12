/* shake - run a program instruction by instruction, its threads in an order that a seed decides, so that it fails where
 * plain runs seldom do, and leaves the core dump that the kernel writes.
 *
 *	shake SEED PROGRAM [ARGUMENT]...
 *
 * One thread runs at a time. Behind each instruction of the program itself (not of its libraries) another thread may
 * get its turn. A thread that waits in a system call is left alone until it comes back. Status: 1 the program was killed
 * by a signal, 0 it ended, 3 shake itself failed. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64, SPIN = 20, PATIENCE = 2000 };

struct thread {
	pid_t tid;
	int stopped, waits, gone;
	int signal; /* to deliver with the next step */
};

static struct thread threads[MOST];
static int n, alone = 1; /* alone: there was no second thread yet */
static uint64_t low, high, state;
static unsigned turn; /* one instruction in so many ends a turn */

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dull >> 16;
}

static struct thread *find(pid_t tid)
{
	for (int i = 0; i < n; i++)
		if (threads[i].tid == tid)
			return &threads[i];
	if (n == MOST)
		exit(3);
	threads[n].tid = tid;
	return &threads[n++];
}

/* Where the program's own code lies. */
static void find_code(pid_t pid)
{
	char path[64], line[512], name[512], exe[512];
	ssize_t len;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	len = readlink(path, exe, sizeof(exe) - 1);
	exe[len > 0 ? len : 0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long a, b;

		name[0] = '\0';
		if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %511s", &a, &b, name) < 2 || strcmp(name, exe) != 0)
			continue;
		low = low ? low : a;
		high = b;
	}
	if (f)
		fclose(f);
}

static void take(pid_t tid, int status)
{
	struct thread *t = find(tid);

	if (WIFSTOPPED(status)) {
		int s = WSTOPSIG(status);

		t->stopped = 1;
		t->waits = 0;
		if (s != SIGTRAP && s != SIGSTOP)
			t->signal = s;
		if (status >> 16 == PTRACE_EVENT_CLONE)
			alone = 0;
	} else if (WIFSIGNALED(status)) {
		exit(1);
	} else {
		t->gone = 1;
		if (tid == threads[0].tid)
			exit(0);
	}
}

/* What happened, without waiting longer than a thread needs for one instruction. */
static void collect(pid_t tid)
{
	int status, tries = PATIENCE;
	pid_t got;

	for (;;) {
		got = waitpid(-1, &status, __WALL | WNOHANG);
		if (got > 0) {
			take(got, status);
			continue;
		}
		if (got < 0 && errno == ECHILD)
			exit(0);
		if (tid <= 0 || find(tid)->stopped || find(tid)->gone)
			return;
		if (tries-- == 0 && !alone) {
			find(tid)->waits = 1;
			return;
		}
		if (tries < SPIN)
			poll(NULL, 0, 1);
	}
}

static struct thread *choose(void)
{
	struct thread *ready[MOST];
	int k = 0;

	for (int i = 0; i < n; i++)
		if (threads[i].stopped && !threads[i].gone)
			ready[k++] = &threads[i];
	return k ? ready[next_random() % (uint64_t)k] : NULL;
}

int main(int argc, char **argv)
{
	struct thread *t = NULL;
	int status;
	pid_t pid;

	if (argc < 3)
		return 2;
	state = strtoull(argv[1], NULL, 10) * 0x9e3779b97f4a7c15ull + 1;
	turn = 2 + (unsigned)strtoul(argv[1], NULL, 10) % 14;
	for (int i = 0; i < 20; i++)
		next_random();
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		setenv("LD_BIND_NOW", "1", 1);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return 3;
	find(pid)->stopped = 1;
	find_code(pid);
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
	for (;;) {
		struct user_regs_struct regs;

		if (!t || !t->stopped || t->gone)
			t = choose();
		if (!t) { /* all of them wait */
			collect(0);
			poll(NULL, 0, 1);
			continue;
		}
		if (ptrace(PTRACE_GETREGS, t->tid, 0, &regs) == 0 && regs.rip >= low && regs.rip < high &&
		    next_random() % turn == 0)
			t = choose();
		t->stopped = 0;
		if (ptrace(alone ? PTRACE_CONT : PTRACE_SINGLESTEP, t->tid, 0, t->signal) < 0)
			t->gone = 1;
		t->signal = 0;
		collect(t->tid);
	}
}
