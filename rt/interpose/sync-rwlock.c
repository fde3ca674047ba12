/* rt/interpose/sync-rwlock.c - reader-writer locks; the state machine is in sched/sync.c. */
#include "rt/interpose/blocked.h"
#include "rt/interpose/controlled.h"
#include "rt/core/rt.h"
#include "rt/interpose/timeout.h"
#include "sched/sync.h"

#include <errno.h>

_Static_assert(sizeof(struct sync_rwlock) == sizeof(pthread_rwlock_t), "glibc's rwlock on x86-64");

enum { OBJECT_RWLOCK = 1 };

/* Some thread has published a write lock of l: matters for locks that prefer writers. */
static bool writer_waits(const void *l)
{
	size_t i;

	for (i = 0; i < control_nthreads(); i++) {
		const struct control_thread *t = control_thread_at(i);

		if (t->rt && !t->ended && t->op.kind == PLAIT_EV_WRLOCK && t->op.object == l)
			return true;
	}
	return false;
}

static bool read_ready(const struct control_thread *t)
{
	const struct sync_rwlock *l = t->op.object;

	return l->writer == (int32_t)t->task.id + 1 || sync_rwlock_read_ready(l, writer_waits(l)) ||
	       gone_is(l, GONE_RWLOCK);
}

static bool write_ready(const struct control_thread *t)
{
	const struct sync_rwlock *l = t->op.object;

	return l->writer == (int32_t)t->task.id + 1 || sync_rwlock_write_ready(l) ||
	       gone_is(l, GONE_RWLOCK);
}

static uint32_t holder(const struct control_thread *t)
{
	int32_t w = ((const struct sync_rwlock *)t->op.object)->writer;

	return w > 0 && w <= PLAIT_MAX_THREADS ? (uint32_t)w : 0;
}

static const struct control_wait read_wait = { "to read-lock a rwlock", read_ready, holder, 0 };
static const struct control_wait write_wait = { "to write-lock a rwlock", write_ready, holder, 0 };

static int acquire(struct sync_rwlock *l, uint32_t self, bool write, bool try)
{
	if (try)
		return write ? sync_rwlock_trywrlock(l, self) : sync_rwlock_tryrdlock(l);
	return write ? sync_rwlock_wrlock(l, self) : sync_rwlock_rdlock(l, self);
}

static int lock_controlled(struct control_thread *me, uint32_t kind, uint32_t site,
			   pthread_rwlock_t *l, uint64_t deadline)
{
	bool write = kind == PLAIT_EV_WRLOCK || kind == PLAIT_EV_TRYWRLOCK;
	bool try = kind == PLAIT_EV_TRYRDLOCK || kind == PLAIT_EV_TRYWRLOCK;
	const struct control_wait *wait = write ? &write_wait : &read_wait;
	struct sync_rwlock *machine = (struct sync_rwlock *)l;
	const char *use = try ? "try of" : write ? "write lock of" : "read lock of";
	int r = ETIMEDOUT;
	bool got;

	gone_check(me, l, GONE_RWLOCK, use, site);
	got = control_point(me, &(struct control_op){ .kind = kind,
						      .site = site,
						      .object = l,
						      .writes = true,
						      .shared = machine->shared != 0,
						      .wait = try ? attempt(me, wait) : wait,
						      .deadline = deadline });
	gone_check(me, l, GONE_RWLOCK, use, site);
	if (got)
		r = (try || deadline != CONTROL_NEVER) && control_refused(me)
			    ? (try ? EBUSY : ETIMEDOUT)
			    : acquire(machine, me->task.id + 1, write, try);
	if (!r && write) /* readers do not exclude each other */
		control_holds(me, l);
	if (r == EBUSY)
		control_spin_check(me, site, l, 1);
	else
		control_changed();
	rt_record_sa_r(kind, site, l, r);
	return r;
}

