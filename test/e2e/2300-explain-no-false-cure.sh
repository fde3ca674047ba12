#!/usr/bin/env bash
# Cures that explain must not tell: a lock that would be held while its owner waits for the others' end, and a trial
# that says nothing because the program did not fail before either.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "explain" "libplait.a is not built"; finish; }
explained() { # PLAIT RUNS
	unplait explain -q --runs "$2" "$1" >out 2>err
	tr -s ' \n' ' ' <out >flat
}

# main reads the total before the threads and after them: "from line 13 to line 18" would be a lock held across the joins
cat >join.c <<'C'
#include <assert.h>
#include <pthread.h>
static int total = 5;
static void *work(void *p)
{
	int t = total;
	total = t + 1;
	return p;
}
int main(void)
{
	pthread_t a, b;
	int before = total;
	pthread_create(&a, 0, work, 0);
	pthread_create(&b, 0, work, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(total == before + 2);
	return 0;
}
C
# the same, but main takes part: what it reads after the first join and after the second belongs to no block
cat >between.c <<'C'
#include <assert.h>
#include <pthread.h>
static int total;
static void *work(void *p)
{
	int t = total;
	total = t + 1;
	return p;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, work, 0);
	pthread_create(&b, 0, work, 0);
	pthread_join(a, 0);
	int first = total;
	pthread_join(b, 0);
	int second = total;
	assert(first >= 1 && second == 2);
	return 0;
}
C
for level in -O0 -O2; do
	for name in join between; do
		run 0 unplait cc -g $level -pthread $name.c -o $name
		run 1 unplait hunt -q --seed 1 -n 1000 -o $name.plait ./$name
		explained $name.plait 200
		has flat "make $name.c:6 to $name.c:7 atomic" "$name $level: the block is in the thread"
		hasnt flat "$name.c:13 to" "$name $level: no lock from before the joins"
		hasnt flat "$name.c:16 to" "$name $level: no lock from one join to the other"
		grep -qE "failed [1-9][0-9]* of 200 schedules before, 0 of 200 with it enforced" flat &&
			ok "$name $level: the trial fails before" || not_ok "$name $level: the trial fails before" "$(cat out)"
	done
done

# Eight switches at the right places. In a few schedules none fails; then no cure can be tried out, and none is said to be.
run 0 unplait cc -g -O2 -pthread "$CORPUS/sct-safestack/main.c" -o safe
run 1 unplait hunt -q -s states -o safe.plait ./safe
untried=0
for n in 1 2 3; do
	explained safe.plait $n
	grep -q "no other schedule of $n fails" flat && untried=$((untried + 1))
	hasnt flat "failed 0 of" "safestack, $n schedules: what did not fail before is no test"
done
is "$([ $untried -gt 0 ] && echo yes)" yes "safestack: none of a few schedules fails, and explain says so"
finish
