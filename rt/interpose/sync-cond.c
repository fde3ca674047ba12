/* rt/interpose/sync-cond.c - condition variables.
 *
 * Under control a wait is two steps: WAIT releases the mutex, WOKEN is ready when a signal has
 * reached this waiter (or its timeout has expired) and the mutex can be had. Which waiter a signal
 * reaches is a decision. The condition variable itself has no state but its clock.
 *
 * On request a wait may be woken by nobody: that is decided when it begins, one time in eight; when
 * it then takes place is up to the schedule. */
#include "rt/interpose/controlled.h"
#include "rt/core/rt.h"
#include "rt/interpose/timeout.h"
#include "sched/sync.h"

#include <errno.h>

enum { OBJECT_COND = 3 };
enum { IS_SHARED = 1, USES_MONOTONIC = 2 }; /* in glibc's __wrefs */

/* ---- waiting ---- */

static bool woken_ready(const struct control_thread *t)
{
	return (t->released || t->timed_out || control_cancel_due(t)) &&
	       (sync_mutex_ready(t->op.object2, t->task.id + 1) ||
		gone_is(t->op.object2, GONE_MUTEX));
}

static uint32_t woken_holder(const struct control_thread *t)
{
	int32_t owner = ((const struct sync_mutex *)t->op.object2)->owner;

	if (!t->released && !t->timed_out)
		return 0; /* nobody in particular owes the signal */
	return owner > 0 && owner <= PLAIT_MAX_THREADS ? (uint32_t)owner : 0;
}

static const struct control_wait woken_wait = { "for a condition variable", woken_ready,
						woken_holder, CONTROL_NEEDS_MORE };

static bool spurious(struct control_thread *me)
{
	if (!control_asked(PLAIT_CONTROL_SPURIOUS))
		return false;
	/* a systematic search tries each alternative: two are enough */
	return control_choose(me, control_asked(PLAIT_CONTROL_LOG) ? 2 : 8) == 1;
}

static int wait_controlled(struct control_thread *me, uint32_t site, pthread_cond_t *c,
			   pthread_mutex_t *m, uint64_t deadline)
{
	struct sync_mutex *mutex = (struct sync_mutex *)m;
	uint32_t count;
	int r;

	gone_check(me, c, GONE_COND, "wait for", site);
	gone_check(me, m, GONE_MUTEX, "wait with", site);
	control_point(me, &(struct control_op){ .kind = PLAIT_EV_WAIT,
						.site = site,
						.object = c,
						.object2 = m,
						.writes = true });
	gone_check(me, c, GONE_COND, "wait for", site);
	gone_check(me, m, GONE_MUTEX, "wait with", site);
	if ((mutex->kind & SYNC_MUTEX_TYPE) == SYNC_MUTEX_ERRORCHECK &&
	    mutex->owner != (int32_t)me->task.id + 1)
		return EPERM;
	count = sync_mutex_release_all(mutex);
	control_changed();
	rt_record_wait(PLAIT_EV_WAIT, site, c, m, 0);
	me->released = spurious(me);
	control_point(me, &(struct control_op){ .kind = PLAIT_EV_WOKEN,
						.site = site,
						.object = c,
						.object2 = m,
						.writes = true,
						.wait = &woken_wait,
						.cancellable = true,
						.shared = c->__data.__wrefs & IS_SHARED,
						.deadline = deadline });
	r = me->released && !(deadline != CONTROL_NEVER && control_refused(me)) ? 0 : ETIMEDOUT;
	me->released = false;
	/* the condition variable may be gone: who destroys it when all have been woken does no wrong */
	gone_check(me, m, GONE_MUTEX, "return from a wait with", site);
	sync_mutex_restore(mutex, me->task.id + 1, count);
	control_changed();
	rt_record_wait(PLAIT_EV_WOKEN, site, c, m, r);
	if (control_cancel_due(me))
		pthread_testcancel();
	return r;
}

int hook_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();
	int r;

	if (me)
		return wait_controlled(me, site, c, m, CONTROL_NEVER);
	rt_record_wait(PLAIT_EV_WAIT, site, c, m, 0);
	r = real.pthread_cond_wait(c, m);
	rt_record_wait(PLAIT_EV_WOKEN, site, c, m, r);
	return r;
}

static int timed_wait(uint32_t site, pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
		      const struct timespec *until, bool own_clock)
{
	struct control_thread *me = control_self();
	int r;

	if (me && !timespec_valid(until))
		return EINVAL;
	if (me)
		return wait_controlled(me, site, c, m, timeout_at(clock, until));
	rt_record_wait(PLAIT_EV_WAIT, site, c, m, 0);
	r = own_clock ? real.pthread_cond_timedwait(c, m, until)
		      : real.pthread_cond_clockwait(c, m, clock, until);
	rt_record_wait(PLAIT_EV_WOKEN, site, c, m, r);
	return r;
}

