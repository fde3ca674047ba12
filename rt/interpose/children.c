/* rt/interpose/children.c - fork, and waiting for children.
 *
 * A forked child runs freely, unless it is a test of its own (rt/control/follow.c). Its number is
 * virtual (ids.c), so the parent sees the same in every run.
 *
 * Waiting for a child is a scheduling point like any other wait: the other threads of the parent go
 * on meanwhile, and only if nobody can do we really wait. */
#include "rt/interpose/world.h"

#include "rt/core/rt.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- fork ---- */

pid_t hook_fork(void)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();
	pid_t pid, id;
	bool follows;

	if (me)
		control_point(me,
			      &(struct control_op){ .kind = PLAIT_EV_PROCESS_FORK, .site = site });
	if (!world_is_virtual())
		return real.fork();
	follows = rt_fork_follows = me && control_may_follow();
	id = ids_new_child();
	pid = real.fork();
	rt_fork_follows = false;
	if (pid == 0) {
		if (follows)
			control_child_begins();
		else
			control_left_behind();
		ids_become_child(id);
		io_forked();
		return 0;
	}
	if (pid < 0)
		return pid;
	ids_note_child(id, pid);
	io_forked();
	if (follows && control_child_took_over(pid))
		return id;
	control_note(PLAIT_UNCONTROLLED_FORK);
	rt_record_sv(PLAIT_EV_PROCESS_FORK, site, (uint64_t)id);
	return id;
}

/* A child that shares our memory would run our hooks as if it were us. A copy is allowed. */
pid_t hook_vfork(void)
{
	HOOK_ENTER;
	if (!world_is_virtual()) __attribute__
		((musttail)) return real.vfork();
	return hook_fork();
}

/* clang-format off: a table. The child is another program at once. */
#define SPAWNS(name)                                                                               \
	int hook_##name(pid_t *ret, const char *path, const posix_spawn_file_actions_t *actions,   \
			const posix_spawnattr_t *attr, char *const argv[], char *const envp[])     \
	{                                                                                          \
		pid_t pid = 0, id;                                                                 \
		int r;                                                                             \
                                                                                                   \
		HOOK_ENTER;                                                                        \
		plait_call_site = 0;                                                               \
		r = real.name(&pid, path, actions, attr, argv, envp);                              \
		if (r)                                                                             \
			return r;                                                                  \
		id = world_is_virtual() ? ids_new_child() : pid;                                   \
		if (world_is_virtual()) {                                                          \
			control_note(PLAIT_UNCONTROLLED_FORK);                                     \
			ids_note_child(id, pid);                                                   \
			io_forked();                                                               \
		}                                                                                  \
		if (ret)                                                                           \
			*ret = id;                                                                 \
		return 0;                                                                          \
	}
SPAWNS(posix_spawn)
SPAWNS(posix_spawnp)
/* clang-format on */

/* ---- waiting ---- */

/* Is there something to be had without waiting? An error is an answer, too. */
static bool child_ready(const struct control_thread *t)
{
	siginfo_t info = { 0 };
	long r = rt_syscall(SYS_waitid, (long)(t->op.value >> 32), (int)(uint32_t)t->op.value,
			    (long)&info,
			    WEXITED | WNOHANG | WNOWAIT | (long)(uintptr_t)t->op.object2, 0, 0);

	return r < 0 || info.si_pid != 0;
}

static const struct control_wait child_wait = { "for a child process", child_ready, NULL,
						CONTROL_OUTSIDE };

static const struct control_thread *next_waiter(size_t *i)
{
	while (*i < control_nthreads()) {
		const struct control_thread *t = control_thread_at((*i)++);

		if (t->rt && !t->ended && t->op.wait == &child_wait)
			return t;
	}
	return NULL;
}

bool children_awaited(void)
{
	size_t i = 0;

	return next_waiter(&i) != NULL;
}

