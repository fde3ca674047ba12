/* sched/sync.c - see sync.h. */
#include "sched/sync.h"

#include <errno.h>
#include <limits.h>

/* ---- mutexes ---- */

static bool is_type(const struct sync_mutex *m, int type)
{
	return (m->kind & SYNC_MUTEX_TYPE) == type;
}

/* 0xdd is what the runtime fills freed memory with. */
bool sync_mutex_is_dead(const struct sync_mutex *m)
{
	return m->kind == SYNC_MUTEX_DESTROYED || (uint32_t)m->kind == 0xddddddddu;
}

bool sync_mutex_ready(const struct sync_mutex *m, uint32_t self)
{
	if (!m->lock || m->owner == SYNC_OWNER_LOST)
		return true;
	/* relocking one's own: counted or refused at once; a normal mutex blocks for ever */
	return m->owner == (int32_t)self &&
	       (is_type(m, SYNC_MUTEX_RECURSIVE) || is_type(m, SYNC_MUTEX_ERRORCHECK));
}

static int take(struct sync_mutex *m, uint32_t self)
{
	bool died = m->owner == SYNC_OWNER_DIED;

	m->lock = 1;
	m->owner = (int32_t)self;
	m->count = 1;
	if (!died)
		return 0;
	m->users = UINT_MAX; /* inconsistent until pthread_mutex_consistent */
	return EOWNERDEAD;
}

int sync_mutex_trylock(struct sync_mutex *m, uint32_t self)
{
	if (m->owner == SYNC_OWNER_LOST)
		return ENOTRECOVERABLE;
	if (!m->lock)
		return take(m, self);
	if (m->owner != (int32_t)self || !is_type(m, SYNC_MUTEX_RECURSIVE))
		return EBUSY;
	if (m->count == UINT_MAX)
		return EAGAIN;
	m->count++;
	return 0;
}

int sync_mutex_lock(struct sync_mutex *m, uint32_t self)
{
	int r = sync_mutex_trylock(m, self);

	return r == EBUSY ? EDEADLK : r;
}

int sync_mutex_unlock(struct sync_mutex *m, uint32_t self)
{
	bool checks = is_type(m, SYNC_MUTEX_RECURSIVE) || is_type(m, SYNC_MUTEX_ERRORCHECK) ||
		      (m->kind & SYNC_MUTEX_ROBUST);

	if (checks && (!m->lock || m->owner != (int32_t)self))
		return EPERM;
	if (is_type(m, SYNC_MUTEX_RECURSIVE) && m->count > 1) {
		m->count--;
		return 0;
	}
	if ((m->kind & SYNC_MUTEX_ROBUST) && m->users == UINT_MAX) {
		m->owner = SYNC_OWNER_LOST;
		return 0;
	}
	m->lock = 0;
	m->owner = 0;
	m->count = 0;
	return 0;
}

int sync_mutex_consistent(struct sync_mutex *m, uint32_t self)
{
	if (!(m->kind & SYNC_MUTEX_ROBUST) || m->owner != (int32_t)self || m->users != UINT_MAX)
		return EINVAL;
	m->users = 0;
	return 0;
}

int sync_mutex_destroy(struct sync_mutex *m)
{
	if (m->lock && m->owner != SYNC_OWNER_LOST)
		return EBUSY;
	m->kind = SYNC_MUTEX_DESTROYED;
	return 0;
}

void sync_mutex_owner_died(struct sync_mutex *m)
{
	if (!(m->kind & SYNC_MUTEX_ROBUST) || m->kind == SYNC_MUTEX_DESTROYED)
		return;
	m->lock = 0;
	m->count = 0;
	m->users = 0;
	m->owner = SYNC_OWNER_DIED;
}

uint32_t sync_mutex_release_all(struct sync_mutex *m)
{
	uint32_t count = m->count;

	m->lock = 0;
	m->owner = 0;
	m->count = 0;
	return count ? count : 1;
}

void sync_mutex_restore(struct sync_mutex *m, uint32_t self, uint32_t count)
{
	m->lock = 1;
	m->owner = (int32_t)self;
	m->count = count;
}

/* ---- reader-writer locks ---- */

enum { WRITERS_FIRST = 2 }; /* PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP */

bool sync_rwlock_read_ready(const struct sync_rwlock *l, bool writer_waits)
{
	return !l->writers && !(l->flags == WRITERS_FIRST && writer_waits);
}

bool sync_rwlock_write_ready(const struct sync_rwlock *l)
{
	return !l->writers && !l->readers;
}

int sync_rwlock_tryrdlock(struct sync_rwlock *l)
{
	if (l->writers)
		return EBUSY;
	if (l->readers == UINT_MAX)
		return EAGAIN;
	l->readers++;
	return 0;
}

int sync_rwlock_trywrlock(struct sync_rwlock *l, uint32_t self)
{
	if (!sync_rwlock_write_ready(l))
		return EBUSY;
	l->writers = 1;
	l->writer = (int32_t)self;
	return 0;
}

static bool is_own(const struct sync_rwlock *l, uint32_t self)
{
	return l->writers && l->writer == (int32_t)self;
}

int sync_rwlock_rdlock(struct sync_rwlock *l, uint32_t self)
{
	return is_own(l, self) ? EDEADLK : sync_rwlock_tryrdlock(l);
}

int sync_rwlock_wrlock(struct sync_rwlock *l, uint32_t self)
{
	return is_own(l, self) ? EDEADLK : sync_rwlock_trywrlock(l, self);
}

int sync_rwlock_unlock(struct sync_rwlock *l, uint32_t self)
{
	if (l->writers) {
		if (l->writer != (int32_t)self)
			return EPERM;
		l->writers = 0;
		l->writer = 0;
		return 0;
	}
	if (!l->readers)
		return EPERM;
	l->readers--;
	return 0;
}

/* ---- spinlocks ---- */

bool sync_spin_ready(const int *lock)
{
	return *lock == 1;
}

int sync_spin_trylock(int *lock)
{
	if (*lock != 1)
		return EBUSY;
	*lock = 0;
	return 0;
}

void sync_spin_unlock(int *lock)
{
	*lock = 1;
}

/* ---- semaphores ---- */

bool sync_sem_ready(const struct sync_sem *s)
{
	return s->value > 0;
}

int sync_sem_trywait(struct sync_sem *s)
{
	if (!s->value)
		return EAGAIN;
	s->value--;
	return 0;
}

int sync_sem_post(struct sync_sem *s)
{
	if (s->value >= INT_MAX)
		return EOVERFLOW;
	s->value++;
	return 0;
}

/* ---- barriers ---- */

bool sync_barrier_arrive(struct sync_barrier *b, uint32_t *round)
{
	*round = b->round;
	if (++b->in < b->count)
		return false;
	b->in = 0;
	b->round++;
	return true;
}

bool sync_barrier_passed(const struct sync_barrier *b, uint32_t round)
{
	return b->round != round;
}

/* ---- once ---- */

enum { ONCE_RUNNING = 1, ONCE_DONE = 2 };

bool sync_once_ready(const int *once)
{
	return (*once & 3) != ONCE_RUNNING;
}

bool sync_once_is_done(const int *once)
{
	return *once & ONCE_DONE;
}

bool sync_once_begin(int *once)
{
	if (sync_once_is_done(once))
		return false;
	*once |= ONCE_RUNNING;
	return true;
}

void sync_once_done(int *once)
{
	*once = ONCE_DONE;
}

void sync_once_reset(int *once)
{
	*once = 0;
}
