#!/usr/bin/env bash
# explain: what was told wrongly of programs from elsewhere. A condition that nobody signals was told as a block between two
# calls; a table that two threads build at once as a block inside the table; a barrier was advised where none fits.
# level: check
. "$(dirname "$0")/lib.sh"
explained() { # NAME: hunt and explain; `cause` is what is told, in one line
	run 1 unplait hunt -q -n 1000 -o "$1.plait" "./$1"
	run 1 unplait explain -q -n 100 "$1.plait"
	tr -s ' \n' ' ' <out | sed 's/ kind .*//' >cause
}

# closing signals `filled`, but the drainer may wait for `room`: woken there, it goes on
cat >closing.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static int items, full, closed;
static void *drain(void *p)
{
	pthread_mutex_lock(&m);
	while (!closed) {
		if (!items) {
			pthread_cond_wait(&filled, &m);
			continue;
		}
		items = 0;
		while (full && !closed)
			pthread_cond_wait(&room, &m);
	}
	pthread_mutex_unlock(&m);
	return p;
}
static void put(void)
{
	pthread_mutex_lock(&m);
	full = items = 1;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&m);
}
static void finish(void)
{
	pthread_mutex_lock(&m);
	closed = 1;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&m);
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, drain, 0);
	put();
	finish();
	pthread_join(t, 0);
	return 0;
}
C
run 0 unplait cc -g -O0 -pthread closing.c -o closing
explained closing
has cause "waits for room at closing.c:15 for ever: thread 0 writes closed at closing.c:30"
has cause "signal room after the write to closed at closing.c:30"
has cause "0 of 100 with it enforced"

# both threads see an empty table and fill it: the block is all of it, from the check to the flag
cat >table.c <<'C'
#include <assert.h>
#include <pthread.h>
static int *slot[4], n, built, values[4];
static void add(int v)
{
	slot[n] = &values[n];
	*slot[n] = v;
	n++;
}
static void build(void)
{
	if (!built) {
		add(1);
		add(2);
		built = 1;
	}
}
static void *user(void *p)
{
	build();
	assert(n == 2);
	assert(*slot[0] == 1 && *slot[1] == 2);
	return p;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, user, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
run 0 unplait cc -g -O0 -pthread table.c -o table
explained table
has cause "read of built at table.c:12 and its write to built at table.c:15, which belong together"
hasnt cause "barrier"

# when the time is over before anything was tried, nothing is told as the cause
run 4 unplait explain -q --time 0.001 table.plait
tr -s ' \n' ' ' <out >cause
has cause "cause not known"
has cause "s of --time were over before everything was tried"

# a number and the highest number, in two steps; the end of the block is the update in the helper
cat >number.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int next = 1, highest;
static int raise_to(int v)
{
	int old = atomic_load(&highest);
	while (old < v && !atomic_compare_exchange_strong(&highest, &old, v))
		;
	return old;
}
static void *user(void *p)
{
	int mine = atomic_fetch_add(&next, 1);
	int old = raise_to(mine);
	assert(mine >= old);
	return p;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, user, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
run 0 unplait cc -g -O0 -pthread number.c -o number
explained number
has cause "make number.c:14 to number.c:15 in user() atomic"

# who waits until it is done goes by what it saw before: no barrier helps there
cat >status.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
enum { NEW, BUSY, DONE };
static atomic_int state;
static int begin(void)
{
	int status = atomic_load(&state), was = NEW;
	if (status == DONE)
		return 1;
	if (status == BUSY || !atomic_compare_exchange_strong(&state, &was, BUSY)) {
		while (atomic_load(&state) == BUSY)
			sched_yield();
		return status == DONE;
	}
	atomic_store(&state, DONE);
	return 1;
}
static void *user(void *p)
{
	assert(begin());
	return p;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, user, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
run 0 unplait cc -g -O0 -pthread status.c -o status
explained status
hasnt cause "barrier"
has cause "read of state at status.c:9"
finish
