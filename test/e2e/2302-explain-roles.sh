#!/usr/bin/env bash
# What an order needs before it is told as the cause: two roles, a step that should have come first (though the failing
# run did not live to see it), a constructor without a lock. And waits for ever: each for the other, a lock that one
# way out keeps; no signal is called lost where none came.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "explain" "libplait.a is not built"; finish; }
explained() { # NAME CC LEVEL [RUNS]
	run 0 unplait "$2" -g "$3" -pthread "$1".c* -o "$1"
	rm -f "$1.plait"
	run 1 unplait hunt -q --seed 1 -n 1000 -o "$1.plait" "./$1"
	unplait explain -q --runs "${4:-150}" "$1.plait" >out 2>err
	tr -s ' \n' ' ' <out >flat
}

# Two counts go down one after the other. Which thread is the last at the first count decides the race itself: nobody
# can be told to wait for the other.
cat >counts.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static _Atomic int users = 2, watchers = 2;
static int value = 7, freed;
static void release(void)
{
	if (atomic_fetch_sub(&users, 1) > 1) {
		atomic_fetch_sub(&watchers, 1);
	} else {
		value = 0;
		if (atomic_fetch_sub(&watchers, 1) == 1)
			freed = 1;
	}
}
static void *user(void *p)
{
	release();
	return p;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, user, 0);
	pthread_create(&b, 0, user, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(value == 0 && freed);
	return 0;
}
C
# The result is set after it was announced; when main fails, it is not set yet.
cat >late.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int announced, settled;
static void *promise(void *p)
{
	pthread_mutex_lock(&lock);
	announced = 1;
	pthread_cond_signal(&ready);
	pthread_mutex_unlock(&lock);
	settled = 1;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, promise, 0);
	pthread_mutex_lock(&lock);
	while (!announced)
		pthread_cond_wait(&ready, &lock);
	pthread_mutex_unlock(&lock);
	assert(settled);
	pthread_join(t, 0);
	return 0;
}
C
# The opposite: the read comes before the write, too, but what tells why is that the slot was announced before.
cat >slot.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static _Atomic int head;
static int ring[4];
static void *writer(void *p)
{
	atomic_fetch_add(&head, 1);
	ring[0] = 7;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, writer, 0);
	if (atomic_load(&head))
		assert(ring[0] == 7);
	pthread_join(t, 0);
	return 0;
}
C
# A lock made of a flag, a mutex and a condition; two of them in opposite orders.
cat >busy.c <<'C'
#include <pthread.h>
struct busy { pthread_mutex_t mutex; pthread_cond_t changed; int taken; };
static struct busy from = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
static struct busy into = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
static void take(struct busy *b)
{
	pthread_mutex_lock(&b->mutex);
	while (b->taken)
		pthread_cond_wait(&b->changed, &b->mutex);
	b->taken = 1;
	pthread_mutex_unlock(&b->mutex);
}
static void give(struct busy *b)
{
	pthread_mutex_lock(&b->mutex);
	b->taken = 0;
	pthread_cond_signal(&b->changed);
	pthread_mutex_unlock(&b->mutex);
}
static void both(struct busy *first, struct busy *second)
{
	take(first);
	take(second);
	give(second);
	give(first);
}
static void *other(void *p)
{
	both(&into, &from);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, other, 0);
	both(&from, &into);
	pthread_join(t, 0);
	return 0;
}
C
# One way out of find() keeps the lock; the opposite: who calls hold() has it on purpose, and takes it twice.
cat >keeps.c <<'C'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int known;
static int find(void)
{
	pthread_mutex_lock(&lock);
	if (known)
		return 0;
	known = 1;
	pthread_mutex_unlock(&lock);
	return 1;
}
static void *other(void *p)
{
	find();
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, other, 0);
	int first = find();
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	pthread_join(t, 0);
	return first > 1;
}
C
cat >twice.c <<'C'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int full;
static void hold(void) { pthread_mutex_lock(&lock); }
static void leave(void) { pthread_mutex_unlock(&lock); }
static void *other(void *p)
{
	hold();
	full = 1;
	leave();
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, other, 0);
	hold();
	if (full)
		hold();
	leave();
	pthread_join(t, 0);
	return 0;
}
C
cat >early.cc <<'C'
#include <cassert>
#include <mutex>
#include <thread>
struct job {
	job() : worker([this] { run(); }) {}
	~job()
	{
		worker.join();
		assert(rounds == 1);
	}
	void run()
	{
		std::lock_guard<std::mutex> l(lock);
		rounds = 1;
	}
	std::mutex lock;
	std::thread worker;
	int rounds = 0;
};
int main() { job j; }
C
for level in -O0 -O2; do
	explained counts cc $level
	has flat "update of users at counts.c:8 and its update of watchers at counts.c:9, which belong together" "$level: two counts, one step"
	hasnt flat "wait for it" "$level: no order between two threads that do the same"
	explained late cc $level
	has flat "reads settled at late.c:23 before thread 0.1 writes settled at late.c:12" "$level: the write that the run did not live to see"
	explained slot cc $level
	has flat "head at slot.c:8 and its write to ring[] at slot.c:9, which belong together" "$level: a block says more than a read that was too early"
	explained busy cc $level
	has flat "at busy.c:22 and waits at busy.c:23 until" "$level: who waits for whom, where the locks are used"
	has flat "each waits for what the other one wrote" "$level: each for the other"
	hasnt flat "the signal came" "$level: no signal was lost"
	explained keeps cc $level
	has flat "which it holds itself: find took it at keeps.c:6 and was left without giving it back" "$level: a way out that keeps the lock"
	has flat "on every way out of find, not only at keeps.c:10" "$level: where it is given back"
	explained twice cc $level
	has flat "holds itself since" "$level: a lock that is taken twice"
	hasnt flat "was left without" "$level: a function that locks is left with the lock"
	explained early c++ $level
	has flat "must come before thread 0.1 is created" "$level: a thread that was created too early"
	hasnt flat "without holding" "$level: a constructor needs no lock"
done
finish
