#!/usr/bin/env bash
# Deadlocks from paths alone: where the threads wait is not recorded, only that the run did not end.
# level: check
. "$(dirname "$0")/lib.sh"

# Two locks in opposite orders, and nothing else: not one decision is recorded.
cat >locks.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *forward(void *arg)
{
	pthread_mutex_lock(&a);
	if (arg)
		usleep(100000);
	pthread_mutex_lock(&b);
	n++;
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	return NULL;
}
static void *backward(void *arg)
{
	pthread_mutex_lock(&b);
	if (arg)
		usleep(100000);
	pthread_mutex_lock(&a);
	n--;
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t, u;
	(void)argv;
	pthread_create(&t, NULL, forward, argc > 1 ? &t : NULL);
	pthread_create(&u, NULL, backward, argc > 1 ? &t : NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
C
"$UNPLAIT" cc -g -O1 -pthread -o locks locks.c || exit 1
unplait record -q --mode path --timeout 2 -o locks.plait -- ./locks slowly
run 1 unplait solve locks.plait -o locks-fail.plait
has out "failure: every thread waits"
has out "confirmed by a native run"
has out "it ended: deadlock"
run 1 unplait replay locks-fail.plait
run 1 unplait hunt -q -o hunted.plait -- ./locks
run 0 unplait solve --pass hunted.plait
has out "confirmed by a native run"
run 1 unplait explain --method constraints --runs 20 hunted.plait
has out "kind     deadlock"
hasnt out "searched by native runs"

# A signal before the wait is lost.
cat >lost.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int full;
static void *taker(void *arg)
{
	int have;
	pthread_mutex_lock(&lock);
	have = full;
	pthread_mutex_unlock(&lock);
	if (arg)
		usleep(100000);
	if (!have) {
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&more, &lock);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t;
	(void)argv;
	pthread_create(&t, NULL, taker, argc > 1 ? &t : NULL);
	if (argc > 1)
		usleep(30000);
	pthread_mutex_lock(&lock);
	full = 1;
	pthread_cond_signal(&more);
	pthread_mutex_unlock(&lock);
	pthread_join(t, NULL);
	return 0;
}
C
"$UNPLAIT" cc -g -O1 -pthread -o lost lost.c || exit 1
run 1 unplait hunt -q -o lost.plait -- ./lost
run 1 unplait solve lost.plait
has out "failure: every thread waits"
has out "confirmed by a native run"
has out "waits for a condition variable"
run 1 unplait explain --method constraints --runs 0 lost.plait
has out "kind     lost-wakeup"
hasnt out "searched by native runs"

# What a thread read locally must not come from steps that a deadlock kept others from doing.
for p in deadlock sct-qsortmt; do
	"$UNPLAIT" cc -g -O1 -pthread -I"$CORPUS" -o "$p" "$CORPUS/$p"/*.c || exit 1
	run 1 unplait hunt -q -o "$p.plait" -- "./$p"
	run 1 unplait solve "$p.plait"
	has out "confirmed by a native run"
done
finish
