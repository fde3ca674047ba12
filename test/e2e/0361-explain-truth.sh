#!/usr/bin/env bash
# Causes that a reviewer would sign: each program says what is wrong with it; explain must say the same.
# level: check
. "$(dirname "$0")/lib.sh"

build() { run 0 unplait cc -g -O1 -pthread "$1.c" -o "$1"; }
explained() { # program: hunt and explain it
	run 1 unplait hunt -q -n 3000 -o "$1.plait" "./$1"
	run 1 unplait explain --runs 200 "$1.plait"
	tr -s ' \n' ' ' <out >flat
}

# A barrier that nobody waits at: not so many atomic blocks, but one sentence.
cat >phases.c <<'C'
#include <assert.h>
#include <pthread.h>
#define N 3
static int a[N * 2], b[N * 2];
static void *work(void *arg)
{
	int me = (int)(long)arg, next = (me + 1) % N;
	for (int i = 0; i < 2; i++)
		a[me * 2 + i] = me + 1;
	for (int i = 0; i < 2; i++)
		b[me * 2 + i] = a[next * 2 + i];
	return 0;
}
int main(void)
{
	pthread_t t[N];
	for (long i = 0; i < N; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], 0);
	for (int i = 0; i < N * 2; i++)
		assert(b[i] != 0);
	return 0;
}
C
build phases
explained phases
has out "kind     order"
has flat "every thread must be done with phases.c:9"
has out "0 of 200 with it enforced"

# A flag that nobody waits for. The failing run ends before the other thread has done anything; and whoever waits inside the
# critical section keeps the other one out, so that the order has to be kept before the lock is taken.
cat >flag.c <<'C'
#include <assert.h>
#include <pthread.h>
static int config, ready;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *init(void *p)
{
	pthread_mutex_lock(&m);
	config = 42;
	ready = 1;
	pthread_mutex_unlock(&m);
	return p;
}
static void *use(void *p)
{
	pthread_mutex_lock(&m);
	int c = config;
	pthread_mutex_unlock(&m);
	assert(c == 42);
	return p;
}
int main(void)
{
	pthread_t x, y;
	pthread_create(&x, 0, init, 0);
	pthread_create(&y, 0, use, 0);
	pthread_join(x, 0);
	pthread_join(y, 0);
	return 0;
}
C
build flag
explained flag
has flat "reads config at flag.c:16 before thread 0.1 writes config at flag.c:8"
has flat "the write to config at flag.c:8 must come before"
has out "not reached"

