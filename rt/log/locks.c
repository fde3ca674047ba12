/* rt/log/locks.c - mode sync: mutexes, conditions and the like, as they are recorded.
 *
 * libc's function does the work; one operation is counted for each that the control engine makes of the
 * call (rt/interpose), so that a replay counts alike: a wait is two, leaving a barrier is one more. */
#include "rt/log/order.h"

#include <errno.h>

/* An attempt that failed, or a wait that timed out, has no place in the order: a replay lets it fail,
 * whatever it would find. */
static int refused(const void *object, uint32_t kind, int r)
{
	struct rt_thread *t = recorded();

	if (t)
		log_step(t, kind, object);
	log_result(r);
	return r;
}

static int taken(const void *object, uint32_t kind, int r)
{
	if (unlikely(r))
		return refused(object, kind, r);
	log_operation(object, kind);
	return 0;
}

/* The same for what one thread alone can hold. */
static int held(const void *object, uint32_t kind, int r)
{
	if (unlikely(r))
		return refused(object, kind, r);
	log_taken(object, kind);
	return 0;
}

static inline __attribute__((always_inline)) int held_mutex(pthread_mutex_t *m, int r)
{
	if (unlikely(r))
		return refused(m, PLAIT_EV_LOCK, r);
	log_mutex_taken(m, PLAIT_EV_LOCK);
	return 0;
}

/* ---- mutexes, spinlocks ---- */

static int noted_pthread_mutex_lock(pthread_mutex_t *m)
{
	return held_mutex(m, real.pthread_mutex_lock(m));
}

static int noted_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
	return held_mutex(m, real.pthread_mutex_timedlock(m, until));
}

static int noted_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
					 const struct timespec *until)
{
	return held_mutex(m, real.pthread_mutex_clocklock(m, clock, until));
}

static int noted_pthread_mutex_trylock(pthread_mutex_t *m)
{
	return held_mutex(m, real.pthread_mutex_trylock(m));
}

static int noted_pthread_mutex_unlock(pthread_mutex_t *m)
{
	log_count();
	return real.pthread_mutex_unlock(m);
}

static int thrd_result(int r)
{
	return r == 0		? thrd_success
	       : r == EBUSY	? thrd_busy
	       : r == ETIMEDOUT ? thrd_timedout
				: thrd_error;
}

static int noted_mtx_lock(mtx_t *m)
{
	return thrd_result(noted_pthread_mutex_lock((pthread_mutex_t *)m));
}

static int noted_mtx_trylock(mtx_t *m)
{
	return thrd_result(noted_pthread_mutex_trylock((pthread_mutex_t *)m));
}

static int noted_mtx_timedlock(mtx_t *m, const struct timespec *until)
{
	return thrd_result(noted_pthread_mutex_timedlock((pthread_mutex_t *)m, until));
}

static int noted_mtx_unlock(mtx_t *m)
{
	return thrd_result(noted_pthread_mutex_unlock((pthread_mutex_t *)m));
}

static int noted_pthread_spin_lock(pthread_spinlock_t *s)
{
	return held((const void *)s, PLAIT_EV_LOCK, real.pthread_spin_lock(s));
}

static int noted_pthread_spin_trylock(pthread_spinlock_t *s)
{
	return held((const void *)s, PLAIT_EV_LOCK, real.pthread_spin_trylock(s));
}

static int noted_pthread_spin_unlock(pthread_spinlock_t *s)
{
	log_count();
	return real.pthread_spin_unlock(s);
}

/* ---- rwlocks ---- */

/* clang-format off: a table */
#define RWLOCK(kind, name, params, args)                                                           \
	static int noted_pthread_rwlock_##name params                                              \
	{                                                                                          \
		return taken(l, PLAIT_EV_##kind, real.pthread_rwlock_##name args);                 \
	}
RWLOCK(RDLOCK, rdlock, (pthread_rwlock_t * l), (l))
RWLOCK(WRLOCK, wrlock, (pthread_rwlock_t * l), (l))
RWLOCK(RDLOCK, timedrdlock, (pthread_rwlock_t * l, const struct timespec *until), (l, until))
RWLOCK(WRLOCK, timedwrlock, (pthread_rwlock_t * l, const struct timespec *until), (l, until))
RWLOCK(RDLOCK, clockrdlock, (pthread_rwlock_t * l, clockid_t c, const struct timespec *until),
       (l, c, until))
RWLOCK(WRLOCK, clockwrlock, (pthread_rwlock_t * l, clockid_t c, const struct timespec *until),
       (l, c, until))
/* clang-format on */

static int noted_pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	return taken(l, PLAIT_EV_RDLOCK, real.pthread_rwlock_tryrdlock(l));
}