static clockid_t clock_of(const pthread_cond_t *c)
{
	return c->__data.__wrefs & USES_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

int hook_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
	HOOK_ENTER;
	return timed_wait(rt_take_site(), c, m, clock_of(c), until, true);
}

int hook_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
				const struct timespec *until)
{
	HOOK_ENTER;
	return timed_wait(rt_take_site(), c, m, clock, until, false);
}

/* ---- waking ---- */

/* What to set so that t wakes; NULL: it does not wait here. A thread inside a signal handler waits
 * on. */
static bool *waits_for(struct control_thread *t, const pthread_cond_t *c)
{
	struct control_outer *o;

	if (!t->rt || t->ended)
		return NULL;
	if (t->op.kind == PLAIT_EV_WOKEN && t->op.object == c && !t->released && !t->timed_out)
		return &t->released;
	for (o = t->outer; o; o = o->next)
		if (o->op.kind == PLAIT_EV_WOKEN && o->op.object == c && !o->released &&
		    !o->timed_out)
			return &o->released;
	return NULL;
}

static void signal_controlled(struct control_thread *me, uint32_t site, pthread_cond_t *c, bool all)
{
	uint32_t kind = all ? PLAIT_EV_BROADCAST : PLAIT_EV_SIGNAL;
	const char *use = all ? "broadcast to" : "signal to";
	uint32_t i, waiting = 0, chosen;

	gone_check(me, c, GONE_COND, use, site);
	control_touch(me, kind, site, c);
	gone_check(me, c, GONE_COND, use, site);
	for (i = 0; i < control_nthreads(); i++)
		waiting += waits_for(control_thread_at(i), c) != NULL;
	all |= control_wakes_all(me);
	chosen = all ? 0 : control_choose(me, waiting);
	for (i = 0; i < control_nthreads(); i++) {
		bool *released = waits_for(control_thread_at(i), c);

		if (released && (all || chosen-- == 0))
			*released = true;
	}
	control_changed();
	rt_record_sa_n(kind, site, c, 0);
}

int hook_pthread_cond_signal(pthread_cond_t *c)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (me) {
		signal_controlled(me, site, c, false);
		return 0;
	}
	rt_record_sa_n(PLAIT_EV_SIGNAL, site, c, 0);
	return real.pthread_cond_signal(c);
}

int hook_pthread_cond_broadcast(pthread_cond_t *c)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (me) {
		signal_controlled(me, site, c, true);
		return 0;
	}
	rt_record_sa_n(PLAIT_EV_BROADCAST, site, c, 0);
	return real.pthread_cond_broadcast(c);
}

int hook_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
	uint32_t site = hook_site();

	hook_renews(control_self(), PLAIT_EV_LOCK_INIT, site, c);
	rt_record_sa_n(PLAIT_EV_LOCK_INIT, site, c, OBJECT_COND);
	return real.pthread_cond_init(c, attr);
}

/* Under control libc's object was never waited on: its own destroy would be right, but it is
 * undefined with waiters, and those are ours. */
int hook_pthread_cond_destroy(pthread_cond_t *c)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (me)
		hook_destroys(me, site, c, GONE_COND);
	rt_record_sa_n(PLAIT_EV_LOCK_DESTROY, site, c, OBJECT_COND);
	return me ? 0 : real.pthread_cond_destroy(c);
}

/* ---- C11 ---- */

int hook_cnd_wait(cnd_t *c, mtx_t *m)
{
	plait_call_site = hook_site();
	return hook_pthread_cond_wait((pthread_cond_t *)c, (pthread_mutex_t *)m) ? thrd_error
										 : thrd_success;
}

int hook_cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *until)
{
	int r;

	plait_call_site = hook_site();
	r = hook_pthread_cond_timedwait((pthread_cond_t *)c, (pthread_mutex_t *)m, until);
	return r == 0 ? thrd_success : r == ETIMEDOUT ? thrd_timedout : thrd_error;
}

int hook_cnd_signal(cnd_t *c)
{
	plait_call_site = hook_site();
	return hook_pthread_cond_signal((pthread_cond_t *)c) ? thrd_error : thrd_success;
}

int hook_cnd_broadcast(cnd_t *c)
{
	plait_call_site = hook_site();
	return hook_pthread_cond_broadcast((pthread_cond_t *)c) ? thrd_error : thrd_success;
}
