#!/usr/bin/env bash
# Threads that wait for ever: for a signal (lost, gone to another, undone before it was looked at, a wait that holds a lock) and for
# locks (semaphores as locks, wrappers, the wrong lock released, an owner that has ended).
# level: check
. "$(dirname "$0")/lib.sh"

explained() { # FILE [LEVEL [ARG]]: hunt and explain it
	run 0 unplait cc -g "-O${2:-1}" -pthread "$1" -o prog
	run 1 unplait hunt -q -n 3000 -o prog.plait ./prog
	run 1 unplait explain --runs 100 prog.plait
	tr -s ' \n' ' ' <out >flat
}
says() { # PATTERN: of grep
	if grep -q -- "$1" flat; then ok "it says '$1'"; else not_ok "it says '$1'" "$(cat out)"; fi
}

cat >unlocked.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static volatile int done;
static void *work(void *p)
{
	usleep(1000);
	done = 1;
	pthread_cond_signal(&c);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	pthread_mutex_lock(&m);
	while (!done) {
		usleep(2000);
		pthread_cond_wait(&c, &m);
	}
	pthread_mutex_unlock(&m);
	pthread_join(t, 0);
	return 0;
}
C
explained unlocked.c
has out "kind     lost-wakeup"
says "the signal by thread 0.1 at unlocked.c:10 came after its read of done at unlocked.c:18 and before the wait"
says "hold m, the lock of the wait at unlocked.c:20, where thread 0.1 writes done (unlocked.c:9)"
has out "0 of 100 with it enforced"

cat >onecond.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int full;
static void *put(void *p)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&m);
		while (full)
			pthread_cond_wait(&c, &m);
		full = 1;
		pthread_cond_signal(&c);
		pthread_mutex_unlock(&m);
	}
	return p;
}
static void *get(void *p)
{
	pthread_mutex_lock(&m);
	while (!full)
		pthread_cond_wait(&c, &m);
	full = 0;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t a, b, x;
	pthread_create(&a, 0, get, 0);
	pthread_create(&b, 0, get, 0);
	pthread_create(&x, 0, put, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	pthread_join(x, 0);
	return 0;
}
C
explained onecond.c
has out "kind     lost-wakeup"
says "waits for the same condition variable advice wake all who wait at onecond.c:[12][23]"
has out "0 of 100 with it enforced"

cat >rounds.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int here;
static void meet(void)
{
	pthread_mutex_lock(&m);
	if (++here == 2) {
		here = 0;
		pthread_cond_broadcast(&c);
	} else {
		while (here != 0)
			pthread_cond_wait(&c, &m);
	}
	pthread_mutex_unlock(&m);
}
static void *walk(void *p)
{
	meet();
	meet();
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, walk, 0);
	walk(0);
	pthread_join(t, 0);
	return 0;
}
C
explained rounds.c
says "here, set by thread 0[.1]* at rounds.c:9, was changed by thread 0[.1]* again at rounds.c:8 before thread"
says "a count of rounds"
hasnt flat "an if is not enough"

cat >late.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int started;
static void *work(void *p)
{
	pthread_mutex_lock(&m);
	started = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	pthread_mutex_lock(&m);
	started = 0;
	while (!started)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	pthread_join(t, 0);
	return 0;
}
C
explained late.c 0
has out "kind     order"
says "started, set by thread 0.1 at late.c:8, was overwritten by thread 0 itself at late.c:18"
says "set it before that thread is started"

cat >forks.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t fork_[3];
static void *eat(void *p)
{
	long i = (long)p;
	sem_wait(&fork_[i]);
	sem_wait(&fork_[(i + 1) % 3]);
	sem_post(&fork_[i]);
	sem_post(&fork_[(i + 1) % 3]);
	return 0;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		sem_init(&fork_[i], 0, 1);
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], 0, eat, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
explained forks.c
has out "kind     deadlock"
says "thread 0.1 holds fork_\[0\] (forks.c:7) and waits for fork_\[1\] (forks.c:8)"
says "take these locks in the same order everywhere"
has out "0 of 100 with it enforced"

cat >wrap.c <<'C'
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void take(pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
}
static void grab(pthread_mutex_t *m)
{
	take(m);
}
static void *one(void *p)
{
	grab(&a);
	grab(&b);
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	return p;
}
static void *two(void *p)
{
	grab(&b);
	grab(&a);
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return p;
}
int main(void)
{
	pthread_t x, y;
	pthread_create(&x, 0, one, 0);
	pthread_create(&y, 0, two, 0);
	pthread_join(x, 0);
	pthread_join(y, 0);
	return 0;
}
C
for level in 0 2; do
	explained wrap.c $level
	says "thread 0.1 holds a (wrap.c:13) and waits for b (wrap.c:14); thread 0.2 holds b (wrap.c:21) and waits for a (wrap.c:22)"
done

cat >wrong.c <<'C'
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *one(void *p)
{
	pthread_mutex_lock(&a);
	n++;
	pthread_mutex_unlock(&b);
	return p;
}
int main(void)
{
	pthread_t x, y;
	pthread_create(&x, 0, one, 0);
	pthread_create(&y, 0, one, 0);
	pthread_join(x, 0);
	pthread_join(y, 0);
	return 0;
}
C
run 0 unplait cc -g -O1 -pthread wrong.c -o prog
run 1 unplait hunt -q -n 3000 -o prog.plait ./prog
unplait explain --runs 100 prog.plait >out 2>err # it deadlocks always: no passing schedule, status 4
tr -s ' \n' ' ' <out >flat
says "unlocks b at wrong.c:8, which it does not hold, and keeps a (wrong.c:6)"
says "took at wrong.c:6 and never gave back: it has ended"
says "unlock a instead of b at wrong.c:8"
finish
