/* rt/interpose/sync-futex.c - raw futexes and C++'s guards of static locals.
 *
 * libstdc++ builds atomic wait, latch, barrier, semaphore and future on syscall(SYS_futex), so
 * libc's syscall() is taken over; what is not a futex does as libc's function of that name. */
#include "rt/interpose/world.h"
#include "rt/core/rt.h"
#include "rt/interpose/timeout.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static long result(long r)
{
	if (r >= 0 || r < -4095)
		return r;
	errno = (int)-r;
	return -1;
}

/* ---- futexes ---- */

static bool futex_ready(const struct control_thread *t)
{
	return t->released;
}

static const struct control_wait futex_waiting = { "for a futex", futex_ready, NULL, 0 };

static long futex_wait(struct control_thread *me, uint32_t site, const uint32_t *word,
		       uint32_t expected, uint64_t deadline)
{
	int r = 0;

	control_point(
		me, &(struct control_op){
			    .kind = PLAIT_EV_FUTEX_WAIT, .site = site, .object = word, .size = 4 });
	if (*word != expected || control_refused(me)) {
		control_spin_check(me, site, word, *word);
		rt_record_futex(PLAIT_EV_FUTEX_WAIT, site, word, expected, EAGAIN);
		return result(-EAGAIN);
	}
	me->released = false;
	if (!control_point(me, &(struct control_op){ .kind = PLAIT_EV_FUTEX_WAIT,
						     .site = site,
						     .object = word,
						     .size = 4,
						     .value = 1,
						     .wait = &futex_waiting,
						     .signals = CONTROL_RESTARTS,
						     .deadline = deadline }))
		r = me->interrupted ? EINTR : ETIMEDOUT;
	else if (control_refused(me))
		r = deadline != CONTROL_NEVER ? ETIMEDOUT : EINTR;
	me->released = false;
	rt_record_futex(PLAIT_EV_FUTEX_WAIT, site, word, expected, r);
	return result(-r);
}

static bool *waits_for(struct control_thread *t, const uint32_t *word)
{
	struct control_outer *o;

	if (!t->rt || t->ended)
		return NULL;
	if (t->op.wait == &futex_waiting && t->op.object == word && !t->released && !t->timed_out)
		return &t->released;
	for (o = t->outer; o; o = o->next)
		if (o->op.wait == &futex_waiting && o->op.object == word && !o->released &&
		    !o->timed_out)
			return &o->released;
	return NULL;
}

static long futex_wake(struct control_thread *me, uint32_t site, const uint32_t *word,
		       uint32_t most)
{
	uint32_t woken = 0, i, waiting, chosen;

	control_point(me, &(struct control_op){ .kind = PLAIT_EV_FUTEX_WAKE,
						.site = site,
						.object = word,
						.size = 4,
						.writes = true });
	for (; woken < most; woken++) {
		for (i = waiting = 0; i < control_nthreads(); i++)
			waiting += waits_for(control_thread_at(i), word) != NULL;
		if (!waiting)
			break;
		chosen = most >= waiting ? 0 : control_choose(me, waiting);
		for (i = 0; i < control_nthreads(); i++)
			if (waits_for(control_thread_at(i), word) && chosen-- == 0)
				break;
		*waits_for(control_thread_at(i), word) = true;
	}
	control_changed();
	rt_record_futex(PLAIT_EV_FUTEX_WAKE, site, word, most, (int)woken);
	return woken;
}

static uint64_t futex_deadline(int op, const struct timespec *ts)
{
	if (!ts)
		return CONTROL_NEVER;
	if ((op & FUTEX_CMD_MASK) == FUTEX_WAIT)
		return control_now() + timespec_ns(ts);
	return timeout_at(op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, ts);
}

