/* rt/interpose/sync-mutex.c - mutexes and spinlocks; the state machines are in sched/sync.c. */
#include "rt/interpose/blocked.h"
#include "rt/interpose/controlled.h"
#include "rt/core/rt.h"
#include "rt/interpose/timeout.h"
#include "sched/sync.h"

#include <errno.h>

_Static_assert(sizeof(struct sync_mutex) == sizeof(pthread_mutex_t), "glibc's mutex on x86-64");

enum { OBJECT_MUTEX, OBJECT_RWLOCK, OBJECT_SPIN };

static struct sync_mutex *machine(pthread_mutex_t *m)
{
	return (struct sync_mutex *)m;
}

static bool mutex_ready(const struct control_thread *t)
{
	return sync_mutex_ready(t->op.object, t->task.id + 1) || gone_is(t->op.object, GONE_MUTEX);
}

static uint32_t mutex_holder(const struct control_thread *t)
{
	int32_t owner = ((const struct sync_mutex *)t->op.object)->owner;

	return owner > 0 && owner <= PLAIT_MAX_THREADS ? (uint32_t)owner : 0;
}

static const struct control_wait mutex_wait = { "to lock a mutex", mutex_ready, mutex_holder, 0 };

/* ---- robust mutexes: whose owner may end ---- */

static void note_robust(struct control_thread *me, struct sync_mutex *m, int r)
{
	if ((r && r != EOWNERDEAD) || !(m->kind & SYNC_MUTEX_ROBUST) || m->count > 1)
		return;
	if (me->nrobust < CONTROL_ROBUST)
		me->robust[me->nrobust++] = m;
	else
		control_note(PLAIT_UNCONTROLLED_ROBUST);
}

static void note_held(struct control_thread *me, struct sync_mutex *m, int r)
{
	note_robust(me, m, r);
	if (!r || r == EOWNERDEAD)
		control_holds(me, m);
}

static void forget_robust(struct control_thread *me, const struct sync_mutex *m)
{
	uint32_t i;

	for (i = 0; i < me->nrobust && me->robust[i] != m; i++)
		;
	if (i < me->nrobust && m->owner != (int32_t)me->task.id + 1)
		me->robust[i] = me->robust[--me->nrobust];
}

void mutex_owner_ended(struct control_thread *t)
{
	while (t->nrobust > 0) {
		struct sync_mutex *m = t->robust[--t->nrobust];

		if (!sync_mutex_is_dead(m) && m->owner == (int32_t)t->task.id + 1)
			sync_mutex_owner_died(m);
	}
}

static int lock_controlled(struct control_thread *me, uint32_t site, pthread_mutex_t *m,
			   uint64_t deadline)
{
	int r = ETIMEDOUT;

	gone_check(me, m, GONE_MUTEX, "lock of", site);
	if (control_point(me, &(struct control_op){ .kind = PLAIT_EV_LOCK,
						    .site = site,
						    .object = m,
						    .writes = true,
						    .shared = machine(m)->kind & SYNC_MUTEX_SHARED,
						    .wait = &mutex_wait,
						    .deadline = deadline }) &&
	    !(deadline != CONTROL_NEVER && control_refused(me))) {
		gone_check(me, m, GONE_MUTEX, "lock of",
			   site); /* it may have ended while we waited */
		r = sync_mutex_lock(machine(m), me->task.id + 1);
		note_held(me, machine(m), r);
		control_changed();
	}
	rt_record_sa_r(PLAIT_EV_LOCK, site, m, r);
	return r;
}

/* clang-format off: a table */
#define LOCK(name, params, args, deadline)                                                         \
	int hook_pthread_mutex_##name params                                                       \
	{                                                                                          \
		struct control_thread *me = control_self();                                        \
		uint32_t site = hook_site();                                                       \
		int r;                                                                             \
                                                                                                   \
		if (me)                                                                            \
			return lock_controlled(me, site, m, deadline);                             \
		r = TRIED(real.pthread_mutex_trylock(m), EBUSY);                                   \
		if (r == EBUSY) {                                                                  \
			note_blocked(PLAIT_EV_LOCK, site, m);                                      \
			r = real.pthread_mutex_##name args;                                        \
		}                                                                                  \
		rt_record_sa_r(PLAIT_EV_LOCK, site, m, r);                                         \
		return r;                                                                          \
	}
