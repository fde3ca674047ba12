#!/usr/bin/env bash
# Waits with a time limit, searched completely: a wait may give up while another thread has its mutex. states and dfs
# both find the failure that needs it, and where nothing fails both leave out the clock alone, which the deadlines need.
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }
# main gives up a semaphore beside the other thread, then waits for a signal that has been sent: the last thread alive
# stays there for ever, and no wake-up comes from nowhere
cat >lost.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int first, second;
static void *other(void *arg)
{
	pthread_mutex_lock(&m);
	first = 1;
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&m);
	second = first;
	pthread_mutex_unlock(&m);
	return arg;
}
int main(void)
{
	struct timespec soon;
	pthread_t t;
	clock_gettime(CLOCK_REALTIME, &soon);
	sem_init(&sem, 0, 0);
	pthread_create(&t, 0, other, 0);
	sem_timedwait(&sem, &soon);
	pthread_mutex_lock(&m);
	while (!second)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	return pthread_join(t, 0);
}
C
run 0 unplait cc -g -pthread -o lost lost.c
for strategy in states dfs; do
	run 1 unplait hunt -q -s $strategy -o "" ./lost
	has out "deadlock: thread 0 waits for a condition variable" "$strategy: the signal was sent before"
	has out "replayed 5 of 5"
done
for flags in -O0 -O2; do
	for strategy in states dfs; do
		run 0 unplait cc -g $flags -pthread -o bad "$top/test/programs/timed-wait.c"
		run 1 unplait hunt -q -s $strategy -o "" ./bad
		has out "late && !woken && seen" "$strategy $flags: found"
		has out "replayed 5 of 5"
		run 0 unplait cc -g $flags -DGOOD -pthread -o good "$top/test/programs/timed-wait.c"
		run 0 unplait hunt -q -s $strategy -o "" ./good
		has out "every schedule of what is covered was explored" "$strategy $flags: complete"
		is "$(grep "not covered" out | grep -cv "the clock: ")" 0 "$strategy $flags: but for the clock"
		run 0 unplait cc -g $flags -DGOOD -DCLOCK -pthread -o clock "$top/test/programs/timed-wait.c"
		run 0 unplait hunt -q -s $strategy -o "" ./clock
		has out "not covered  the clock" "$strategy $flags: the clock"
		hasnt out "every schedule was explored"
	done
done
finish