static int noted_pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	return taken(l, PLAIT_EV_WRLOCK, real.pthread_rwlock_trywrlock(l));
}

static int noted_pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	log_count();
	return real.pthread_rwlock_unlock(l);
}

/* ---- condition variables: to wait gives the mutex back, and to wake takes it ---- */

static int woken(const void *cond, pthread_mutex_t *mutex, int r)
{
	log_woke(recorded());
	log_mutex_taken(mutex, PLAIT_EV_WOKEN);
	log_also(cond);
	if (r)
		log_result(r);
	return r;
}

static int noted_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	log_operation(c, PLAIT_EV_WAIT);
	return woken(c, m, real.pthread_cond_wait(c, m));
}

static int noted_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
					const struct timespec *until)
{
	log_operation(c, PLAIT_EV_WAIT);
	return woken(c, m, real.pthread_cond_timedwait(c, m, until));
}

static int noted_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
					const struct timespec *until)
{
	log_operation(c, PLAIT_EV_WAIT);
	return woken(c, m, real.pthread_cond_clockwait(c, m, clock, until));
}

static int noted_pthread_cond_signal(pthread_cond_t *c)
{
	log_operation(c, PLAIT_EV_SIGNAL);
	return real.pthread_cond_signal(c);
}

static int noted_pthread_cond_broadcast(pthread_cond_t *c)
{
	log_operation(c, PLAIT_EV_BROADCAST);
	return real.pthread_cond_broadcast(c);
}

static int noted_cnd_wait(cnd_t *c, mtx_t *m)
{
	return thrd_result(noted_pthread_cond_wait((pthread_cond_t *)c, (pthread_mutex_t *)m));
}

static int noted_cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *until)
{
	return thrd_result(
		noted_pthread_cond_timedwait((pthread_cond_t *)c, (pthread_mutex_t *)m, until));
}

static int noted_cnd_signal(cnd_t *c)
{
	return thrd_result(noted_pthread_cond_signal((pthread_cond_t *)c));
}

static int noted_cnd_broadcast(cnd_t *c)
{
	return thrd_result(noted_pthread_cond_broadcast((pthread_cond_t *)c));
}

/* ---- semaphores: their results are in errno ---- */

static int sem_taken(const void *s, int r)
{
	int e = errno;

	taken(s, PLAIT_EV_SEM_WAIT, r ? e : 0);
	errno = e;
	return r;
}

static int noted_sem_wait(sem_t *s)
{
	return sem_taken(s, real.sem_wait(s));
}

static int noted_sem_timedwait(sem_t *s, const struct timespec *until)
{
	return sem_taken(s, real.sem_timedwait(s, until));
}

static int noted_sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *until)
{
	return sem_taken(s, real.sem_clockwait(s, clock, until));
}

static int noted_sem_trywait(sem_t *s)
{
	return sem_taken(s, real.sem_trywait(s));
}

static int noted_sem_post(sem_t *s)
{
	log_operation(s, PLAIT_EV_SEM_POST);
	return real.sem_post(s);
}

/* ---- barriers, once ---- */

static int noted_pthread_barrier_wait(pthread_barrier_t *b)
{
	int r;

	log_operation(b, PLAIT_EV_BARRIER_WAIT);
	r = real.pthread_barrier_wait(b);
	log_woke(recorded());
	log_operation(b, PLAIT_EV_BARRIER_WAIT);
	return r;
}

static __thread struct once_call {
	void (*routine)(void);
	const void *once;
} once_call;

