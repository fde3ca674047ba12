/* preload/lock.c - the locks: mutexes, rwlocks, spinlocks, C11's mtx.
 *
 *	lock:    try; when that works push HELD, else push WANT, really lock, and turn it into HELD
 *	trylock: try; push HELD when it worked
 *	unlock:  drop; really unlock
 *
 * `unlock` drops first: what the area calls held must be held. `lock` tries first since most locks
 * are free: what is noted after the atomic instruction is written back while the program goes on,
 * whereas the instruction would wait for what was noted before it.
 *
 * An ordinary mutex (kind 0) that is free, and one that nobody waits for, we lock and unlock
 * ourselves, as glibc does and in the words that its static initialiser makes public: a second
 * call would cost as much as everything we note. See plain_works in area.c, which asks libc once
 * whether it agrees.
 *
 * A lock that this thread does not hold by our books (another thread took it, or took it before we
 * were there) is noted as foreign, so that the reader stops trusting the entry that is left behind
 * elsewhere. */
#include "preload/preload.h"

#include <errno.h>

/* a hint that processors without it ignore */
#define PREFETCHW __attribute__((target("prfchw")))

/* A lock that was free at the first try. */
static inline int lock_at_once(struct watch_slot *t, enum watch_kind kind, uint8_t flags,
			       const void *object, const uint64_t *fp)
{
	const struct watch_use *use = use_push(t, kind, WATCH_HELD, 0, object, fp);

	if (unlikely(t->history) && use && !(flags & WATCH_TIMED))
		history_order(t);
	return 0;
}

static inline int lock_end(struct watch_slot *t, struct watch_use *use, int result)
{
	if (likely(result == 0 || result == EOWNERDEAD)) {
		if (likely(use != NULL)) {
			STORE(use->state, WATCH_HELD);
			if (unlikely(t->history) && !(use->flags & WATCH_TIMED))
				history_order(t);
		}
	} else {
		use_drop(t, use);
	}
	return result;
}

static inline struct watch_use *find_held(struct watch_slot *t, const void *object)
{
	for (uint32_t i = t->n; i > 0; i--)
		if (t->uses[i - 1].object == (uint64_t)object &&
		    t->uses[i - 1].state == WATCH_HELD && t->uses[i - 1].kind <= WATCH_SPIN)
			return &t->uses[i - 1];
	return NULL;
}

static inline void unlock_begin(struct watch_slot *t, const void *object, const uint64_t *fp)
{
	struct watch_use *use = find_held(t, object);

	if (unlikely(!use)) {
		t->foreign_object[t->foreign % WATCH_FOREIGN] = (uint64_t)object;
		STORE(t->foreign, t->foreign + 1);
		return;
	}
	if (unlikely(use->count)) {
		if (use->count & WATCH_SAMPLE) {
			use->count &= (uint16_t)~WATCH_SAMPLE;
			stack_sample(t, use, fp);
		}
		if (use->count) {
			use->count--;
			return;
		}
	}
	if (unlikely(t->history))
		history_note(t, (uint32_t)(use - t->uses));
	use_remove(t, (uint32_t)(use - t->uses));
}

static inline void try_end(struct watch_slot *t, enum watch_kind kind, const void *object,
			   const uint64_t *fp, int result)
{
	if (result == 0 || result == EOWNERDEAD)
		use_push(t, kind, WATCH_HELD, 0, object, fp);
}

/* Not free at the first try: the thread may sleep now. */
static __attribute__((noinline, cold)) struct watch_use *want(struct watch_slot *t,
							      enum watch_kind kind, uint8_t flags,
							      const void *object,
							      const uint64_t *fp)
{
	struct watch_use *use = use_push(t, kind, WATCH_WANT, flags, object, fp);

	stack_settle(t, fp);
	return use;
}

/* ---- mutexes ---- */

