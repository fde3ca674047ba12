#!/usr/bin/env bash
# watch: a wait that another process ends is not "stuck", and the program is not killed for it, however long it takes. What
# only this process can end still is.
# level: check
. "$(dirname "$0")/lib.sh"

cat >waits.c <<'X'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static struct shared {
	sem_t sem;
	pthread_mutex_t m;
	pthread_cond_t c;
	pthread_rwlock_t rw;
	pthread_barrier_t b;
	int go, ready;
} *s;
static const char *what;
static int is(const char *name) { return !strcmp(what, name); }
static void *waiter(void *p)
{
	if (is("semaphore") || is("private"))
		sem_wait(&s->sem);
	if (is("barrier"))
		pthread_barrier_wait(&s->b);
	if (is("rwlock"))
		pthread_rwlock_wrlock(&s->rw);
	if (is("condition") || is("mutex"))
		pthread_mutex_lock(&s->m);
	while (is("condition") && !s->go)
		pthread_cond_wait(&s->c, &s->m);
	return p;
}
static void other_process(void)
{
	if (is("mutex"))
		pthread_mutex_lock(&s->m);
	if (is("rwlock"))
		pthread_rwlock_rdlock(&s->rw);
	__atomic_store_n(&s->ready, 1, __ATOMIC_SEQ_CST);
	usleep(1500000); /* longer than --stuck-after */
	if (is("semaphore"))
		sem_post(&s->sem);
	if (is("barrier"))
		pthread_barrier_wait(&s->b);
	if (is("rwlock"))
		pthread_rwlock_unlock(&s->rw);
	if (is("condition"))
		pthread_mutex_lock(&s->m);
	s->go = 1;
	pthread_cond_signal(&s->c);
	if (is("condition") || is("mutex"))
		pthread_mutex_unlock(&s->m);
	_exit(0);
}
int main(int argc, char **argv)
{
	pthread_mutexattr_t ma;
	pthread_condattr_t ca;
	pthread_rwlockattr_t ra;
	pthread_barrierattr_t ba;
	pthread_t t;

	what = argv[1];
	s = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sem_init(&s->sem, !is("private"), 0);
	pthread_mutexattr_init(&ma);
	pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->m, &ma);
	pthread_condattr_init(&ca);
	pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&s->c, &ca);
	pthread_rwlockattr_init(&ra);
	pthread_rwlockattr_setpshared(&ra, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&s->rw, &ra);
	pthread_barrierattr_init(&ba);
	pthread_barrierattr_setpshared(&ba, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&s->b, &ba, 2);
	if (fork() == 0)
		other_process();
	while (!__atomic_load_n(&s->ready, __ATOMIC_SEQ_CST))
		usleep(1000);
	pthread_create(&t, NULL, waiter, NULL);
	pthread_join(t, NULL);
	wait(NULL);
	puts("ended by itself");
	return 0;
}
X
cc -w -g -o waits waits.c -lpthread || not_ok build
for kind in semaphore condition mutex rwlock barrier; do
	run 0 timeout 100 "$UNPLAIT" watch --stuck-after 0.3 -- ./waits $kind
	has out "ended by itself" "$kind: not killed"
	hasnt out "stuck" "$kind: not stuck"
done
run 1 timeout 100 "$UNPLAIT" watch --stuck-after 0.3 -- ./waits private
has out "stuck: every thread waits" "a semaphore of this process alone"
finish