/* libc decides who runs the routine: the thread that comes here. */
static void once_routine(void)
{
	struct once_call call = once_call; /* the routine may use another once */

	once_call.routine = NULL;
	log_operation(call.once, PLAIT_EV_ONCE_PASS);
	call.routine();
	log_operation(call.once, PLAIT_EV_ONCE_PASS);
	once_call.routine = NULL;
}

static int noted_pthread_once(pthread_once_t *o, void (*routine)(void))
{
	int r;

	once_call = (struct once_call){ routine, o };
	r = real.pthread_once(o, once_routine);
	if (once_call.routine) /* nobody took it */
		log_operation(o, PLAIT_EV_ONCE_PASS);
	once_call.routine = NULL;
	return r;
}

static void noted_call_once(once_flag *o, void (*routine)(void))
{
	noted_pthread_once((pthread_once_t *)o, routine);
}

static int noted___cxa_guard_acquire(void *guard)
{
	int r = real.__cxa_guard_acquire(guard);

	log_operation(guard, PLAIT_EV_ONCE_PASS);
	return r;
}

static void noted___cxa_guard_release(void *guard)
{
	log_operation(guard, PLAIT_EV_ONCE_PASS);
	real.__cxa_guard_release(guard);
}

static void noted___cxa_guard_abort(void *guard)
{
	log_operation(guard, PLAIT_EV_ONCE_PASS);
	real.__cxa_guard_abort(guard);
}

/* ---- sleeps: they are no operations, but what comes behind one is much later ---- */

#define SLEEP(type, name, params, args)                                                            \
	static type noted_##name params                                                            \
	{                                                                                          \
		type r = real.name args;                                                           \
		int e = errno;                                                                     \
                                                                                                   \
		log_slept();                                                                       \
		errno = e;                                                                         \
		return r;                                                                          \
	}
SLEEP(int, nanosleep, (const struct timespec *ts, struct timespec *left), (ts, left))
SLEEP(int, clock_nanosleep,
      (clockid_t clock, int flags, const struct timespec *ts, struct timespec *left),
      (clock, flags, ts, left))
SLEEP(int, usleep, (useconds_t us), (us))
SLEEP(unsigned, sleep, (unsigned s), (s))
SLEEP(int, thrd_sleep, (const struct timespec *ts, struct timespec *left), (ts, left))
#undef SLEEP

/* ---- taking over ---- */

/* clang-format off: a list */
#define NOTED(take)                                                                                                    \
	take(pthread_mutex_lock) take(pthread_mutex_timedlock) take(pthread_mutex_clocklock) take(                     \
		pthread_mutex_trylock) take(pthread_mutex_unlock) take(mtx_lock) take(mtx_trylock)                     \
		take(mtx_timedlock) take(mtx_unlock) take(pthread_spin_lock) take(pthread_spin_trylock) take(          \
			pthread_spin_unlock) take(pthread_rwlock_rdlock) take(pthread_rwlock_wrlock)                   \
			take(pthread_rwlock_timedrdlock) take(pthread_rwlock_timedwrlock) take(                        \
				pthread_rwlock_clockrdlock) take(pthread_rwlock_clockwrlock)                           \
				take(pthread_rwlock_tryrdlock) take(pthread_rwlock_trywrlock) take(                    \
					pthread_rwlock_unlock) take(pthread_cond_wait)                                 \
					take(pthread_cond_timedwait) take(pthread_cond_clockwait) take(                \
						pthread_cond_signal) take(pthread_cond_broadcast)                      \
						take(cnd_wait) take(cnd_timedwait) take(cnd_signal) take(              \
							cnd_broadcast) take(sem_wait) take(sem_timedwait)              \
							take(sem_clockwait) take(sem_trywait) take(                    \
								sem_post) take(pthread_barrier_wait)                   \
								take(pthread_once) take(call_once) take(               \
									__cxa_guard_acquire) take(__cxa_guard_release) \
									take(__cxa_guard_abort) take(                  \
										nanosleep) take(clock_nanosleep)       \
										take(usleep) take(                     \
											sleep)                         \
											take(thrd_sleep)
/* clang-format on */

void locks_init(void)
{
#define TAKE(name)                                                                                 \
	if (real.name)                                                                             \
		interpose_##name = noted_##name;
	NOTED(TAKE)
#undef TAKE
}