/* Take an ordinary mutex if it is free. */
FAST bool plain_lock(const struct watch_slot *t, pthread_mutex_t *m)
{
	int zero = 0;

	if (unlikely(m->__data.__kind != t->plain_kind) ||
	    unlikely(!__atomic_compare_exchange_n(&m->__data.__lock, &zero, 1, false,
						  __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)))
		return false;
	m->__data.__owner = (int)t->tid;
	m->__data.__nusers++;
	return true;
}

/* Drop an ordinary mutex that is the last one this thread took; false when it is not that. */
FAST bool plain_drop(struct watch_slot *t, const pthread_mutex_t *m)
{
	/* with n = 0 this is the slot's head, whose first word is no address of a mutex */
	struct watch_use *use = &t->uses[(int64_t)t->n - 1];

	if (unlikely(use->object != (uint64_t)m) ||
	    unlikely(use->fact != FACT(WATCH_MUTEX, WATCH_HELD)) ||
	    unlikely(m->__data.__kind != t->plain_kind))
		return false;
	STORE(use->whole, 0);
	STORE(t->n_and_seq, t->n_and_seq - 1);
	return true;
}

/* Unlock an ordinary mutex; false when somebody waits for it, and it is still locked. */
FAST bool plain_release(pthread_mutex_t *m)
{
	int one = 1;

	m->__data.__owner = 0;
	m->__data.__nusers--;
	return __atomic_compare_exchange_n(&m->__data.__lock, &one, 0, false, __ATOMIC_RELEASE,
					   __ATOMIC_RELAXED);
}

/* libc knows how to wake them. */
static __attribute__((noinline)) int plain_wake(const struct watch_slot *t, pthread_mutex_t *m)
{
	m->__data.__owner = (int)t->tid;
	m->__data.__nusers++;
	return real.pthread_mutex_unlock(m);
}

/* Is trying first the same as locking, for a mutex that is free? Robust, priority-inheriting and
 * -protecting ones are left to libc. */
static inline bool may_try(const struct watch_slot *t, const pthread_mutex_t *m)
{
	int kind = m->__data.__kind;

	return t->try_first && kind != t->plain_kind && (kind & ~(3 | 128)) == 0;
}

/* Of a wait for it: the holder may be another process. */
static inline uint8_t mutex_flags(const pthread_mutex_t *m)
{
	enum { PROCESS_SHARED = 128 };

	return m->__data.__kind & PROCESS_SHARED ? WATCH_SHARED : 0;
}

/* The holder locks it again. A recursive mutex counts, an error-checking one refuses; neither
 * waits. Any other hangs for good, and is recorded like every wait. */
static inline struct watch_use *relock(struct watch_slot *t, const pthread_mutex_t *m)
{
	struct watch_use *use = t->n ? find_held(t, m) : NULL;
	int kind;

	if (likely(!use))
		return NULL;
	kind = m->__data.__kind & 3;
	return kind == PTHREAD_MUTEX_RECURSIVE_NP || kind == PTHREAD_MUTEX_ERRORCHECK_NP ? use
											 : NULL;
}

#define UNLOCK(object, call)                                                                       \
	do {                                                                                       \
		struct watch_slot *t = get_self();                                                 \
		if (likely(t != NULL))                                                             \
			unlock_begin(t, (const void *)(object), FRAME);                            \
		return call;                                                                       \
	} while (0)

/* What a lock and a try begin with: a mutex that is free and plain is taken at once, and they return. */
#define MUTEX_TAKE(m, fp, call)                                                                    \
	struct watch_slot *t = get_self();                                                         \
	struct watch_use *use;                                                                     \
	int result;                                                                                \
	if (unlikely(!t))                                                                          \
		return call;                                                                       \
	if (likely(plain_lock(t, (pthread_mutex_t *)(m)))) {                                       \
		use_push(t, WATCH_MUTEX, WATCH_HELD, 0, m, fp);                                    \
		return 0;                                                                          \
	}                                                                                          \
	use = relock(t, (const pthread_mutex_t *)(m))

