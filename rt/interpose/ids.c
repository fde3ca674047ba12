/* rt/interpose/ids.c - numbers of processes and threads that are the same in every run.
 *
 * The kernel's numbers differ from run to run, and programs put them into names, seeds and messages.
 * The target sees numbers beyond the kernel's largest (2^22): the process has FIRST, its thread n has
 * FIRST + n, a child a hash of its parent's number and of how many there were before. A number of
 * ours that slips through to the kernel therefore names nobody, and never somebody else.
 *
 * A table in the control area, which children share, says which process is which: a call that names
 * one (kill, waitpid, ...) is made with the kernel's number, and its answer translated back. */
#include "rt/interpose/world.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIRST = 5000000, PARENT = FIRST - 1, SPACING = 1 << 13, FAMILIES = 1 << 17 };

static pid_t own, parent = PARENT; /* own 0: the first */
static uint32_t nchildren;

/* ---- who is who ---- */

pid_t ids_pid(void)
{
	return own ? own : FIRST;
}

pid_t ids_tid(const struct control_thread *t)
{
	return ids_pid() + (pid_t)t->task.id;
}

void ids_reset(void)
{
	own = 0;
	parent = PARENT;
	nchildren = 0;
	control_ids_reset();
}

pid_t ids_new_child(void)
{
	uint64_t h = ((uint64_t)ids_pid() * 31 + ++nchildren) * 0x9e3779b97f4a7c15ull;

	return (pid_t)(FIRST + SPACING * (1 + (h >> 40) % FAMILIES));
}

void ids_note_child(pid_t id, pid_t real_id)
{
	control_id_note((uint32_t)id, (uint32_t)real_id);
}

void ids_become_child(pid_t id)
{
	parent = ids_pid();
	own = id;
	nchildren = 0;
	ids_note_child(id, (pid_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0));
}

pid_t ids_real(pid_t id)
{
	if (id < PARENT)
		return id;
	if (id >= ids_pid() && id < ids_pid() + SPACING) /* a thread: with fibers there is one */
		return (pid_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	if (id == parent)
		return (pid_t)rt_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0);
	return (pid_t)control_id_real((uint32_t)id);
}

pid_t ids_virtual(pid_t id)
{
	if (id == (pid_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0))
		return ids_pid();
	if (id == (pid_t)rt_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0))
		return parent;
	return (pid_t)control_id_virtual((uint32_t)id);
}

/* ---- asking ---- */

pid_t hook_getpid(void)
{
	HOOK_ENTER;
	return world_is_virtual() ? ids_pid() : real.getpid();
}

pid_t hook_getppid(void)
{
	HOOK_ENTER;
	return world_is_virtual() ? parent : real.getppid();
}

/* With fibers the kernel would name the carrier. */
pid_t hook_gettid(void)
{
	struct control_thread *me = control_self();

	HOOK_ENTER;
	return me ? ids_tid(me) : world_is_virtual() ? ids_pid() : real.gettid();
}

/* ---- calls that name a process ---- */

/* clang-format off: a table. `id` is the target's; a negative number names a group. */
#define REAL(id) ((id) < -1 ? -ids_real(-(id)) : ids_real(id))
#define NAMES(ret, name, params, args, virtual_args, result)                                       \
	ret hook_##name params                                                                     \
	{                                                                                          \
		ret r;                                                                             \
                                                                                                   \
		HOOK_ENTER;                                                                        \
		plait_call_site = 0;                                                               \
		if (!world_is_virtual())                                                           \
			return real.name args;                                                     \
		r = real.name virtual_args;                                                        \
		return result;                                                                     \
	}
NAMES(pid_t, getpgid, (pid_t id), (id), (REAL(id)), r < 0 ? r : ids_virtual(r))
NAMES(pid_t, getsid, (pid_t id), (id), (REAL(id)), r < 0 ? r : ids_virtual(r))
NAMES(pid_t, setsid, (void), (), (), r < 0 ? r : ids_virtual(r))
NAMES(int, setpgid, (pid_t id, pid_t group), (id, group), (REAL(id), REAL(group)), r)
NAMES(int, sched_setaffinity, (pid_t id, size_t n, const cpu_set_t *set), (id, n, set),
      (REAL(id), n, set), r)
NAMES(int, sched_getaffinity, (pid_t id, size_t n, cpu_set_t *set), (id, n, set),
      (REAL(id), n, set), r)
NAMES(int, sched_setscheduler, (pid_t id, int policy, const struct sched_param *p), (id, policy, p),
      (REAL(id), policy, p), r)
NAMES(int, sched_getscheduler, (pid_t id), (id), (REAL(id)), r)
NAMES(int, sched_setparam, (pid_t id, const struct sched_param *p), (id, p), (REAL(id), p), r)
NAMES(int, sched_getparam, (pid_t id, struct sched_param *p), (id, p), (REAL(id), p), r)
NAMES(int, getpriority, (__priority_which_t which, id_t id), (which, id),
      (which, (id_t)ids_real((pid_t)id)), r)
NAMES(int, setpriority, (__priority_which_t which, id_t id, int value), (which, id, value),
      (which, (id_t)ids_real((pid_t)id), value), r)
NAMES(int, pidfd_open, (pid_t id, unsigned flags), (id, flags), (REAL(id), flags), r)
/* clang-format on */

/* The group of a run is the fork server's; its number is nobody's business. */
pid_t hook_getpgrp(void)
{
	HOOK_ENTER;
	plait_call_site = 0;
	return world_is_virtual() ? ids_virtual(real.getpgrp()) : real.getpgrp();
}