# Two locks for one variable: a block, not an order between the threads.
cat >locks.c <<'C'
#include <assert.h>
#include <pthread.h>
static volatile int value;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static void *check(void *p)
{
	pthread_mutex_lock(&one);
	int x = value;
	value++;
	assert(value == x + 1);
	pthread_mutex_unlock(&one);
	return p;
}
static void *count(void *p)
{
	pthread_mutex_lock(&two);
	value++;
	pthread_mutex_unlock(&two);
	return p;
}
int main(void)
{
	pthread_t t[3];
	pthread_create(&t[0], 0, check, 0);
	for (int i = 1; i < 3; i++)
		pthread_create(&t[i], 0, count, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
build locks
explained locks
has out "kind     atomicity"
has flat "thread 0.1's read of value at locks.c:8 and its read of value at locks.c:10"

# An object is deleted while others use it. That the flag is set before it is looked at cures it, too: then nothing is used at all.
cp "$top/test/programs/deleted.c" .
build deleted
explained deleted
grep -qE "thread 0 (frees .* at deleted.c:25|freed it at deleted.c:25)" flat && ok "deleted: who frees it" || not_ok "deleted: who frees it" "$(cat flat)"
grep -qE "must wait until the other threads are done|keep it until thread 0.1 is done" flat && ok "deleted: the advice is about its life" ||
	not_ok "deleted: the advice is about its life" "$(cat flat)"
hasnt flat "closed at deleted.c:24 must come before"

# A lock of one's own: the cause is told in the function that calls it, by the variable it guards.
cat >spin.h <<'C'
struct spin {
	int v;
};
static void spin_lock(struct spin *s)
{
	while (__atomic_exchange_n(&s->v, 1, __ATOMIC_ACQUIRE))
		;
}
static void spin_unlock(struct spin *s)
{
	__atomic_store_n(&s->v, 0, __ATOMIC_RELEASE);
}
C
cat >library.c <<'C'
#include <assert.h>
#include <pthread.h>
#include "spin.h"
static struct spin lock;
static int balance = 10;
static int get(void)
{
	spin_lock(&lock);
	int b = balance;
	spin_unlock(&lock);
	return b;
}
static void put(int b)
{
	spin_lock(&lock);
	balance = b;
	spin_unlock(&lock);
}
static void *add(void *p)
{
	int b = get();
	put(b + 5);
	return p;
}
int main(void)
{
	pthread_t x, y;
	pthread_create(&x, 0, add, 0);
	pthread_create(&y, 0, add, 0);
	pthread_join(x, 0);
	pthread_join(y, 0);
	assert(balance == 20);
	return 0;
}
C
run 0 unplait cc -g -O0 -pthread library.c -o library
explained library
has flat "make library.c:21 to library.c:22 in add() atomic"
has flat "the read of balance"
hasnt flat "spin.h:.* which belong together"

# Two sections of a function that is called twice: one place in the program, two in the caller.
cat >transfer.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int lo, hi;
static void set(int *p, int v)
{
	pthread_mutex_lock(&m);
	*p = v;
	pthread_mutex_unlock(&m);
}
static void *writer(void *p)
{
	set(&lo, 1);
	set(&hi, 1);
	return p;
}
static void *reader(void *p)
{
	pthread_mutex_lock(&m);
	int a = lo, b = hi;
	pthread_mutex_unlock(&m);
	assert(a == b);
	return p;
}
int main(void)
{
	pthread_t x, y;
	pthread_create(&x, 0, writer, 0);
	pthread_create(&y, 0, reader, 0);
	pthread_join(x, 0);
	pthread_join(y, 0);
	return 0;
}
C
run 0 unplait cc -g -O0 -pthread transfer.c -o transfer
explained transfer
has flat "between two critical sections of thread 0.1"
hasnt out "kind     order"

# A buffer is given back while others copy into it: who copies in a loop does not spin.
cat >log.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static char *buf;
static int len;
static void *worker(void *p)
{
	for (int i = 0; i < 4; i++) {
		memcpy(buf + len, "ab", 2);
		len += 2;
	}
	return p;
}
int main(void)
{
	pthread_t t;
	buf = malloc(64);
	pthread_create(&t, 0, worker, 0);
	free(buf);
	buf = 0;
	pthread_join(t, 0);
	return 0;
}
C
run 0 unplait cc -g -O0 -pthread log.c -o log
explained log
has flat "thread 0 freed it at log.c:19"
has flat "keep it until thread 0.1 is done with it"

# Published before it is filled in.
cat >publish.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static int data[2];
static atomic_int ready;
static void *producer(void *p)
{
	atomic_store(&ready, 1);
	data[0] = 7;
	data[1] = 9;
	return p;
}
static void *consumer(void *p)
{
	if (atomic_load(&ready))
		assert(data[0] == 7 && data[1] == 9);
	return p;
}
int main(void)
{
	pthread_t x, y;
	pthread_create(&x, 0, producer, 0);
	pthread_create(&y, 0, consumer, 0);
	pthread_join(x, 0);
	pthread_join(y, 0);
	return 0;
}
C
build publish
explained publish
has flat "write to ready at publish.c:8 and its write to data[] at publish.c:10"
has flat "or let the write to ready come last"

# A signal before a wait that looks at nothing.
cat >blind.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static void *tell(void *p)
{
	pthread_mutex_lock(&m);
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, tell, 0);
	pthread_mutex_lock(&m);
	pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	pthread_join(t, 0);
	return 0;
}
C
build blind
explained blind
has out "kind     lost-wakeup"
has flat "the signal by thread 0.1 at blind.c:7 came before"

# The same plait has the same answer, however busy the machine is.
unplait explain --runs 100 locks.plait >first
for _ in 1 2 3 4 5 6; do (timeout 20 sh -c 'while :; do :; done' &) ; done
unplait explain --runs 100 locks.plait >second
run 0 diff first second
finish
