/* sched/sync.h - synchronisation objects as state machines.
 *
 * An operation never blocks here. `*_ready` says whether it could be done now (the caller schedules
 * only threads whose pending operation is ready, which is what makes deadlock exact), and
 * the operation itself changes the state and returns what the POSIX function would.
 *
 * The structs have the layout of glibc's objects on x86-64, so a statically initialised
 * pthread_mutex_t *is* a valid machine, and state lives and dies with the program's own memory:
 * there is no table to go stale when memory is freed and used again. Threads are named by a number
 * that is never 0 (index + 1). Condition variables have no state of their own: who waits is known
 * to the scheduler, which picks the waiter to wake. */
#ifndef SCHED_SYNC_H
#define SCHED_SYNC_H

#include <stdbool.h>
#include <stdint.h>

/* ---- mutexes ---- */
enum {
	SYNC_MUTEX_NORMAL,
	SYNC_MUTEX_RECURSIVE,
	SYNC_MUTEX_ERRORCHECK,
	SYNC_MUTEX_ADAPTIVE,
	SYNC_MUTEX_TYPE = 3, /* mask */
	SYNC_MUTEX_ROBUST = 16,
	SYNC_MUTEX_SHARED = 128,
	SYNC_MUTEX_DESTROYED = -1,
};

struct sync_mutex {
	int32_t lock;	/* 0 free; 1 held */
	uint32_t count; /* recursion depth */
	int32_t owner;	/* thread; SYNC_OWNER_* for robust mutexes without one */
	uint32_t users;
	int32_t kind;
	uint32_t spins;
	void *links[2];
};
#define SYNC_OWNER_DIED 0x7fffffff /* next locker gets EOWNERDEAD */
#define SYNC_OWNER_LOST 0x7ffffffe /* unlocked without pthread_mutex_consistent */

bool sync_mutex_is_dead(const struct sync_mutex *m); /* destroyed, or its memory was freed */
bool sync_mutex_ready(const struct sync_mutex *m, uint32_t self);
int sync_mutex_lock(struct sync_mutex *m, uint32_t self); /* needs ready */
int sync_mutex_trylock(struct sync_mutex *m, uint32_t self);
int sync_mutex_unlock(struct sync_mutex *m, uint32_t self);
int sync_mutex_consistent(struct sync_mutex *m, uint32_t self);
int sync_mutex_destroy(struct sync_mutex *m);
/* The owner ended while holding it: robust mutexes pass on, others stay locked for ever. */
void sync_mutex_owner_died(struct sync_mutex *m);
/* Release and take back around a wait, whatever the recursion depth. */
uint32_t sync_mutex_release_all(struct sync_mutex *m);
void sync_mutex_restore(struct sync_mutex *m, uint32_t self, uint32_t count);

/* ---- reader-writer locks ---- */
struct sync_rwlock {
	uint32_t readers, writers; /* writers: 1 while write-locked */
	uint32_t phase, futex, pad[2];
	int32_t writer; /* thread, 0 none */
	int32_t shared;
	uint8_t elision, pad1[7];
	uint64_t pad2;
	uint32_t flags; /* 2: writers go first */
};
bool sync_rwlock_read_ready(const struct sync_rwlock *l, bool writer_waits);
bool sync_rwlock_write_ready(const struct sync_rwlock *l);
int sync_rwlock_tryrdlock(struct sync_rwlock *l); /* 0, EBUSY or EAGAIN */
int sync_rwlock_trywrlock(struct sync_rwlock *l, uint32_t self);
/* The same, but EDEADLK for a lock that `self` has write-locked. */
int sync_rwlock_rdlock(struct sync_rwlock *l, uint32_t self);
int sync_rwlock_wrlock(struct sync_rwlock *l, uint32_t self);
int sync_rwlock_unlock(struct sync_rwlock *l, uint32_t self);

/* ---- spinlocks: an int, 1 free and 0 or less held, as glibc has it ---- */
bool sync_spin_ready(const int *lock);
int sync_spin_trylock(int *lock);
void sync_spin_unlock(int *lock);

/* ---- semaphores ---- */
struct sync_sem {
	uint32_t value, waiters;
};
bool sync_sem_ready(const struct sync_sem *s);
int sync_sem_trywait(struct sync_sem *s); /* 0 or EAGAIN */
int sync_sem_post(struct sync_sem *s);	  /* 0 or EOVERFLOW */

/* ---- barriers ---- */
struct sync_barrier {
	uint32_t in, round, count;
	int32_t shared;
	uint32_t out;
};
/* Arrive. True: the round is complete and this is the serial thread. Otherwise wait until
 * sync_barrier_passed(b, *round). */
bool sync_barrier_arrive(struct sync_barrier *b, uint32_t *round);
bool sync_barrier_passed(const struct sync_barrier *b, uint32_t round);

/* ---- once: 0 fresh, 1 running, 2 done, as glibc has it (upper bits: fork generation) ---- */
bool sync_once_ready(const int *once); /* nobody is inside the routine */
bool sync_once_is_done(const int *once);
/* True: run the routine, then sync_once_done (or sync_once_reset when it was left by an exception
 * or cancellation). */
bool sync_once_begin(int *once);
void sync_once_done(int *once);
void sync_once_reset(int *once);

#endif