#define MUTEX_LOCK(m, flags, fp, try, call)                                                        \
	do {                                                                                       \
		MUTEX_TAKE(m, fp, call);                                                           \
		if (use) {                                                                         \
			result = call;                                                             \
			use->count += result == 0;                                                 \
			return result;                                                             \
		}                                                                                  \
		if (may_try(t, (const pthread_mutex_t *)(m)) && try == 0)                          \
			return lock_at_once(t, WATCH_MUTEX, flags, m, fp);                         \
		use = want(t, WATCH_MUTEX, flags | mutex_flags((const pthread_mutex_t *)(m)), m,   \
			   fp);                                                                    \
		return lock_end(t, use, call);                                                     \
	} while (0)

#define MUTEX_TRY(m, fp, call)                                                                     \
	do {                                                                                       \
		MUTEX_TAKE(m, fp, call);                                                           \
		result = call;                                                                     \
		if (unlikely(use != NULL))                                                         \
			use->count += result == 0;                                                 \
		else                                                                               \
			try_end(t, WATCH_MUTEX, m, fp, result);                                    \
		return result;                                                                     \
	} while (0)

static __attribute__((noinline)) int mutex_lock(pthread_mutex_t *m, const uint64_t *fp)
{
	MUTEX_LOCK(m, 0, fp, real.pthread_mutex_trylock(m), real.pthread_mutex_lock(m));
}

/* A mutex that we have locked, on a stack that is not easy. */
static __attribute__((noinline)) int mutex_note(pthread_mutex_t *m, const uint64_t *fp)
{
	use_push(self, WATCH_MUTEX, WATCH_HELD, 0, m, fp);
	return 0;
}

/* Take a mutex that is free and ordinary, on an easy stack; anything else is elsewhere, so that no
 * register is saved here. `otherwise` is what to do when it is not that. */
PREFETCHW FAST int mutex_take(pthread_mutex_t *m, const uint64_t *fp,
			      int (*otherwise)(pthread_mutex_t *, const uint64_t *))
{
	struct watch_slot *t = self;
	int result;

	/* reading the mutex first would fetch it from another processor's cache twice: to read it,
	 * and to write it */
	__builtin_prefetch(m, 1);
	if (unlikely(!is_watched(t)) || unlikely(!plain_lock(t, m))) {
		result = otherwise(m, fp);
	} else if (unlikely(!is_easy(t, fp))) {
		result = mutex_note(m, fp);
	} else {
		use_push_easy(t, WATCH_MUTEX, WATCH_HELD, 0, m, fp);
		return 0;
	}
	/* no jump instead of a call: fp points to a frame that must still be there */
	__asm__ volatile("" : "+r"(result));
	return result;
}

EXPORT PREFETCHW int pthread_mutex_lock(pthread_mutex_t *m)
{
	return mutex_take(m, FRAME, mutex_lock);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
	MUTEX_LOCK(m, WATCH_TIMED, FRAME, real.pthread_mutex_trylock(m),
		   real.pthread_mutex_timedlock(m, until));
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
				   const struct timespec *until)
{
	MUTEX_LOCK(m, WATCH_TIMED, FRAME, real.pthread_mutex_trylock(m),
		   real.pthread_mutex_clocklock(m, clock, until));
}

static __attribute__((noinline)) int mutex_try(pthread_mutex_t *m, const uint64_t *fp)
{
	MUTEX_TRY(m, fp, real.pthread_mutex_trylock(m));
}

EXPORT PREFETCHW int pthread_mutex_trylock(pthread_mutex_t *m)
{
	return mutex_take(m, FRAME, mutex_try);
}

static __attribute__((noinline)) int mutex_unlock(pthread_mutex_t *m)
{
	struct watch_slot *t = get_self();

	if (likely(t != NULL))
		unlock_begin(t, m, FRAME);
	return real.pthread_mutex_unlock(m);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	struct watch_slot *t = self;

	if (unlikely(!is_watched(t)) || unlikely(!plain_drop(t, m)))
		return mutex_unlock(m);
	if (unlikely(!plain_release(m)))
		return plain_wake(t, m);
	return 0;
}