/* Calls that have a function of libc's, made by number: what holds for the function holds here. */
bool calls_by_name(long nr, const long *a, long *ret)
{
	switch (nr) {
	case SYS_gettid:
		*ret = interpose_gettid();
		return true;
	case SYS_getpid:
		*ret = interpose_getpid();
		return true;
	case SYS_getppid:
		*ret = interpose_getppid();
		return true;
	case SYS_tgkill:
		*ret = interpose_tgkill((pid_t)a[0], (pid_t)a[1], (int)a[2]);
		return true;
	case SYS_kill:
		*ret = interpose_kill((pid_t)a[0], (int)a[1]);
		return true;
	case SYS_getrandom:
		*ret = interpose_getrandom((void *)a[0], (size_t)a[1], (unsigned)a[2]);
		return true;
	case SYS_clock_gettime:
		*ret = interpose_clock_gettime((clockid_t)a[0], (struct timespec *)a[1]);
		return true;
	case SYS_gettimeofday:
		*ret = interpose_gettimeofday((struct timeval *)a[0], (void *)a[1]);
		return true;
	case SYS_time:
		*ret = interpose_time((time_t *)a[0]);
		return true;
	case SYS_times:
		*ret = interpose_times((struct tms *)a[0]);
		return true;
	case SYS_getrusage:
		*ret = interpose_getrusage((int)a[0], (struct rusage *)a[1]);
		return true;
	case SYS_getcpu:
		*ret = interpose_getcpu((unsigned *)a[0], (unsigned *)a[1]);
		return true;
	case SYS_wait4:
		*ret = interpose_wait4((pid_t)a[0], (int *)a[1], (int)a[2], (struct rusage *)a[3]);
		return true;
	default:
		return false;
	}
}

long hook_syscall(long nr, ...)
{
	struct control_thread *me = control_self();
	long a[6], r;
	uint32_t site = hook_site();
	va_list ap;
	int i;

	va_start(ap, nr);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long); /* reads a little more than was passed: harmless */
	va_end(ap);
	if (me && nr == SYS_futex) {
		switch ((int)a[1] & FUTEX_CMD_MASK) {
		case FUTEX_WAIT:
		case FUTEX_WAIT_BITSET:
			return futex_wait(me, site, (uint32_t *)a[0], (uint32_t)a[2],
					  futex_deadline((int)a[1], (struct timespec *)a[3]));
		case FUTEX_WAKE:
		case FUTEX_WAKE_BITSET:
			return futex_wake(me, site, (uint32_t *)a[0], (uint32_t)a[2]);
		default:
			control_note(PLAIT_UNCONTROLLED_FOREIGN);
		}
	}
	if (world_is_virtual() && calls_by_name(nr, a, &r))
		return r;
	/* as libc makes it: again-calls.c wants to see it */
	return real.syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- static locals: byte 0 done, byte 1 being initialised, as the Itanium ABI has it ---- */

static bool guard_ready(const struct control_thread *t)
{
	return !((const volatile char *)t->op.object)[1];
}

static const struct control_wait guard_wait = { "for a static local's initialisation", guard_ready,
						NULL, 0 };

int hook___cxa_guard_acquire(void *guard)
{
	struct control_thread *me = control_self();
	volatile char *g = guard;
	uint32_t site = hook_site();

	if (!me)
		return real.__cxa_guard_acquire(guard);
	control_point(me, &(struct control_op){ .kind = PLAIT_EV_ONCE_BEGIN,
						.site = site,
						.object = guard,
						.writes = true,
						.wait = &guard_wait });
	if (g[0]) {
		rt_record_sa_n(PLAIT_EV_ONCE_PASS, site, guard, 0);
		return 0;
	}
	g[1] = 1;
	rt_record_sa_n(PLAIT_EV_ONCE_BEGIN, site, guard, 0);
	return 1;
}

static void guard_leave(void *guard, bool done, uint32_t site)
{
	struct control_thread *me = control_self();
	volatile char *g = guard;

	control_step(me, &(struct control_op){ .kind = PLAIT_EV_ONCE_END,
					       .site = site,
					       .object = guard,
					       .writes = true });
	g[0] = done;
	g[1] = 0;
	control_changed();
	rt_record_sa_n(PLAIT_EV_ONCE_END, site, guard, 0);
}

void hook___cxa_guard_release(void *guard)
{
	uint32_t site = hook_site();

	if (control_self())
		guard_leave(guard, true, site);
	else
		real.__cxa_guard_release(guard);
}

void hook___cxa_guard_abort(void *guard)
{
	uint32_t site = hook_site();

	if (control_self())
		guard_leave(guard, false, site);
	else
		real.__cxa_guard_abort(guard);
}
