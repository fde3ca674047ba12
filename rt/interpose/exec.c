/* rt/interpose/exec.c - ways out of the process image: exec and the quick exits.
 *
 * exec ends the trace cleanly: the event says which program, the run says so too. If it fails the
 * trace goes on. A vfork child shares our memory but is not us: nothing is noted for it. The
 * program that follows finds the run folder taken and stays off, unless children are followed. */
#include "rt/interpose/controlled.h"
#include "rt/core/rt.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool begin(uint32_t site, const char *path)
{
	if (!rt_writing || rt_run->pid != (uint32_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0))
		return false;
	plait_flush_bits();
	rt_record_text(PLAIT_EV_PROCESS_EXEC, site, path);
	__atomic_fetch_or(&rt_run->flags, PLAIT_RUN_EXECED, __ATOMIC_RELAXED);
	rt_run->ended = 2;
	return true;
}

static int failed(bool begun, int r)
{
	if (begun) {
		__atomic_fetch_and(&rt_run->flags, ~(uint32_t)PLAIT_RUN_EXECED, __ATOMIC_RELAXED);
		rt_run->ended = 0;
	}
	return r;
}

int hook_execve(const char *path, char *const argv[], char *const envp[])
{
	HOOK_ENTER;
	bool begun = begin(rt_take_site(), path);

	return failed(begun, real.execve(path, argv, envp));
}

int hook_execv(const char *path, char *const argv[])
{
	HOOK_ENTER;
	bool begun = begin(rt_take_site(), path);

	return failed(begun, real.execv(path, argv));
}

int hook_execvp(const char *file, char *const argv[])
{
	HOOK_ENTER;
	bool begun = begin(rt_take_site(), file);

	return failed(begun, real.execvp(file, argv));
}

int hook_execvpe(const char *file, char *const argv[], char *const envp[])
{
	HOOK_ENTER;
	bool begun = begin(rt_take_site(), file);

	return failed(begun, real.execvpe(file, argv, envp));
}

int hook_fexecve(int fd, char *const argv[], char *const envp[])
{
	HOOK_ENTER;
	bool begun = begin(rt_take_site(), "(file descriptor)");

	return failed(begun, real.fexecve(fd, argv, envp));
}

/* The argument lists of execl and friends, as arrays on the caller's stack. */
#define COLLECT(argv, first, last)                                                                 \
	va_list ap;                                                                                \
	size_t n = 1;                                                                              \
                                                                                                   \
	va_start(ap, first);                                                                       \
	while (va_arg(ap, char *))                                                                 \
		n++;                                                                               \
	va_end(ap);                                                                                \
	char *argv[n + 1];                                                                         \
	va_start(ap, first);                                                                       \
	argv[0] = (char *)first;                                                                   \
	for (size_t i = 1; i <= n; i++)                                                            \
		argv[i] = va_arg(ap, char *);                                                      \
	last;                                                                                      \
	va_end(ap)

int hook_execl(const char *path, const char *arg, ...)
{
	HOOK_ENTER;
	bool begun = begin(rt_take_site(), path);
	COLLECT(argv, arg, );

	return failed(begun, real.execv(path, argv));
}

int hook_execlp(const char *file, const char *arg, ...)
{
	HOOK_ENTER;
	bool begun = begin(rt_take_site(), file);
	COLLECT(argv, arg, );

	return failed(begun, real.execvp(file, argv));
}

int hook_execle(const char *path, const char *arg, ...)
{
	char **envp;

	HOOK_ENTER;
	bool begun = begin(rt_take_site(), path);
	COLLECT(argv, arg, envp = va_arg(ap, char **));

	return failed(begun, real.execve(path, argv, envp));
}

void hook__exit(int status)
{
	HOOK_ENTER;
	control_exit_point();
	rt_finish(status);
	real._exit(status);
	__builtin_unreachable();
}

void hook__Exit(int status)
{
	HOOK_ENTER;
	control_exit_point();
	rt_finish(status);
	real._Exit(status);
	__builtin_unreachable();
}

/* Handlers of the target run first: ours was registered before them. */
static int quick_status;

static void at_end(void)
{
	control_exit_point();
	rt_finish(quick_status);
}

void interpose_ends_init(void)
{
	at_quick_exit(at_end);
}

void hook_quick_exit(int status)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (me)
		control_point(me,
			      &(struct control_op){ .kind = PLAIT_EV_PROCESS_EXIT, .site = site });
	quick_status = status;
	real.quick_exit(status);
	__builtin_unreachable();
}
