#!/usr/bin/env bash
# watch: lock-order inversions have a heading of their own; what cannot become a deadlock is none.
. "$(dirname "$0")/lib.sh"
cat >order.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER,
	c = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t bar;
static const char *mode;
static int is(const char *s) { return strcmp(mode, s) == 0; }
static __attribute__((noinline)) void paths(int n) { pthread_mutex_lock(&c); pthread_mutex_unlock(&c); if (n) paths(n - 1); __asm__ volatile(""); }
static void both(pthread_mutex_t *x, pthread_mutex_t *y)
{
	if (is("gated") || is("gate-late") || is("many"))
		pthread_mutex_lock(&gate);
	if (is("many"))
		paths(200);
	if (is("read-gate"))
		pthread_rwlock_rdlock(&shared);
	pthread_mutex_lock(x); /* here x */
	if (is("try"))
		pthread_mutex_trylock(y);
	else
		pthread_mutex_lock(y); /* here y */
	if (is("gate-late"))
		pthread_mutex_unlock(&gate);
	pthread_mutex_unlock(y);
	pthread_mutex_unlock(x);
	if (is("gated") || is("many"))
		pthread_mutex_unlock(&gate);
	if (is("read-gate"))
		pthread_rwlock_unlock(&shared);
}
static void *one(void *p)
{
	both(&a, &b);
	if (is("single"))
		both(&b, &a);
	pthread_barrier_wait(&bar);
	pthread_barrier_wait(&bar);
	for (;;)
		pause();
	return p;
}
static void *two(void *p)
{
	pthread_barrier_wait(&bar);
	if (!is("single"))
		both(&b, &a);
	pthread_barrier_wait(&bar);
	for (;;)
		pause();
	return p;
}
int main(int argc, char **argv)
{
	pthread_t t, u;
	mode = argc > 1 ? argv[1] : "";
	pthread_barrier_init(&bar, 0, 2);
	pthread_create(&t, 0, one, 0);
	pthread_create(&u, 0, two, 0);
	pthread_join(t, 0);
	return 0;
}
END
cc -O1 -g -pthread -o order order.c || exit 3
x=$(grep -n 'here x' order.c | cut -d: -f1)
y=$(grep -n 'here y' order.c | cut -d: -f1)
look() { # MODE: the state after a second; never a deadlock
	run 0 timeout 30 "$UNPLAIT" watch --history 16 --stuck-after 0 --timeout 1 --sarif $1.sarif --json=$1.json -- ./order "$1"
	run 0 timeout 30 "$UNPLAIT" watch --history 16 --stuck-after 0 --timeout 1 -- ./order "$1"
	hasnt out "deadlock:" "$1: no deadlock"
}
for mode in abba read-gate; do
	look $mode
	has out "potential lock-order inversions (seen in the history; no deadlock)" "$mode: under a heading of its own"
	is "$(grep -c 'thread 0\.[12]: mutex [ab] at .*order.c:'$x'.*, then mutex [ab] at .*order.c:'$y out)" 2 "$mode: with both places of both threads"
	has $mode.json '"inversions"'
	is "$(grep -c '"ruleId": "lock-order-inversion"' $mode.sarif)" 1 "$mode: one in the SARIF"
	is "$(grep -c '"ruleId": "deadlock"' $mode.sarif)" 0 "$mode: and no deadlock there"
done
# "many": more call paths than the fast path has room for, which once were written over the locks that are held
for mode in gated gate-late many single try; do
	look $mode
	hasnt out "inversion" "$mode: not an inversion"
	is "$(grep -c '"ruleId": "lock-order-inversion"' $mode.sarif)" 0 "$mode: nor in the SARIF"
done
run 0 timeout 30 "$UNPLAIT" watch --stuck-after 0 --timeout 1 -- ./order abba
hasnt out "inversion" "without a history nobody knows"
finish
