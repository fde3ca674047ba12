#!/usr/bin/env bash
# The search over states: failures that sampling misses, carried out natively; cures proved.
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }

build() { run 0 unplait cc -g -O2 -pthread "${@:3}" "$CORPUS/$1/main.c" -o "$2"; }

# needs eight switches at the right places among 90 operations: nothing else finds it
build sct-safestack safe
run 1 unplait hunt -o safe.plait ./safe
has out "(states)" "auto asks the other engine"
has out "replayed 5 of 5 times"
run 1 unplait replay --times 3 safe.plait

build sct-boundedbuffer bb
run 1 unplait hunt -s states -o bb.plait ./bb
has out "deadlock" "who waits for signals"
build sct-boundedbuffer bbfixed -DFIXED
run 0 unplait hunt ./bbfixed
has out "every schedule was explored"
has out "no others can be reached"
run 0 unplait sym schedules ./bbfixed
has out "explored everything"
has out "native run: confirmed, pass"

# time limits, threads that are born late, a signal with two waiters to choose from
cat >w.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int waiting, ready, who, limited;
static void *wait_for(void *arg)
{
	pthread_mutex_lock(&m);
	waiting++;
	while (ready < 1)
		pthread_cond_wait(&c, &m);
	if (!who)
		who = (int)(long)arg;
	ready = 1;
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	return NULL;
}
static void *late(void *arg)
{
	struct timespec t = { 1, 0 };
	pthread_mutex_lock(&m);
	limited = !pthread_cond_timedwait(&c, &m, &t);
	pthread_mutex_unlock(&m);
	return arg;
}
int main(void)
{
	pthread_t a, b;
	int n = 0;
	pthread_create(&a, NULL, wait_for, (void *)1);
	pthread_create(&b, NULL, wait_for, (void *)2);
	while (n < 2) {
		pthread_mutex_lock(&m);
		n = waiting;
		pthread_mutex_unlock(&m);
	}
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(who != 1);
	pthread_create(&a, NULL, late, NULL);
	pthread_mutex_lock(&m);
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	pthread_join(a, NULL);
	assert(limited);
	return 0;
}
C
run 0 unplait cc -g -O1 -pthread w.c -o w
run 1 unplait sym schedules --all-errors ./w
has out "who != 1" "the waiter that a signal wakes is a choice"
has out "assertion \`limited' failed" "a time-out before the signal"
has out "exit 0" "and a signal before it"
hasnt out "NOT confirmed" "native runs agree"
has out "explored everything" "the loop that waits ends"

# a program that can no longer end
cat >spin.c <<'C'
#include <pthread.h>
static volatile int go, stop;
static void *spin(void *arg)
{
	while (!go)
		;
	return arg;
}
int main(void)
{
	pthread_t a;
	pthread_create(&a, NULL, spin, NULL);
	if (!stop)
		go = 1;
	go = 0;
	pthread_join(a, NULL);
	return 0;
}
C
run 0 unplait cc -g -O1 -pthread spin.c -o spin
run 1 unplait sym schedules ./spin
has out "livelock: the threads go on, but the program can no longer end"
has out "native run: confirmed, hang"

# what it cannot do it says
run 3 unplait sym schedules w.c
has err "unplait cc"
run 2 unplait hunt -s states --expect w.c ./w
has err "states cannot judge by output"
cp "$(type -P true)" plain
run 3 unplait hunt -s states ./plain
has err "states cannot be searched: ./plain carries no bitcode"
cat >outside.c <<'X'
#include <pthread.h>
#include <sys/socket.h>
static int x;
static void *work(void *a) { x++; return a; }
int main(void)
{
	pthread_t t;
	int pair[2];
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	pthread_create(&t, 0, work, 0);
	x++;
	return pthread_join(t, 0);
}
X
run 0 unplait cc -g -O1 -pthread outside.c -o outside
run 4 unplait hunt -s states ./outside
has out "not every state was searched: a call of socketpair"
run 4 unplait sym schedules --no-confirm --max-states 10 ./bbfixed
has out "not everything was explored"
# A failing state that a run of one thread after the other passes by: the order of the operations asked for is not enough,
# nobody may go further meanwhile.
for name in sct-reorder sct-account sct-deadlock01; do
	for level in -O0 -O2; do
		run 0 unplait cc -w -g $level -pthread -o small "$CORPUS/$name/main.c"
		run 1 unplait hunt -s states -o small.plait ./small
		has out "replayed 5 of 5" "$name $level: what the states show is confirmed"
	done
done
finish
