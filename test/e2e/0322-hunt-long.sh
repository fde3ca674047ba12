#!/usr/bin/env bash
# hunt: a healthy program whose runs are long is not a hang. A hang needs evidence; what has not ended is said, with
# the option that gives it more.
# level: check
. "$(dirname "$0")/lib.sh"

cat >long.c <<'C'
#include <pthread.h>
#ifndef ROUNDS
#define ROUNDS 60000
#endif
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile long n;
static void *count(void *p)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&m);
		n++;
		pthread_mutex_unlock(&m);
	}
	return p;
}
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, count, 0);
	pthread_create(&u, 0, count, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return 0;
}
C
run 0 unplait cc -w -g -O1 -pthread -o long long.c
run 0 unplait hunt -n 6 ./long
hasnt out hang "more points than a run gets at first: the budget grows"
run 4 unplait hunt -n 3 --steps 1000 ./long
has out "had not ended after 1000 scheduling points; give more with --steps"
hasnt out hang
run 4 unplait hunt -s dfs -n 3 --steps 1000 ./long
hasnt out "every schedule"
# a test of which no run ended has not passed
run 0 unplait cc -w -g -O1 -D'ROUNDS=900000' -pthread -o longer long.c
run 4 unplait test --runs 1 ./longer
has out "??     ./longer" "no run came to its end: 1 cut off; give more by --time and --timeout"
has out "1 no run came to its end"
run 0 unplait test --runs 3 ./long
has out "ok     ./long "

# nothing changes any more: two threads that wait for each other, busily
cat >stuck.c <<'C'
#include <pthread.h>
static volatile int f, g;
static void *other(void *p) { while (!f) ; g = 1; return p; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, other, 0);
	while (!g) ;
	f = 1;
	pthread_join(t, 0);
	return 0;
}
C
for o in -O0 -O2; do
	run 0 unplait cc -w -g $o -pthread -o stuck stuck.c
	run 1 unplait hunt -n 3 --replays 2 -o f.plait ./stuck
	has out "hang: nothing changes any more"
	has out "replayed 2 of 2"
done

# ... and one that waits alone, with a period of four
cat >alone.c <<'C'
#include <pthread.h>
static volatile int f, a[4];
static void *other(void *p) { f = 0; a[1] = 1; return p; }
int main(void)
{
	pthread_t t;
	int i = 0;
	pthread_create(&t, 0, other, 0);
	pthread_join(t, 0);
	while (!f)
		i = (i + a[i]) & 3;
	return 0;
}
C
for o in -O0 -O2; do
	run 0 unplait cc -w -g $o -pthread -o alone alone.c
	run 1 unplait hunt -n 2 --steps 4000 --replays 2 -o f.plait ./alone
	has out "hang: nothing changes any more"
done
# a loop that makes progress is not one, even if it only reads
cat >reads.c <<'C'
#include <pthread.h>
static volatile int a[1 << 12];
static void *other(void *p) { a[1] = 1; return p; }
int main(void)
{
	pthread_t t;
	long sum = 0;
	pthread_create(&t, 0, other, 0);
	pthread_join(t, 0);
	for (long k = 0; k < 1 << 22; k++)
		sum += a[k & 4095];
	return sum == 0;
}
C
run 0 unplait cc -w -g -O2 -pthread -o reads reads.c
run 4 unplait hunt -n 2 --steps 4000 ./reads
hasnt out hang
finish
