/* preload/lock.c - the locks: mutexes, rwlocks, spinlocks, C11's mtx.
 *
 * Every function says what it is about to do, does it, and says what came of it:
 *
 *	lock:    push WANT; really lock; HELD, or drop it when the call failed
 *	trylock: really try; push HELD when it worked
 *	unlock:  drop; really unlock
 *
 * `unlock` drops first: what the area calls held must be held. A lock that this thread does not
 * hold by our books (another thread took it, or took it before we were there) is noted as foreign,
 * so that the reader stops trusting the entry that is left behind elsewhere. */
#include "preload/preload.h"

#include <errno.h>

static inline int lock_end(struct watch_slot *t, struct watch_use *use, int result)
{
	if (likely(result == 0 || result == EOWNERDEAD)) {
		if (likely(use != NULL))
			STORE(use->state, WATCH_HELD);
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

static inline void unlock_begin(struct watch_slot *t, const void *object)
{
	struct watch_use *use = find_held(t, object);

	if (unlikely(!use)) {
		t->foreign_object[t->foreign % WATCH_FOREIGN] = (uint64_t)object;
		STORE(t->foreign, t->foreign + 1);
		return;
	}
	if (unlikely(use->count)) {
		use->count--;
		return;
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

/* ---- mutexes ---- */

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

#define MUTEX_LOCK(m, flags, call)                                                                 \
	do {                                                                                       \
		struct watch_slot *t = get_self();                                                 \
		struct watch_use *use;                                                             \
		if (unlikely(!t))                                                                  \
			return call;                                                               \
		use = relock(t, (const pthread_mutex_t *)(m));                                     \
		if (unlikely(use != NULL)) {                                                       \
			int result = call;                                                         \
			if (result == 0)                                                           \
				use->count++;                                                      \
			return result;                                                             \
		}                                                                                  \
		use = use_push(t, WATCH_MUTEX, WATCH_WANT, flags, m, FRAME);                       \
		return lock_end(t, use, call);                                                     \
	} while (0)

#define MUTEX_TRY(m, call)                                                                         \
	do {                                                                                       \
		struct watch_slot *t = get_self();                                                 \
		struct watch_use *use;                                                             \
		int result;                                                                        \
		if (unlikely(!t))                                                                  \
			return call;                                                               \
		use = relock(t, (const pthread_mutex_t *)(m));                                     \
		result = call;                                                                     \
		if (unlikely(use != NULL))                                                         \
			use->count += result == 0;                                                 \
		else                                                                               \
			try_end(t, WATCH_MUTEX, m, FRAME, result);                                 \
		return result;                                                                     \
	} while (0)

#define UNLOCK(object, call)                                                                       \
	do {                                                                                       \
		struct watch_slot *t = get_self();                                                 \
		if (likely(t != NULL))                                                             \
			unlock_begin(t, object);                                                   \
		return call;                                                                       \
	} while (0)

EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	MUTEX_LOCK(m, 0, real.pthread_mutex_lock(m));
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
	MUTEX_LOCK(m, WATCH_TIMED, real.pthread_mutex_timedlock(m, until));
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
				   const struct timespec *until)
{
	MUTEX_LOCK(m, WATCH_TIMED, real.pthread_mutex_clocklock(m, clock, until));
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
	MUTEX_TRY(m, real.pthread_mutex_trylock(m));
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	UNLOCK(m, real.pthread_mutex_unlock(m));
}

/* glibc's mtx_t is a pthread_mutex_t; thrd_success is 0 */
EXPORT int mtx_lock(mtx_t *m)
{
	MUTEX_LOCK(m, 0, real.mtx_lock(m));
}

EXPORT int mtx_timedlock(mtx_t *restrict m, const struct timespec *restrict until)
{
	MUTEX_LOCK(m, WATCH_TIMED, real.mtx_timedlock(m, until));
}

EXPORT int mtx_trylock(mtx_t *m)
{
	MUTEX_TRY(m, real.mtx_trylock(m));
}

EXPORT int mtx_unlock(mtx_t *m)
{
	UNLOCK(m, real.mtx_unlock(m));
}

/* ---- rwlocks and spinlocks ---- */

#define LOCK(kind, object, flags, call)                                                            \
	do {                                                                                       \
		struct watch_slot *t = get_self();                                                 \
		struct watch_use *use;                                                             \
		if (unlikely(!t))                                                                  \
			return call;                                                               \
		use = use_push(t, kind, WATCH_WANT, flags, (const void *)(object), FRAME);         \
		return lock_end(t, use, call);                                                     \
	} while (0)

#define TRY(kind, object, call)                                                                    \
	do {                                                                                       \
		struct watch_slot *t = get_self();                                                 \
		int result = t ? call : 0;                                                         \
		if (unlikely(!t))                                                                  \
			return call;                                                               \
		try_end(t, kind, (const void *)(object), FRAME, result);                           \
		return result;                                                                     \
	} while (0)

static inline uint8_t reader_flags(const pthread_rwlock_t *l)
{
	return l->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP
		       ? WATCH_BEHIND_WRITERS
		       : 0;
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	LOCK(WATCH_READ, l, reader_flags(l), real.pthread_rwlock_rdlock(l));
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict l,
				      const struct timespec *restrict until)
{
	LOCK(WATCH_READ, l, reader_flags(l) | WATCH_TIMED,
	     real.pthread_rwlock_timedrdlock(l, until));
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict l, clockid_t clock,
				      const struct timespec *restrict until)
{
	LOCK(WATCH_READ, l, reader_flags(l) | WATCH_TIMED,
	     real.pthread_rwlock_clockrdlock(l, clock, until));
}

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	TRY(WATCH_READ, l, real.pthread_rwlock_tryrdlock(l));
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	LOCK(WATCH_WRITE, l, 0, real.pthread_rwlock_wrlock(l));
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict l,
				      const struct timespec *restrict until)
{
	LOCK(WATCH_WRITE, l, WATCH_TIMED, real.pthread_rwlock_timedwrlock(l, until));
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict l, clockid_t clock,
				      const struct timespec *restrict until)
{
	LOCK(WATCH_WRITE, l, WATCH_TIMED, real.pthread_rwlock_clockwrlock(l, clock, until));
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
	LOCK(WATCH_SPIN, l, 0, real.pthread_spin_lock(l));
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *l)
{
	TRY(WATCH_SPIN, l, real.pthread_spin_trylock(l));
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *l)
{
	UNLOCK((const void *)l, real.pthread_spin_unlock(l));
}