LOCK(lock, (pthread_mutex_t * m), (m), CONTROL_NEVER)
LOCK(timedlock, (pthread_mutex_t * m, const struct timespec *until), (m, until),
     timeout_at(CLOCK_REALTIME, until))
LOCK(clocklock, (pthread_mutex_t * m, clockid_t clock, const struct timespec *until),
     (m, clock, until), timeout_at(clock, until))
/* clang-format on */

int hook_pthread_mutex_trylock(pthread_mutex_t *m)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();
	int r;

	if (me) {
		gone_check(me, m, GONE_MUTEX, "try of", site);
		control_point(me, &(struct control_op){ .kind = PLAIT_EV_TRYLOCK,
							.site = site,
							.object = m,
							.writes = true,
							.wait = attempt(me, &mutex_wait) });
		gone_check(me, m, GONE_MUTEX, "try of", site);
		r = control_refused(me) ? EBUSY : sync_mutex_trylock(machine(m), me->task.id + 1);
		note_held(me, machine(m), r);
		if (r == EBUSY)
			control_spin_check(me, site, m, 1);
		else
			control_changed();
	} else {
		r = real.pthread_mutex_trylock(m);
	}
	rt_record_sa_r(PLAIT_EV_TRYLOCK, site, m, r);
	return r;
}

int hook_pthread_mutex_unlock(pthread_mutex_t *m)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();
	int r;

	if (!me) {
		rt_record_sa_r(PLAIT_EV_UNLOCK, site, m, 0);
		return real.pthread_mutex_unlock(m);
	}
	gone_check(me, m, GONE_MUTEX, "unlock of", site);
	control_release(me, PLAIT_EV_UNLOCK, site, m);
	gone_check(me, m, GONE_MUTEX, "unlock of", site);
	r = sync_mutex_unlock(machine(m), me->task.id + 1);
	if (!r)
		control_gives_back(me, m);
	if (me->nrobust)
		forget_robust(me, machine(m));
	control_changed();
	rt_record_sa_r(PLAIT_EV_UNLOCK, site, m, r);
	return r;
}

int hook_pthread_mutex_consistent(pthread_mutex_t *m)
{
	struct control_thread *me = control_self();

	HOOK_ENTER;
	if (me)
		return sync_mutex_consistent(machine(m), me->task.id + 1);
	return real.pthread_mutex_consistent(m);
}

int hook_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();
	int r;

	hook_renews(me, PLAIT_EV_LOCK_INIT, site, m);
	r = real.pthread_mutex_init(m, attr);
	if (r == 0 && me && (machine(m)->kind & SYNC_MUTEX_SHARED))
		control_note(PLAIT_UNCONTROLLED_SHARED);
	rt_record_sa_n(PLAIT_EV_LOCK_INIT, site, m, OBJECT_MUTEX);
	return r;
}

int hook_pthread_mutex_destroy(pthread_mutex_t *m)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();
	int r;

	if (me) {
		gone_check(me, m, GONE_MUTEX, "destruction of", site);
		control_touch(me, PLAIT_EV_LOCK_DESTROY, site, m);
		gone_check(me, m, GONE_MUTEX, "destruction of", site);
		r = sync_mutex_destroy(machine(m));
		if (!r)
			gone_destroyed(me, m, GONE_MUTEX);
	} else {
		r = real.pthread_mutex_destroy(m);
	}
	rt_record_sa_n(PLAIT_EV_LOCK_DESTROY, site, m, OBJECT_MUTEX);
	return r;
}

/* ---- C11: an mtx_t is a pthread_mutex_t ---- */

static int thrd_result(int r)
{
	return r == 0		? thrd_success
	       : r == EBUSY	? thrd_busy
	       : r == ETIMEDOUT ? thrd_timedout
				: thrd_error;
}

int hook_mtx_lock(mtx_t *m)
{
	plait_call_site = hook_site();
	return thrd_result(hook_pthread_mutex_lock((pthread_mutex_t *)m));
}

