/* rt/interpose/identity.c - whose process it is: setuid and its relatives.
 *
 * libc makes every thread change its identity, by a signal that each of them answers. With fibers
 * there is one kernel thread, libc believes in the others, and would ask them for ever: so the
 * system call alone is made, for the one there is. */
#include "rt/interpose/controlled.h"

#include <errno.h>
#include <grp.h>
#include <sys/syscall.h>

static bool one_thread(void)
{
	return control_has_fibers();
}

static int result(long r)
{
	if (r >= 0)
		return (int)r;
	errno = (int)-r;
	return -1;
}

#define IDENTITY(name, number, params, real_args, a, b, c)                                         \
	int hook_##name params                                                                     \
	{                                                                                          \
		HOOK_ENTER;                                                                        \
		plait_call_site = 0;                                                               \
		return one_thread() ? result(rt_syscall(number, (long)(a), (long)(b), (long)(c),   \
							0, 0, 0))                                  \
				    : real.name real_args;                                         \
	}

IDENTITY(setuid, SYS_setuid, (uid_t id), (id), id, 0, 0)
IDENTITY(setgid, SYS_setgid, (gid_t id), (id), id, 0, 0)
IDENTITY(seteuid, SYS_setresuid, (uid_t id), (id), -1, id, -1)
IDENTITY(setegid, SYS_setresgid, (gid_t id), (id), -1, id, -1)
IDENTITY(setreuid, SYS_setreuid, (uid_t r, uid_t e), (r, e), r, e, 0)
IDENTITY(setregid, SYS_setregid, (gid_t r, gid_t e), (r, e), r, e, 0)
IDENTITY(setresuid, SYS_setresuid, (uid_t r, uid_t e, uid_t s), (r, e, s), r, e, s)
IDENTITY(setresgid, SYS_setresgid, (gid_t r, gid_t e, gid_t s), (r, e, s), r, e, s)
IDENTITY(setgroups, SYS_setgroups, (size_t n, const gid_t *list), (n, list), n, list, 0)
