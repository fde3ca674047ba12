#!/usr/bin/env bash
# Signals from thread to thread, masks per thread, robust mutexes, spurious wake-ups.
# level: quick
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }

# The handler may come between the two writes of the thread that it interrupts.
cat >torn.c <<'X'
#include <pthread.h>
#include <signal.h>
#include <assert.h>
#include <stdlib.h>
static pthread_t worker;
static volatile int a, b, on = 1;
static void handler(int n)
{
	(void)n;
	assert(pthread_equal(pthread_self(), worker));
	if (a != b)
		abort();
}
static void *work(void *arg)
{
	worker = pthread_self();
	for (int i = 0; i < 3; i++) {
		a++;
		b++;
	}
	on = 0;
	return arg;
}
int main(void)
{
	pthread_t t;
	struct sigaction s = { .sa_handler = handler };
	sigaction(SIGUSR1, &s, 0);
	pthread_create(&t, 0, work, 0);
	worker = t;
	if (on)
		pthread_kill(t, SIGUSR1);
	pthread_join(t, 0);
	return 0;
}
X
# Nothing of this may fail: masks, sigwait, raise, a handler while waiting for a lock.
cat >calm.c <<'X'
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t s;
static int waited;
static __thread volatile int mine;
static void count(int n) { mine += n == SIGUSR1; }
static void post(int n) { (void)n; sem_post(&s); }
static void *waiter(void *arg)
{
	sigset_t set;
	int n;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	if (sigwait(&set, &n) || n != SIGUSR2)
		abort();
	waited = 1;
	return arg;
}
static void *blocked(void *arg)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return (void *)(long)mine;
}
int main(void)
{
	pthread_t w, k;
	sigset_t set;
	void *r;
	sem_init(&s, 0, 0);
	signal(SIGUSR1, count);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, 0);
	pthread_create(&w, 0, waiter, 0);
	pthread_kill(w, SIGUSR2);
	pthread_join(w, 0);
	if (!waited)
		abort();
	pthread_mutex_lock(&m);
	pthread_create(&k, 0, blocked, 0);
	pthread_kill(k, SIGUSR1);
	pthread_mutex_unlock(&m);
	pthread_join(k, &r);
	if ((long)r != 1 || mine != 0) /* its own thread has run the handler, whatever it waited for */
		abort();
	raise(SIGUSR1);
	if (mine != 1)
		abort();
	signal(SIGHUP, post);
	raise(SIGHUP);
	sem_wait(&s);
	return 0;
}
X
cat >robust.c <<'X'
#include <pthread.h>
#include <errno.h>
#include <stdlib.h>
static pthread_mutex_t m;
static void *dies(void *arg) { pthread_mutex_lock(&m); return arg; }
int main(int argc, char **argv)
{
	pthread_t t;
	pthread_mutexattr_t a;
	(void)argv;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, argc > 1 ? PTHREAD_MUTEX_STALLED : PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &a);
	pthread_create(&t, 0, dies, 0);
	pthread_join(t, 0);
	if (pthread_mutex_lock(&m) != EOWNERDEAD || pthread_mutex_consistent(&m) || pthread_mutex_unlock(&m))
		abort();
	return pthread_mutex_lock(&m);
}
X
# A wait without a loop, right but for wake-ups that nobody caused.
cat >loopless.c <<'X'
#include <pthread.h>
#include <assert.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static void *w(void *arg)
{
	pthread_mutex_lock(&m);
	if (!ready)
		pthread_cond_wait(&c, &m);
	assert(ready);
	pthread_mutex_unlock(&m);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, w, 0);
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	pthread_join(t, 0);
	return 0;
}
X
for f in torn calm robust loopless; do run 0 unplait cc -w -g -O1 $f.c -o $f; done
for gate in futex fiber; do
	run 1 unplait hunt --gate $gate --timeout 5 -n 500 -o torn.plait ./torn
	has out "replayed 5 of 5" "the handler's place repeats"
	hasnt out "not under control" "and it is under control"
	run 1 unplait replay --gate $gate --times 20 torn.plait
	run 0 unplait hunt --gate $gate --timeout 5 -n 100 ./calm
	run 0 unplait hunt --gate $gate --timeout 5 --fail-on exit -n 20 ./robust
	run 1 unplait hunt --gate $gate --timeout 5 -n 20 ./robust stalled
	has out "waits to lock a mutex" "without robustness it stays locked"
	run 0 unplait hunt --gate $gate --timeout 5 -n 200 ./loopless
	run 1 unplait hunt --gate $gate --timeout 5 -n 200 --spurious -o loopless.plait ./loopless
	run 1 unplait replay --gate $gate --times 20 loopless.plait
	has out "replayed 20 of 20" "spurious wake-ups repeat"
done
run 0 unplait hunt -s dfs --timeout 5 -n 20000 ./loopless
has out "every schedule was explored" "none fails without them"
run 1 unplait hunt -s dfs --timeout 5 -n 20000 --spurious ./loopless
finish
