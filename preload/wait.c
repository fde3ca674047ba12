/* preload/wait.c - waits for something other than a lock: conditions, semaphores, barriers, joins.
 *
 * They are recorded as a use on top of the stack, never held. A condition wait also gives its mutex
 * up: the mutex's use is YIELD until the call is over. Most of these calls are cancellation points,
 * so the books are put right in a cleanup handler (glibc's, which needs no unwinder library). */
#include "preload/preload.h"

struct wait {
	struct watch_slot *t;
	struct watch_use *use;
	struct watch_use *mutex; /* given up */
};

static struct watch_use *find_mutex(struct watch_slot *t, const void *m)
{
	for (uint32_t i = t->n; i > 0; i--)
		if (t->uses[i - 1].object == (uint64_t)m && t->uses[i - 1].kind == WATCH_MUTEX &&
		    t->uses[i - 1].state == WATCH_HELD)
			return &t->uses[i - 1];
	return NULL;
}

static inline void wait_begin(struct wait *w, struct watch_slot *t, enum watch_kind kind,
			      uint8_t flags, const void *object, const void *mutex,
			      const uint64_t *fp)
{
	w->t = t;
	w->mutex = mutex ? find_mutex(t, mutex) : NULL;
	if (w->mutex)
		STORE(w->mutex->state, WATCH_YIELD);
	w->use = use_push(t, kind, WATCH_VOID, flags, object, fp);
	stack_settle(t, fp);
	if (w->use) {
		w->use->aux = (uint64_t)mutex; /* only conditions read it */
		STORE(w->use->state, WATCH_WANT);
	}
}

static void wait_end(void *arg)
{
	struct wait *w = arg;

	use_drop(w->t, w->use);
	if (w->mutex) {
		STORE(w->t->seq, w->t->seq + 1);
		STORE(w->mutex->state, WATCH_HELD);
	}
}

#define WAIT(kind, flags, object, mutex, call)                                                     \
	do {                                                                                       \
		struct watch_slot *t = get_self();                                                 \
		struct wait w;                                                                     \
		int result;                                                                        \
		if (unlikely(!t))                                                                  \
			return call;                                                               \
		wait_begin(&w, t, kind, flags, (const void *)(object), mutex, FRAME);              \
		pthread_cleanup_push(wait_end, &w);                                                \
		result = call;                                                                     \
		pthread_cleanup_pop(1);                                                            \
		return result;                                                                     \
	} while (0)

/* As glibc has it, of objects that other processes may use. */
static uint8_t cond_flags(const pthread_cond_t *c)
{
	enum { IS_SHARED = 1 };

	return c->__data.__wrefs & IS_SHARED ? WATCH_SHARED : 0;
}

static uint8_t sem_flags(const sem_t *s)
{
	enum { AFTER_VALUE_AND_WAITERS = 2 };

	return ((const int *)s)[AFTER_VALUE_AND_WAITERS] ? WATCH_SHARED : 0;
}

static uint8_t barrier_flags(const pthread_barrier_t *b)
{
	enum { AFTER_IN_ROUND_AND_COUNT = 3 };

	return ((const int *)b)[AFTER_IN_ROUND_AND_COUNT] ? WATCH_SHARED : 0;
}

EXPORT int pthread_cond_wait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m)
{
	WAIT(WATCH_COND, cond_flags(c), c, m, real.pthread_cond_wait(c, m));
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
				  const struct timespec *restrict until)
{
	WAIT(WATCH_COND, WATCH_TIMED, c, m, real.pthread_cond_timedwait(c, m, until));
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
				  clockid_t clock, const struct timespec *restrict until)
{
	WAIT(WATCH_COND, WATCH_TIMED, c, m, real.pthread_cond_clockwait(c, m, clock, until));
}

EXPORT int cnd_wait(cnd_t *c, mtx_t *m)
{
	WAIT(WATCH_COND, 0, c, m, real.cnd_wait(c, m));
}

EXPORT int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m,
			 const struct timespec *restrict until)
{
	WAIT(WATCH_COND, WATCH_TIMED, c, m, real.cnd_timedwait(c, m, until));
}

EXPORT int sem_wait(sem_t *s)
{
	WAIT(WATCH_SEM, sem_flags(s), s, NULL, real.sem_wait(s));
}

EXPORT int sem_timedwait(sem_t *restrict s, const struct timespec *restrict until)
{
	WAIT(WATCH_SEM, WATCH_TIMED, s, NULL, real.sem_timedwait(s, until));
}

EXPORT int sem_clockwait(sem_t *restrict s, clockid_t clock, const struct timespec *restrict until)
{
	WAIT(WATCH_SEM, WATCH_TIMED, s, NULL, real.sem_clockwait(s, clock, until));
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *b)
{
	WAIT(WATCH_BARRIER, barrier_flags(b), b, NULL, real.pthread_barrier_wait(b));
}

EXPORT int pthread_join(pthread_t thread, void **value)
{
	WAIT(WATCH_JOIN, 0, thread, NULL, real.pthread_join(thread, value));
}

EXPORT int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *until)
{
	WAIT(WATCH_JOIN, WATCH_TIMED, thread, NULL,
	     real.pthread_timedjoin_np(thread, value, until));
}

EXPORT int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock,
				const struct timespec *until)
{
	WAIT(WATCH_JOIN, WATCH_TIMED, thread, NULL,
	     real.pthread_clockjoin_np(thread, value, clock, until));
}

EXPORT int thrd_join(thrd_t thread, int *value)
{
	WAIT(WATCH_JOIN, 0, thread, NULL, real.thrd_join(thread, value));
}