/* EBUSY: the lock must be waited for, or it is not ours to try. */
static int tried(uint32_t kind, uint32_t site, pthread_rwlock_t *l)
{
	int r = kind == PLAIT_EV_RDLOCK	  ? TRIED(real.pthread_rwlock_tryrdlock(l), EBUSY)
		: kind == PLAIT_EV_WRLOCK ? TRIED(real.pthread_rwlock_trywrlock(l), EBUSY)
					  : EBUSY;

	if (r == EBUSY && (kind == PLAIT_EV_RDLOCK || kind == PLAIT_EV_WRLOCK))
		note_blocked(kind, site, l);
	return r;
}

/* clang-format off */
#define LOCK(name, kind, params, call, deadline)					\
	int hook_pthread_rwlock_##name params						\
	{										\
		struct control_thread *me = control_self();				\
		uint32_t site = hook_site();								\
		int r;									\
											\
		if (me)									\
			return lock_controlled(me, kind, site, l, deadline);		\
		r = tried(kind, site, l);						\
		if (r == EBUSY)								\
			r = real.pthread_rwlock_##name call;				\
		rt_record_sa_r(kind, site, l, r);					\
		return r;								\
	}
LOCK(rdlock, PLAIT_EV_RDLOCK, (pthread_rwlock_t *l), (l), CONTROL_NEVER)
LOCK(wrlock, PLAIT_EV_WRLOCK, (pthread_rwlock_t *l), (l), CONTROL_NEVER)
LOCK(tryrdlock, PLAIT_EV_TRYRDLOCK, (pthread_rwlock_t *l), (l), CONTROL_NEVER)
LOCK(trywrlock, PLAIT_EV_TRYWRLOCK, (pthread_rwlock_t *l), (l), CONTROL_NEVER)
LOCK(timedrdlock, PLAIT_EV_RDLOCK, (pthread_rwlock_t *l, const struct timespec *until), (l, until),
     timeout_at(CLOCK_REALTIME, until))
LOCK(timedwrlock, PLAIT_EV_WRLOCK, (pthread_rwlock_t *l, const struct timespec *until), (l, until),
     timeout_at(CLOCK_REALTIME, until))
LOCK(clockrdlock, PLAIT_EV_RDLOCK, (pthread_rwlock_t *l, clockid_t clock, const struct timespec *until),
     (l, clock, until), timeout_at(clock, until))
LOCK(clockwrlock, PLAIT_EV_WRLOCK, (pthread_rwlock_t *l, clockid_t clock, const struct timespec *until),
     (l, clock, until), timeout_at(clock, until))
/* clang-format on */

int hook_pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (!me) {
		rt_record_sa_r(PLAIT_EV_RWUNLOCK, site, l, 0);
		return real.pthread_rwlock_unlock(l);
	}
	gone_check(me, l, GONE_RWLOCK, "unlock of", site);
	control_release(me, PLAIT_EV_RWUNLOCK, site, l);
	gone_check(me, l, GONE_RWLOCK, "unlock of", site);
	sync_rwlock_unlock((struct sync_rwlock *)l, me->task.id + 1);
	control_gives_back(me, l);
	control_changed();
	rt_record_sa_r(PLAIT_EV_RWUNLOCK, site, l, 0);
	return 0;
}

int hook_pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *attr)
{
	uint32_t site = hook_site();

	hook_renews(control_self(), PLAIT_EV_LOCK_INIT, site, l);
	rt_record_sa_n(PLAIT_EV_LOCK_INIT, site, l, OBJECT_RWLOCK);
	return real.pthread_rwlock_init(l, attr);
}

int hook_pthread_rwlock_destroy(pthread_rwlock_t *l)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (me)
		hook_destroys(me, site, l, GONE_RWLOCK);
	rt_record_sa_n(PLAIT_EV_LOCK_DESTROY, site, l, OBJECT_RWLOCK);
	return me ? 0 : real.pthread_rwlock_destroy(l);
}
