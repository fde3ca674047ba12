#!/usr/bin/env bash
# Two deadlocks end with the same stack of the last thread and differ in a caller of the other one: the walk over schedules
# tells them apart and runs both.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

cat >two.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER,
		       guard = PTHREAD_MUTEX_INITIALIZER;
static volatile int inside, ready;
static int slow, seen;
static __attribute__((noinline)) void meet(volatile int *flag)
{
	while (slow && !*flag)
		usleep(1000);
}
static int change(int by)
{
	int now;

	pthread_mutex_lock(&guard);
	now = seen += by;
	pthread_mutex_unlock(&guard);
	return now;
}
static __attribute__((noinline)) void both(int last)
{
	pthread_mutex_lock(&first);
	if (slow && last) {
		inside = 1;
		meet(&ready);
	}
	pthread_mutex_lock(&second);
	pthread_mutex_unlock(&second);
	pthread_mutex_unlock(&first);
}
static __attribute__((noinline)) void early(void)
{
	both(1);
	change(2);
}
static __attribute__((noinline)) void late(void)
{
	both(0);
	change(-3);
}
static void *one(void *arg)
{
	change(1);
	early();
	late();
	return arg;
}
static void *other(void *arg)
{
	meet(&inside);
	if (change(0)) { /* in no run that passes without a switch */
		pthread_mutex_lock(&second);
		if (slow)
			ready = 1;
		pthread_mutex_lock(&first);
		pthread_mutex_unlock(&first);
		pthread_mutex_unlock(&second);
	}
	return arg;
}
int main(void)
{
	pthread_t a, b;
	slow = getenv("SLOW") != NULL;
	pthread_create(&a, NULL, one, NULL);
	pthread_create(&b, NULL, other, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
C
slow_locks
gcc -O2 -g -pthread -o shipped two.c
export SLOW=1
stuck_dump_of two.core ./shipped </dev/null
unset SLOW
run 0 unplait cc -g -O0 -pthread -o two two.c
run 1 unplait synth -v --facts stack -o s.plait two.core ./two
has out "early at two.c"
has err "another one" "the other deadlock was met first"
has err "the dump's" "and this one behind it, in the same walk"
has out "confirmed in the unplait build and in the shipped binary"
finish
