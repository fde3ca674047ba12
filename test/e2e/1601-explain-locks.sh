#!/usr/bin/env bash
# What the locks say: a thread that waits for another's end with a lock in its hands, two locks where one
# was meant, a destroyed lock by its name, and a lock of a library by the line that called it.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "explain" "libplait.a is not built"; finish; }

explained() { # name, further files
	run 0 unplait cc -g -pthread "$@" -o prog
	run 1 unplait hunt -q -n 3000 -o prog.plait ./prog
	run 1 unplait explain --runs 200 prog.plait
	tr '\n' ' ' <out | tr -s ' ' >flat
}

# one way out keeps the lock, and then the thread that needs it is joined
cat >early.c <<'C'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int on, sum;
static void add(int n)
{
	pthread_mutex_lock(&lock);
	if (!on)
		return;
	sum += n;
	pthread_mutex_unlock(&lock);
}
static void *starter(void *arg)
{
	pthread_mutex_lock(&lock);
	on = 1;
	pthread_mutex_unlock(&lock);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, starter, 0);
	add(3);
	pthread_join(t, 0);
	return sum > 3;
}
C
explained early.c
has flat "waits for the end of a thread at early.c:24 while it holds lock (early.c:6)"
has flat "thread 0.1 needs lock at early.c:14 before it can go on"
has flat "on every way out of what begins at early.c:6"

# two threads make the lock at the same time: each has its own
cat >lazy.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t *lock;
static int n;
static void take(void)
{
	if (!lock) {
		pthread_mutex_t *m = malloc(sizeof(*m));
		pthread_mutex_init(m, 0);
		lock = m;
	}
	pthread_mutex_lock(lock);
}
static void *up(void *arg)
{
	pthread_mutex_t *mine;
	take();
	mine = lock;
	int old = n;
	n = old + 1;
	pthread_mutex_unlock(mine);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, up, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	assert(n == 2);
}
C
run 0 unplait cc -g -pthread lazy.c -o prog
run 1 unplait hunt -q -n 3000 -o prog.plait ./prog
run 1 unplait explain --runs 200 prog.plait
tr '\n' ' ' <out | tr -s ' ' >flat
if grep -q "lazy.c:20 and its write to n\|of n at lazy.c:20" flat; then
	has flat "Each holds a lock that was taken at lazy.c:13, but they are not the same lock"
else
	has flat "lazy.c:8"
	has flat "lazy.c:11"
fi

# the worker still needs the lock that is destroyed
cat >gone.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct pool {
	pthread_mutex_t lock;
	int jobs;
};
static void *work(void *arg)
{
	struct pool *p = arg;
	pthread_mutex_lock(&p->lock);
	p->jobs++;
	pthread_mutex_unlock(&p->lock);
	return 0;
}
int main(void)
{
	struct pool *p = calloc(1, sizeof(*p));
	pthread_t t;
	pthread_mutex_init(&p->lock, 0);
	pthread_create(&t, 0, work, p);
	pthread_mutex_destroy(&p->lock);
	pthread_join(t, 0);
	free(p);
}
C
explained gone.c
grep -qE "the lock p->lock at gone.c:1[02] after thread 0 destroyed it at gone.c:21" flat &&
	ok "gone: the lock has its name" || not_ok "gone: the lock has its name" "$(cat flat)"

# locks and conditions behind the functions of another file: their names are the library's business
cat >sync.c <<'C'
#include <pthread.h>
#include <stdlib.h>
void *lock_new(void)
{
	pthread_mutex_t *m = malloc(sizeof(*m));
	pthread_mutex_init(m, 0);
	return m;
}
void *cond_new(void)
{
	pthread_cond_t *c = malloc(sizeof(*c));
	pthread_cond_init(c, 0);
	return c;
}
int lock_take(void *l) { return pthread_mutex_lock(l); }
int lock_give(void *l) { return pthread_mutex_unlock(l); }
int cond_wait(void *c, void *l) { return pthread_cond_wait(c, l); }
int cond_wake(void *c) { return pthread_cond_signal(c); }
C
cat >outer.c <<'C'
#include <pthread.h>
void *lock_new(void), *cond_new(void);
int lock_take(void *), lock_give(void *), cond_wait(void *, void *), cond_wake(void *);
static void *outer, *inner, *idle;
static int busy = 1;
static void *runner(void *arg)
{
	lock_take(outer);
	lock_give(outer);
	lock_take(inner);
	busy = 0;
	cond_wake(idle);
	lock_give(inner);
	return arg;
}
int main(void)
{
	pthread_t t;
	outer = lock_new();
	inner = lock_new();
	idle = cond_new();
	pthread_create(&t, 0, runner, 0);
	lock_take(outer);
	lock_take(inner);
	while (busy)
		cond_wait(idle, inner);
	lock_give(inner);
	lock_give(outer);
	pthread_join(t, 0);
}
C
explained outer.c sync.c
has flat "(called at outer.c:26) while it holds"
has flat "(called at outer.c:23)"
has flat "(called at outer.c:8) before it can go on"
hasnt flat "malloc@"

# the thread leaves without waking who waits for it: that one of them was first at the lock is no cause
cat >leave.c <<'C'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int quit, busy;
static void *runner(void *arg)
{
	pthread_mutex_lock(&lock);
	busy = 1;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	if (quit) {
		pthread_mutex_unlock(&lock);
		return arg;
	}
	busy = 0;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&lock);
	return arg;
}
static void *killer(void *arg)
{
	pthread_mutex_lock(&lock);
	quit = 1;
	pthread_mutex_unlock(&lock);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], 0, runner, 0);
	pthread_create(&t[1], 0, killer, 0);
	pthread_mutex_lock(&lock);
	while (busy)
		pthread_cond_wait(&cond, &lock);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
}
C
explained leave.c
hasnt flat "cause thread 0.1 locks lock at leave.c:7 before"
hasnt flat "the locking of lock at leave.c:32 must come before"

# who frees it happens to hold a lock that has nothing to do with it
cat >meanwhile.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int *queued;
static void *worker(void *arg)
{
	int *block = arg;
	pthread_mutex_lock(&m);
	queued = block;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	*block = 2;
	return 0;
}
int main(void)
{
	int *block = malloc(sizeof(*block));
	pthread_t t;
	pthread_create(&t, 0, worker, block);
	pthread_mutex_lock(&m);
	while (!queued)
		pthread_cond_wait(&c, &m);
	free(queued);
	pthread_mutex_unlock(&m);
	pthread_join(t, 0);
}
C
explained meanwhile.c
has flat "at meanwhile.c:13 after thread 0 freed it at meanwhile.c:24"
hasnt flat "holds m there"
finish
