/* rt/control/again-calls.c - the target's system calls, while its process is to be used again.
 *
 * They are caught by system call user dispatch: whatever is not called from within our own section
 * raises SIGSYS. The handler makes the call in the target's place when it leaves nothing behind
 * that the next run could notice, and notes what can be given back. For anything else it takes all
 * of this away and lets the target make its call again: the process ends with this run.
 *
 * "Leaves nothing behind" means: no more than with a process per run. What is written to files, and
 * positions of descriptors that the server has opened, is shared after a fork as well.
 *
 * A call that could wait is not made in the handler, which another thread might need meanwhile. */
#include "rt/control/again-inside.h"

#include "rt/core/rt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* Linux 5.11 */
enum { SET_DISPATCH = 59, DISPATCH_OFF = 0, DISPATCH_ON = 1, CODE_USER_DISPATCH = 2 };
enum { RESTORER = 0x04000000, SYSCALL_BYTES = 2 };

struct call {
	long nr, a[6], result;
	ucontext_t *context;
};

/* Where rt_syscall is, and the way back from the handler. */
extern const char __start_plait_calls[] __attribute__((visibility("hidden")));
extern const char __stop_plait_calls[] __attribute__((visibility("hidden")));
void again_return(void);

__asm__(".pushsection plait_calls, \"ax\", @progbits\n"
	".type again_return, @function\n"
	".hidden again_return\n"
	".globl again_return\n"
	"again_return:\n"
	"	mov $15, %eax\n	syscall\n	ud2\n" /* rt_sigreturn; what follows must be ours
							  too */
	".size again_return, .-again_return\n"
	".popsection");

static bool make(struct call *c)
{
	c->result = rt_syscall(c->nr, c->a[0], c->a[1], c->a[2], c->a[3], c->a[4], c->a[5]);
	return true;
}

/* ---- descriptors ---- */

static bool is_made(long fd)
{
	return fd >= 0 && fd < AGAIN_FDS && (again->fds[fd / 64] >> fd % 64 & 1);
}

static void note_fd(long fd)
{
	if (fd >= 0 && fd < AGAIN_FDS)
		again->fds[fd / 64] |= 1ull << fd % 64;
}

static bool make_fd(struct call *c)
{
	make(c);
	if (c->result < AGAIN_FDS) {
		note_fd(c->result);
		return true;
	}
	rt_syscall(SYS_close, c->result, 0, 0, 0, 0, 0); /* and let it be done again */
	return false;
}

static bool make_pair(struct call *c, const int *fds)
{
	make(c);
	if (c->result < 0)
		return true;
	note_fd(fds[0]);
	note_fd(fds[1]);
	return true; /* numbers are given from below: these are not beyond the others */
}

static bool close_made(struct call *c)
{
	if (!is_made(c->a[0]))
		return false;
	again->fds[c->a[0] / 64] &= ~(1ull << c->a[0] % 64);
	return make(c);
}

static bool make_at_once(struct call *c, short events)
{
	struct pollfd p = { .fd = (int)c->a[0], .events = events };

	return rt_syscall(SYS_poll, (long)&p, 1, 0, 0, 0, 0) != 0 && make(c);
}

static bool control_fd(struct call *c)
{
	switch (c->a[1]) {
	case F_GETFL:
	case F_GETFD:
		return make(c);
	case F_SETFL:
	case F_SETFD:
		return is_made(c->a[0]) && make(c);
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return make_fd(c);
	default:
		return false;
	}
}

/* ---- mappings ---- */

static bool is_own(uint64_t low, uint64_t len)
{
	for (uint32_t i = 0; i < again->nmaps; i++)
		if (low >= again->maps[i].low && len <= again->maps[i].high - low &&
		    low <= again->maps[i].high)
			return true;
	return false;
}

static bool map(struct call *c)
{
	uint64_t len = ((uint64_t)c->a[1] + AGAIN_PAGE - 1) & ~(AGAIN_PAGE - 1ull);

	if ((c->a[3] & MAP_FIXED) && !is_own((uint64_t)c->a[0], len))
		return false;
	if (again->nmaps == AGAIN_MAPS || (c->a[3] & MAP_GROWSDOWN))
		return false;
	make(c);
	if (c->result > 0 || c->result < -4095)
		again->maps[again->nmaps++] =
			(struct again_range){ (uint64_t)c->result, (uint64_t)c->result + len };
	return true;
}

/* What is not there any more can be given back again, unless it is somebody else's by then: those
 * are the run's too. */
static bool change_map(struct call *c)
{
	uint64_t len = ((uint64_t)c->a[1] + AGAIN_PAGE - 1) & ~(AGAIN_PAGE - 1ull);

	return is_own((uint64_t)c->a[0], len) && make(c);
}

static bool move_break(struct call *c)
{
	return (!c->a[0] || (uint64_t)c->a[0] >= again->brk) && make(c);
}

/* ---- signals ---- */

/* The mask that the handler's end puts in place is the target's. Without SIGSYS we see nothing. */
static bool change_mask(struct call *c)
{
	uint64_t *mask = (uint64_t *)&c->context->uc_sigmask, was = *mask, now = was;
	const uint64_t *set = (const uint64_t *)c->a[1];

	if (set)
		now = c->a[0] == SIG_UNBLOCK ? was & ~*set
		      : c->a[0] == SIG_BLOCK ? was | *set
					     : *set;
	if (c->a[3] != 8 || (now >> (SIGSYS - 1) & 1))
		return false;
	*mask = now;
	if (c->a[2])
		*(uint64_t *)c->a[2] = was;
	c->result = 0;
	return true;
}