int hook_mtx_trylock(mtx_t *m)
{
	plait_call_site = hook_site();
	return thrd_result(hook_pthread_mutex_trylock((pthread_mutex_t *)m));
}

int hook_mtx_timedlock(mtx_t *m, const struct timespec *until)
{
	plait_call_site = hook_site();
	return thrd_result(hook_pthread_mutex_timedlock((pthread_mutex_t *)m, until));
}

int hook_mtx_unlock(mtx_t *m)
{
	plait_call_site = hook_site();
	return thrd_result(hook_pthread_mutex_unlock((pthread_mutex_t *)m));
}

/* ---- spinlocks ---- */

static bool spin_ready(const struct control_thread *t)
{
	return sync_spin_ready(t->op.object) || gone_is(t->op.object, GONE_SPIN);
}

static const struct control_wait spin_wait = { "to lock a spinlock", spin_ready, NULL, 0 };

int hook_pthread_spin_init(pthread_spinlock_t *s, int shared)
{
	uint32_t site = hook_site();

	hook_renews(control_self(), PLAIT_EV_LOCK_INIT, site, (const void *)s);
	rt_record_sa_n(PLAIT_EV_LOCK_INIT, site, (const void *)s, OBJECT_SPIN);
	return real.pthread_spin_init(s, shared);
}

int hook_pthread_spin_destroy(pthread_spinlock_t *s)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (me)
		hook_destroys(me, site, (void *)s, GONE_SPIN);
	rt_record_sa_n(PLAIT_EV_LOCK_DESTROY, site, (const void *)s, OBJECT_SPIN);
	return me ? 0 : real.pthread_spin_destroy(s);
}

int hook_pthread_spin_lock(pthread_spinlock_t *s)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();
	int r;

	if (me) {
		gone_check(me, (const void *)s, GONE_SPIN, "lock of", site);
		control_point(me, &(struct control_op){ .kind = PLAIT_EV_LOCK,
							.site = site,
							.object = (const void *)s,
							.writes = true,
							.wait = &spin_wait });
		gone_check(me, (const void *)s, GONE_SPIN, "lock of", site);
		r = sync_spin_trylock((int *)s);
		control_holds(me, (const void *)s);
		control_changed();
	} else {
		r = real.pthread_spin_lock(s);
	}
	rt_record_sa_r(PLAIT_EV_LOCK, site, (const void *)s, r);
	return r;
}

int hook_pthread_spin_trylock(pthread_spinlock_t *s)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();
	int r;

	if (me) {
		gone_check(me, (const void *)s, GONE_SPIN, "try of", site);
		control_point(me, &(struct control_op){ .kind = PLAIT_EV_TRYLOCK,
							.site = site,
							.object = (const void *)s,
							.writes = true,
							.wait = attempt(me, &spin_wait) });
		gone_check(me, (const void *)s, GONE_SPIN, "try of", site);
		r = control_refused(me) ? EBUSY : sync_spin_trylock((int *)s);
		if (r) {
			control_spin_check(me, site, (const void *)s, 1);
		} else {
			control_holds(me, (const void *)s);
			control_changed();
		}
	} else {
		r = real.pthread_spin_trylock(s);
	}
	rt_record_sa_r(PLAIT_EV_TRYLOCK, site, (const void *)s, r);
	return r;
}

int hook_pthread_spin_unlock(pthread_spinlock_t *s)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (!me) {
		rt_record_sa_r(PLAIT_EV_UNLOCK, site, (const void *)s, 0);
		return real.pthread_spin_unlock(s);
	}
	gone_check(me, (const void *)s, GONE_SPIN, "unlock of", site);
	control_release(me, PLAIT_EV_UNLOCK, site, (const void *)s);
	gone_check(me, (const void *)s, GONE_SPIN, "unlock of", site);
	sync_spin_unlock((int *)s);
	control_gives_back(me, (const void *)s);
	control_changed();
	rt_record_sa_r(PLAIT_EV_UNLOCK, site, (const void *)s, 0);
	return 0;
}
