#!/usr/bin/env bash
# Making a lock or a semaphore is a step that others can notice: one that is made after its first user was started loses
# a post, or lets two threads in. (It was no scheduling point: "every schedule was explored", and nothing found.)
# level: check
. "$(dirname "$0")/lib.sh"
cat >init.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
static sem_t started;
static pthread_mutex_t m;
static pthread_spinlock_t spin;
static pthread_rwlock_t rw;
static int inside;
static void enter(void) { assert(inside++ == 0); inside--; }
#if SEM
#define INIT sem_init(&started, 0, 0)
#define USE sem_post(&started)
#define WAIT sem_wait(&started)
#elif MUTEX
#define INIT pthread_mutex_init(&m, 0)
#define USE (pthread_mutex_lock(&m), enter(), pthread_mutex_unlock(&m))
#define WAIT USE
#elif SPIN
#define INIT pthread_spin_init(&spin, 0)
#define USE (pthread_spin_lock(&spin), enter(), pthread_spin_unlock(&spin))
#define WAIT USE
#else
#define INIT pthread_rwlock_init(&rw, 0)
#define USE (pthread_rwlock_wrlock(&rw), enter(), pthread_rwlock_unlock(&rw))
#define WAIT USE
#endif
static void *user(void *arg) { USE; return arg; }
int main(void)
{
	pthread_t t;
	pthread_spin_init(&spin, 0);
	if (!LATE)
		INIT;
	pthread_create(&t, 0, user, 0);
	if (LATE)
		INIT;
	WAIT;
	pthread_join(t, 0);
	return 0;
}
C
for kind in SEM MUTEX SPIN RWLOCK; do
	run 0 unplait cc -w -g -O1 -pthread -D$kind=1 -DLATE=1 -o late init.c
	run 0 unplait cc -w -g -O1 -pthread -D$kind=1 -DLATE=0 -o early init.c
	for s in auto dfs states; do
		run 1 timeout 60 "$UNPLAIT" hunt -s $s -n 2000 -o f.plait ./late
		has out "replayed 5 of 5" "$kind, $s: found"
		run 0 timeout 60 "$UNPLAIT" hunt -s $s -n 2000 -o "" ./early
		has out "every schedule was explored" "$kind, $s: the cured twin is silent"
	done
done
finish