/* Several threads that wait for different children: any of them will do, so look again soon. */
bool children_await(const struct control_thread *one)
{
	struct timespec moment = { 0, 1000000 };
	size_t i = 0;
	const struct control_thread *t = one ? one : next_waiter(&i);
	siginfo_t info;

	if (!t || t->op.wait != &child_wait)
		return false;
	if (!one)
		control_note(PLAIT_UNCONTROLLED_IO);
	if (!one && next_waiter(&i))
		rt_syscall(SYS_nanosleep, (long)&moment, 0, 0, 0, 0, 0);
	else
		rt_syscall(SYS_waitid, (long)(t->op.value >> 32), (int)(uint32_t)t->op.value,
			   (long)&info, WEXITED | WNOWAIT | (long)(uintptr_t)t->op.object2, 0, 0);
	return true;
}

/* Children run in real time: a timeout of virtual time must not pass while one of them works. */
bool children_wait_for(uint64_t ns)
{
	struct timespec moment = { 0, 1000000 };
	const struct control_thread *t;
	size_t i;

	if (!children_awaited())
		return false;
	control_note(PLAIT_UNCONTROLLED_IO);
	for (uint64_t waited = 0; waited < ns; waited += (uint64_t)moment.tv_nsec) {
		for (i = 0; (t = next_waiter(&i));)
			if (child_ready(t))
				return true;
		rt_syscall(SYS_nanosleep, (long)&moment, 0, 0, 0, 0, 0);
	}
	return false;
}

/* type, id: as waitid names children, with the kernel's numbers. False: a handler ended it. */
static bool wait_point(idtype_t type, pid_t id, int options)
{
	struct control_thread *me = control_self();
	uint32_t site = rt_take_site();

	if (!me)
		return true;
	if (options & WNOHANG)
		control_spin_check(me, site, &child_wait, 0);
	control_point(me,
		      &(struct control_op){
			      .kind = PLAIT_EV_INPUT,
			      .site = site,
			      .object = &child_wait,
			      .object2 = (void *)(uintptr_t)(options & (WUNTRACED | WCONTINUED)),
			      .writes = true,
			      .value = (uint64_t)type << 32 | (uint32_t)id,
			      .cancellable = true,
			      .signals = CONTROL_RESTARTS,
			      .wait = options & WNOHANG ? NULL : &child_wait });
	if (!me->interrupted)
		return true;
	errno = EINTR;
	return false;
}

pid_t hook_wait4(pid_t id, int *status, int options, struct rusage *usage)
{
	pid_t r, real_id = id < -1 ? -ids_real(-id) : ids_real(id);

	HOOK_ENTER;
	if (!world_is_virtual())
		return real.wait4(id, status, options, usage);
	if (!wait_point(id == -1  ? P_ALL
			: id <= 0 ? P_PGID
				  : P_PID,
			id == -1      ? 0
			: real_id < 0 ? -real_id
				      : real_id,
			options))
		return -1;
	r = real.wait4(real_id, status, options, usage);
	if (usage && r > 0)
		memset(usage, 0, sizeof(*usage));
	return r > 0 ? ids_virtual(r) : r;
}

pid_t hook_waitpid(pid_t id, int *status, int options)
{
	HOOK_ENTER;
	return world_is_virtual() ? hook_wait4(id, status, options, NULL)
				  : real.waitpid(id, status, options);
}

pid_t hook_wait(int *status)
{
	HOOK_ENTER;
	return world_is_virtual() ? hook_wait4(-1, status, 0, NULL) : real.wait(status);
}

pid_t hook_wait3(int *status, int options, struct rusage *usage)
{
	HOOK_ENTER;
	return world_is_virtual() ? hook_wait4(-1, status, options, usage)
				  : real.wait3(status, options, usage);
}

int hook_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	pid_t real_id = type == P_PID || type == P_PGID ? ids_real((pid_t)id) : (pid_t)id;
	int r;

	HOOK_ENTER;
	if (!world_is_virtual())
		return real.waitid(type, id, info, options);
	if (!wait_point(type, real_id, options))
		return -1;
	r = real.waitid(type, (id_t)real_id, info, options);
	if (r == 0 && info && info->si_pid)
		info->si_pid = ids_virtual(info->si_pid);
	return r;
}
