/* rt/control/follow.c - when a forked child is the run.
 *
 * Test harnesses fork a process for each test, and all threads are there. The engine's state is memory,
 * and memory survives fork: a child can go on with the run where its parent stopped. It does so when
 * it creates a thread, if the parent had one thread only when it forked, and no child has done so
 * before in this run. A child without threads (a helper, a death test) is none of our business.
 *
 * Two processes cannot both make steps of one run. So the parent stands still after fork until it is
 * decided: the child has taken the run over, has ended, or waits for something itself. If the child
 * has taken over, the parent goes on freely, with a clock that moves in real time. */
#include "rt/control/engine.h"

#include <linux/futex.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { LOOK_NS = 200000, ASLEEP = 10 /* looks in a row */, LOOKS = 5000 /* a second */ };

/* In the child, until it takes over. */
static struct {
	bool possible, recording, writing;
	struct plait_run *run;
} dormant;

static uint64_t freed_at; /* real time, ns; 0: this process is not a parent that was left behind */

static uint64_t real_now(void)
{
	struct timespec ts = { 0 };

	rt_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&ts, 0, 0, 0, 0);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static uint32_t own_pid(void)
{
	return (uint32_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

bool control_may_follow(void)
{
	/* the thread that stands for the timers does not count: a child has none of its parent's */
	return control_active && control.nalive == (control_timers ? 2 : 1) &&
	       !control.area->owner && !control.vectors;
}

void control_left_behind(void)
{
	control_stop();
	control_forked = true;
	rt_recording = rt_writing = false;
	rt_run_hide();
}

bool control_keeps_time(void)
{
	return freed_at || dormant.possible;
}

uint64_t follow_free_time(void)
{
	return freed_at ? real_now() - freed_at : 0;
}

/* ---- the child ---- */

void control_child_begins(void)
{
	dormant.possible = true;
	dormant.recording = rt_recording;
	dormant.writing = rt_writing;
	dormant.run = rt_run;
	control_left_behind();
}

bool control_child_takes_over(void)
{
	uint32_t nobody = 0, me = own_pid();

	if (!dormant.possible)
		return false;
	dormant.possible = false;
	if (!__atomic_compare_exchange_n(&control.area->owner, &nobody, me, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return false;
	rt_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
	birth_forked();
	rt_run = dormant.run;
	rt_recording = dormant.recording;
	rt_writing = dormant.writing;
	control.area->pid = rt_run->pid = me;
	control_forked = false;
	control_active = true;
	control.world->forget_timers();
	threads_forget_others();
	control_quick_begin();
	control_note(PLAIT_UNCONTROLLED_PARENT);
	rt_syscall(SYS_futex, (long)&control.area->owner, FUTEX_WAKE, 1, 0, 0, 0);
	return true;
}

/* ---- the parent ---- */

static bool has_ended(long child)
{
	siginfo_t info = { 0 };

	return rt_syscall(SYS_waitid, P_PID, child, (long)&info, WEXITED | WNOHANG | WNOWAIT, 0,
			  0) < 0 ||
	       info.si_pid;
}

/* "123 (name) S ...": it sleeps in the kernel. */
static bool is_asleep(long child)
{
	char path[32], text[128] = "";
	const char *end;
	long fd, n;

	snprintf(path, sizeof(path), "/proc/%ld/stat", child);
	fd = rt_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	n = fd < 0 ? -1 : rt_syscall(SYS_read, fd, (long)text, sizeof(text) - 1, 0, 0, 0);
	if (fd >= 0)
		rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	end = n > 0 ? strrchr(text, ')') : NULL;
	return end && end[1] == ' ' && end[2] == 'S';
}

bool control_child_took_over(long child)
{
	struct timespec moment = { 0, LOOK_NS };
	uint32_t *owner = &control.area->owner;
	int asleep = 0;

	for (int i = 0; i < LOOKS && asleep < ASLEEP && !__atomic_load_n(owner, __ATOMIC_ACQUIRE);
	     i++) {
		rt_syscall(SYS_futex, (long)owner, FUTEX_WAIT, 0, (long)&moment, 0, 0);
		if (has_ended(child))
			break;
		asleep = is_asleep(child) ? asleep + 1 : 0;
	}
	if (!__atomic_load_n(owner, __ATOMIC_ACQUIRE)) {
		/* from here on it is too late for the child */
		uint32_t nobody = 0;

		if (has_ended(child) ||
		    __atomic_compare_exchange_n(owner, &nobody, own_pid(), false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return false;
	}
	freed_at = real_now();
	control_left_behind();
	return true;
}
