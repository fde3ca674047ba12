#!/usr/bin/env bash
# A deadlock early in a long run, behind a race: the walk over schedules looks where the dump's stacks say, and the first
# end that agrees ends it.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

# a recursive lock of two mutexes and a counter, which counts too late; then much work in both threads
cat >early.c <<'C'
#include <pthread.h>
enum { ROUNDS = 4000 };
static pthread_mutex_t aux = PTHREAD_MUTEX_INITIALIZER, all = PTHREAD_MUTEX_INITIALIZER;
static int inside, table[16];

static void enter(void)
{
	pthread_mutex_lock(&aux);
	if (inside == 0)
		pthread_mutex_lock(&all); /* the one waits here */
	pthread_mutex_unlock(&aux);
	inside++;
}

static void leave(void)
{
	pthread_mutex_lock(&aux); /* the other here */
	if (--inside == 0)
		pthread_mutex_unlock(&all);
	pthread_mutex_unlock(&aux);
}

static int fill(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += __atomic_add_fetch(&table[i % 16], i, __ATOMIC_SEQ_CST);
	return sum;
}

static void open_table(void)
{
	enter();
	fill(20);
	leave();
}

static void *work(void *arg)
{
	fill(60);
	open_table();
	*(int *)arg = fill(ROUNDS);
	return arg;
}

int main(void)
{
	pthread_t t[2];
	int result[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, work, &result[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
gcc -O2 -g -pthread -fno-inline -o shipped early.c
slow_locks
NAP=0 UNLOCK_NAP=500 LD_PRELOAD=$work/slow.so ./shipped & # whoever lets go of aux dozes before it counts
pid=$!
stuck $pid && gcore -o made $pid >/dev/null 2>&1
kill -9 $pid
mv made.$pid core && ok "a dump" || not_ok "a dump"
run 0 unplait cc -g -O0 -pthread -o early early.c
run 1 unplait synth -v --json=j --time 60 -o s.plait core ./early
has err "schedules with 1 preemptions behind calls in work"
is "$(sed -n 's/.*"states": \([0-9]*\).*/\1/p' j | awk '{ print ($1 < 100000) }')" 1 "few states: $(grep -o '"states": [0-9]*' j)"
run 1 unplait replay s.plait
finish
