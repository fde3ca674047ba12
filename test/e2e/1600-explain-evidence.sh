#!/usr/bin/env bash
# A cause is told only if its evidence carries it: a signal that the program decides about, a flag that
# another function looked at, a lock that only one thread ever takes and an atomic access without a lock
# are no causes. A lock that is missing where it fails is one, and the stack of the failure is there.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "explain" "libplait.a is not built"; finish; }

explained() { # name
	run 0 unplait cc -g -pthread "$1.c" -o "$1"
	run 1 unplait hunt -q -n 3000 -o "$1.plait" "./$1"
	unplait explain --runs 200 "$1.plait" >out 2>err
	status=$?
	[ $status = 1 ] || [ $status = 4 ] && ok "$1: explained" || not_ok "$1: explained" "$(cat err)"
	tr '\n' ' ' <out | tr -s ' ' >flat
}

# The barrier's count is reset after the round was announced: a worker that is quick is forgotten. The
# last to arrive signals, the others do not, and that is right so.
cat >round.c <<'C'
#include <pthread.h>
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER, barrier = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static int round_no, arrived;
static void *worker(void *arg)
{
	pthread_mutex_lock(&state);
	while (round_no == 0)
		pthread_cond_wait(&go, &state);
	pthread_mutex_unlock(&state);
	pthread_mutex_lock(&barrier);
	if (++arrived == 2)
		pthread_cond_signal(&done);
	pthread_mutex_unlock(&barrier);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, worker, 0);
	pthread_mutex_lock(&state);
	round_no = 1;
	pthread_cond_broadcast(&go);
	pthread_mutex_unlock(&state);
	pthread_mutex_lock(&barrier);
	arrived = 0;
	while (arrived < 2)
		pthread_cond_wait(&done, &barrier);
	pthread_mutex_unlock(&barrier);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
}
C
explained round
hasnt flat "no signal comes after that"
hasnt flat "signal done after the write"
has flat "round.c:27"

# free() while the list is walked: who walks it takes no lock, all others do; the failure is in the walk
cat >walk.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int begin, end;
static void *mover(void *arg)
{
	pthread_mutex_lock(&m);
	begin = begin + 4;
	end = end + 4;
	pthread_mutex_unlock(&m);
	return arg;
}
static void check(void)
{
	int b = begin;
	int e = end;
	assert(b == e);
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, mover, 0);
	check();
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
}
C
explained walk
has flat "hold m "
grep -qE "walk.c:1[56]" flat && ok "walk: the lines without the lock" || not_ok "walk: lines" "$(cat flat)"
grep -qE "stack check at .*walk.c:17 < main at .*walk.c:24" flat && ok "walk: the stack" ||
	not_ok "walk: the stack" "$(cat flat)"

# the outer lock is taken by main alone: nobody else has to hold it
cat >outer.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static int ready, job;
static void *worker(void *arg)
{
	pthread_mutex_lock(&inner);
	int r = ready;
	pthread_mutex_unlock(&inner);
	if (r)
		assert(job == 7);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, worker, 0);
	pthread_mutex_lock(&outer);
	ready = 1;
	job = 7;
	pthread_mutex_unlock(&outer);
	pthread_join(t, 0);
}
C
explained outer
hasnt flat "holding outer"
hasnt flat "hold outer"
has flat "outer.c:19"
has flat "outer.c:20"

# the wait's own function never looked at `alive`
cat >elsewhere.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static volatile int alive, keep = 1, jobs = 1;
static void *worker(void *arg)
{
	alive = 1;
	if (keep) {
		pthread_mutex_lock(&m);
		jobs = 0;
		pthread_cond_signal(&idle);
		pthread_mutex_unlock(&m);
	}
	alive = 0;
	return arg;
}
static void *other(void *arg)
{
	keep = 0;
	return arg;
}
static int started(void)
{
	return alive;
}
static void wait_idle(void)
{
	pthread_mutex_lock(&m);
	while (jobs)
		pthread_cond_wait(&idle, &m);
	pthread_mutex_unlock(&m);
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], 0, worker, 0);
	pthread_create(&t[1], 0, other, 0);
	started();
	wait_idle();
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
}
C
explained elsewhere
hasnt flat "looked at it (elsewhere.c:24)"
hasnt flat "look at alive"

# everything that was considered is in the JSON, the best first, with how it stands
run 1 unplait explain --runs 200 --json walk.plait
has out '"candidates"'
has out '"standing"'
has out '"stack"'
finish
