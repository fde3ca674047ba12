/* run/fatal.c - see fatal.h. */
#include "run/fatal.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ptrace.h>

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

bool signal_is_fatal(pid_t pid, pid_t tid, int signal, bool at_fault)
{
	return ends_process(signal) && (!is_handled(pid, signal) || (at_fault && is_fault(tid)));
}
