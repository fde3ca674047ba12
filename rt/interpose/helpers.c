/* rt/interpose/helpers.c - kernel threads that libc makes for itself: asynchronous I/O, names looked up
 * in the background, messages that are announced.
 *
 * They are not under control, and what they do may let a thread of ours go on. So where nobody can,
 * it is no deadlock as long as one of them lives; an idle one ends after a second. With fibers we have
 * one kernel thread, and any other is such a helper. With futex hand-over each thread of ours is a
 * kernel thread: then we look only if the program has called something that needs a helper, and know
 * ours by their numbers. */
#include "rt/interpose/controlled.h"

#include "rt/core/rt.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static bool called;

/* clang-format off: a table */
#define HELPED(name, params, args)                                                                 \
	int hook_##name params                                                                     \
	{                                                                                          \
		HOOK_ENTER;                                                                        \
		plait_call_site = 0;                                                               \
		called = true;                                                                     \
		return real.name args;                                                             \
	}
HELPED(aio_read, (struct aiocb * a), (a))
HELPED(aio_read64, (struct aiocb64 * a), (a))
HELPED(aio_write, (struct aiocb * a), (a))
HELPED(aio_write64, (struct aiocb64 * a), (a))
HELPED(aio_fsync, (int op, struct aiocb *a), (op, a))
HELPED(aio_fsync64, (int op, struct aiocb64 *a), (op, a))
HELPED(lio_listio, (int mode, struct aiocb *const list[], int n, struct sigevent *e),
       (mode, list, n, e))
HELPED(lio_listio64, (int mode, struct aiocb64 *const list[], int n, struct sigevent *e),
       (mode, list, n, e))
HELPED(mq_notify, (mqd_t q, const struct sigevent *e), (q, e))
HELPED(getaddrinfo_a, (int mode, struct gaicb *list[], int n, struct sigevent *e),
       (mode, list, n, e))
/* clang-format on */

/* The kernel thread of a thread that lives, or of main, or one that waits to become a thread. The
 * thread that asks may be at its end, and a forked child has another number than its gate says. */
static bool is_ours(uint32_t tid)
{
	size_t i;

	if (tid == (uint32_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) ||
	    tid == (uint32_t)rt_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0) || birth_is_parked(tid))
		return true;
	for (i = 0; i < control_nthreads(); i++)
		if (control_thread_at(i)->gate.tid == tid)
			return true;
	return false;
}

static bool is_stranger_among(const char *entries, long n)
{
	const struct dirent64 *d;
	long at;

	for (at = 0; at < n; at += d->d_reclen) {
		uint32_t tid = 0;
		const char *c;

		d = (const struct dirent64 *)(entries + at);
		for (c = d->d_name; *c >= '0' && *c <= '9'; c++)
			tid = tid * 10 + (uint32_t)(*c - '0');
		if (tid && !is_ours(tid))
			return true;
	}
	return false;
}

static bool has_stranger(void)
{
	char entries[2048] __attribute__((aligned(8)));
	long fd = rt_syscall(SYS_open, (long)"/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC,
			     0, 0, 0, 0);
	bool found = false;
	long n;

	while (fd >= 0 && !found &&
	       (n = rt_syscall(SYS_getdents64, fd, (long)entries, sizeof(entries), 0, 0, 0)) > 0)
		found = is_stranger_among(entries, n);
	if (fd >= 0)
		rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return found;
}

bool helpers_at_work(void)
{
	struct stat s;

	if (!control_has_fibers())
		return called && has_stranger();
	return stat("/proc/self/task", &s) == 0 && s.st_nlink > 3;
}
