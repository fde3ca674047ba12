#!/usr/bin/env bash
# Searching: systematically to the end, guided where sampling is hopeless, several runs at a time.
# level: quick
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }

cat >two.c <<'X'
#include <assert.h>
#include <pthread.h>
static int x;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg)
{
	int t;
	(void)arg;
#ifdef FIXED
	pthread_mutex_lock(&m);
#endif
	t = x;
	x = t + 1;
#ifdef FIXED
	pthread_mutex_unlock(&m);
#endif
	return &m;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, work, 0);
	pthread_create(&b, 0, work, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(x == 2);
	return 0;
}
X
run 0 unplait cc -g -O1 two.c -o two
run 0 unplait cc -g -O1 -DFIXED two.c -o two-fixed
for s in dfs:x dfs: pct:2x pos:3; do
	run 2 unplait hunt -s "$s" ./two
	has err "no strategy \`$s'"
done
for s in dfs dfs:1 dfs:2; do
	run 1 unplait hunt -s $s -n 1000 ./two
	run 0 unplait hunt -s $s -n 1000 ./two-fixed
	has out "was explored" "$s explores everything"
done
run 0 unplait hunt -s dfs:0 -n 1000 ./two
has out "every schedule within the bound was explored" "it takes one preemption to lose an update"

# 100 threads: no strategy that only samples finds it
run 0 unplait cc -g -O1 "$CORPUS/sct-reorder/main.c" -o reorder
run 1 unplait hunt -s rf -n 100 ./reorder 100
run 1 unplait hunt -n 200 ./reorder 100

# a loop that some schedules never leave is a hang, though a fair schedule from the start ends
run 0 unplait cc -g -O1 -pthread "$CORPUS/race-countdown/main.c" -o countdown
run 1 unplait hunt -n 50 ./countdown
has out "hang" "a hang that depends on the schedule"

# two at a time: same seed, same hunt
run 1 unplait hunt -j 2 -n 100 --all -o a ./two
sed 's/ in [0-9.]* s,/ in T s,/; s# [ab]/# F/#' out >one
run 1 unplait hunt -j 2 -n 100 --all -o b ./two
sed 's/ in [0-9.]* s,/ in T s,/; s# [ab]/# F/#' out >two.txt
same two.txt one "two jobs, same seed, same hunt"
finish