/* glibc's mtx_t is a pthread_mutex_t; thrd_success is 0 */
EXPORT int mtx_lock(mtx_t *m)
{
	MUTEX_LOCK(m, 0, FRAME, real.mtx_trylock(m), real.mtx_lock(m));
}

EXPORT int mtx_timedlock(mtx_t *restrict m, const struct timespec *restrict until)
{
	MUTEX_LOCK(m, WATCH_TIMED, FRAME, real.mtx_trylock(m), real.mtx_timedlock(m, until));
}

EXPORT int mtx_trylock(mtx_t *m)
{
	MUTEX_TRY(m, FRAME, real.mtx_trylock(m));
}

EXPORT int mtx_unlock(mtx_t *m)
{
	UNLOCK(m, real.mtx_unlock(m));
}

/* ---- rwlocks and spinlocks ---- */

#define LOCK(kind, object, flags, try, call)                                                       \
	do {                                                                                       \
		struct watch_slot *t = get_self();                                                 \
		if (unlikely(!t))                                                                  \
			return call;                                                               \
		if (likely(t->try_first && try == 0))                                              \
			return lock_at_once(t, kind, flags, (const void *)(object), FRAME);        \
		return lock_end(t, want(t, kind, flags, (const void *)(object), FRAME), call);     \
	} while (0)

#define TRY(kind, object, call)                                                                    \
	do {                                                                                       \
		struct watch_slot *t = get_self();                                                 \
		int result;                                                                        \
		if (unlikely(!t))                                                                  \
			return call;                                                               \
		result = call;                                                                     \
		try_end(t, kind, (const void *)(object), FRAME, result);                           \
		return result;                                                                     \
	} while (0)

static inline uint8_t writer_flags(const pthread_rwlock_t *l)
{
	return l->__data.__shared ? WATCH_SHARED : 0;
}

static inline uint8_t reader_flags(const pthread_rwlock_t *l)
{
	return writer_flags(l) | (l->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP
					  ? WATCH_BEHIND_WRITERS
					  : 0);
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	LOCK(WATCH_READ, l, reader_flags(l), real.pthread_rwlock_tryrdlock(l),
	     real.pthread_rwlock_rdlock(l));
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict l,
				      const struct timespec *restrict until)
{
	LOCK(WATCH_READ, l, reader_flags(l) | WATCH_TIMED, real.pthread_rwlock_tryrdlock(l),
	     real.pthread_rwlock_timedrdlock(l, until));
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict l, clockid_t clock,
				      const struct timespec *restrict until)
{
	LOCK(WATCH_READ, l, reader_flags(l) | WATCH_TIMED, real.pthread_rwlock_tryrdlock(l),
	     real.pthread_rwlock_clockrdlock(l, clock, until));
}

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	TRY(WATCH_READ, l, real.pthread_rwlock_tryrdlock(l));
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	LOCK(WATCH_WRITE, l, writer_flags(l), real.pthread_rwlock_trywrlock(l),
	     real.pthread_rwlock_wrlock(l));
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict l,
				      const struct timespec *restrict until)
{
	LOCK(WATCH_WRITE, l, writer_flags(l) | WATCH_TIMED, real.pthread_rwlock_trywrlock(l),
	     real.pthread_rwlock_timedwrlock(l, until));
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict l, clockid_t clock,
				      const struct timespec *restrict until)
{
	LOCK(WATCH_WRITE, l, writer_flags(l) | WATCH_TIMED, real.pthread_rwlock_trywrlock(l),
	     real.pthread_rwlock_clockwrlock(l, clock, until));
}

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	TRY(WATCH_WRITE, l, real.pthread_rwlock_trywrlock(l));
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	UNLOCK(l, real.pthread_rwlock_unlock(l));
}

EXPORT int pthread_spin_lock(pthread_spinlock_t *l)
{
	LOCK(WATCH_SPIN, l, 0, real.pthread_spin_trylock(l), real.pthread_spin_lock(l));
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *l)
{
	TRY(WATCH_SPIN, l, real.pthread_spin_trylock(l));
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *l)
{
	UNLOCK(l, real.pthread_spin_unlock(l));
}