/* Handlers return by our way, which is not caught. */
static bool change_action(struct call *c)
{
	const struct again_action *wanted = (const struct again_action *)c->a[1];
	long number = c->a[0], bit = 1l << (number - 1);
	struct again_action now;

	if (!wanted)
		return make(c);
	if (number < 1 || number > AGAIN_SIGNALS || number == SIGSYS)
		return false;
	if (!(again->signals & (uint64_t)bit)) {
		rt_syscall(SYS_rt_sigaction, number, 0, (long)&again->actions[number - 1], 8, 0, 0);
		again->signals |= (uint64_t)bit;
	}
	now = *wanted;
	now.flags |= RESTORER;
	now.restorer = again_return;
	c->a[1] = (long)&now;
	return make(c);
}

/* abort() */
static bool abort_self(struct call *c)
{
	return c->a[0] == again->pid && c->a[2] == SIGABRT && make(c);
}

/* ---- sorting ---- */

static bool make_harmless(struct call *c)
{
	switch (c->nr) {
	case SYS_exit_group:
		again_end((int)(c->a[0] & 0xff) << 8);
		return false;
	case SYS_open:
	case SYS_openat:
	case SYS_creat:
	case SYS_dup:
	case SYS_eventfd2:
		return make_fd(c);
	case SYS_pipe:
	case SYS_pipe2:
		return make_pair(c, (const int *)c->a[0]);
	case SYS_socketpair:
		return make_pair(c, (const int *)c->a[3]);
	case SYS_close:
		return close_made(c);
	case SYS_read:
	case SYS_readv:
	case SYS_recvfrom:
		return make_at_once(c, POLLIN);
	case SYS_write:
	case SYS_writev:
	case SYS_sendto:
		return make_at_once(c, POLLOUT);
	case SYS_fcntl:
		return control_fd(c);
	case SYS_ioctl:
		return (c->a[1] == TCGETS || c->a[1] == TIOCGWINSZ || c->a[1] == FIONREAD) &&
		       make(c);
	case SYS_mmap:
		return map(c);
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_madvise:
		return change_map(c);
	case SYS_brk:
		return move_break(c);
	case SYS_rt_sigprocmask:
		return change_mask(c);
	case SYS_rt_sigaction:
		return change_action(c);
	case SYS_tgkill:
		return abort_self(c);
	case SYS_futex:
		return (c->a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE && make(c);
	case SYS_prlimit64:
		return !c->a[2] && make(c);
	case SYS_access:
	case SYS_faccessat:
	case SYS_stat:
	case SYS_fstat:
	case SYS_lstat:
	case SYS_newfstatat:
	case SYS_statx:
	case SYS_lseek:
	case SYS_pread64:
	case SYS_pwrite64:
	case SYS_getdents64:
	case SYS_readlink:
	case SYS_readlinkat:
	case SYS_unlink:
	case SYS_unlinkat:
	case SYS_rename:
	case SYS_mkdir:
	case SYS_rmdir:
	case SYS_ftruncate:
	case SYS_fsync:
	case SYS_getcwd:
	case SYS_getpid:
	case SYS_gettid:
	case SYS_getppid:
	case SYS_getuid:
	case SYS_geteuid:
	case SYS_getgid:
	case SYS_getegid:
	case SYS_uname:
	case SYS_sysinfo:
	case SYS_times:
	case SYS_getrusage:
	case SYS_getitimer:
	case SYS_getrlimit:
	case SYS_gettimeofday:
	case SYS_time:
	case SYS_clock_gettime:
	case SYS_clock_getres:
	case SYS_getrandom:
	case SYS_getcpu:
	case SYS_sched_getaffinity:
	case SYS_sched_yield:
		return make(c);
	default:
		return false;
	}
}

static void on_call(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	greg_t *r = u->uc_mcontext.gregs;
	struct call c = { .nr = r[REG_RAX],
			  .a = { r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8],
				 r[REG_R9] },
			  .context = u };

	if (info->si_code != CODE_USER_DISPATCH) {
		void (*next)(int, siginfo_t *, void *) = again->old_action.handler;

		again_give_up();
		if ((uintptr_t)next > 1) /* neither the default nor to be ignored */
			next(number, info, context);
		return;
	}
	if (again->watching && make_harmless(&c)) {
		r[REG_RAX] = c.result;
		return;
	}
	again_give_up();
	r[REG_RIP] -= SYSCALL_BYTES;
}

bool again_catch(void)
{
	struct again_action action = { .handler = on_call,
				       .flags = SA_SIGINFO | SA_ONSTACK | RESTORER,
				       .restorer = again_return };

	again->selector = 0;
	if (rt_syscall(SYS_rt_sigaction, SIGSYS, (long)&action, (long)&again->old_action, 8, 0, 0) <
	    0)
		return false;
	if (rt_syscall(SYS_prctl, SET_DISPATCH, DISPATCH_ON, (long)__start_plait_calls,
		       (long)__stop_plait_calls - (long)__start_plait_calls, (long)&again->selector,
		       0) == 0)
		return true;
	again_release();
	return false;
}

void again_release(void)
{
	again->selector = 0;
	rt_syscall(SYS_prctl, SET_DISPATCH, DISPATCH_OFF, 0, 0, 0, 0);
	rt_syscall(SYS_rt_sigaction, SIGSYS, (long)&again->old_action, 0, 8, 0, 0);
}
