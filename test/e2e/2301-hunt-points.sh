#!/usr/bin/env bash
# What the search counts on: local variables are no scheduling points, not even at -O0; surw is one of auto's
# strategies; and the twins of the corpus are not found by the first best schedule.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }
runs() { # STRATEGY SEED PROGRAM...: schedules to the first failure, or all that there are
	local s=$1 seed=$2
	shift 2
	unplait hunt -q -s "$s" --seed "$seed" -n 2000 -o '' --json "$@" 2>err >json
	grep -o '"runs": *[0-9]*' json | head -n 1 | grep -o '[0-9]*$'
}

# Loops over local variables, one of them behind a pointer. How long they are does not change how many schedules there
# are; if the same variable belongs to both threads, it does.
cat >locals.c <<'C'
#include <assert.h>
#include <pthread.h>
#ifndef KIND
#define KIND
#endif
static int shared;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void add(int *n)
{
	*n += 1;
}
static void *work(void *p)
{
	KIND int slots[4];
	int sum = 0;
	for (int i = 0; i < ROUNDS; i++) {
		slots[i & 3] = i;
		add(&sum);
	}
	pthread_mutex_lock(&m);
	shared += sum + slots[0];
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, work, 0);
	pthread_create(&b, 0, work, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(shared);
	return 0;
}
C
for level in -O0 -O2; do
	for rounds in 1 20; do
		run 0 unplait cc -g $level -DROUNDS=$rounds -pthread locals.c -o locals-$rounds
	done
	is "$(runs dfs 1 ./locals-20)" "$(runs dfs 1 ./locals-1)" "$level: twenty rounds have as many schedules as one"
done
run 0 unplait cc -g -O0 -DROUNDS=2 -DKIND=static -pthread locals.c -o locals-shared
is "$([ "$(runs dfs 1 ./locals-shared)" -gt "$(runs dfs 1 ./locals-20)" ] && echo yes)" yes "a variable of both threads has points"

# the same accesses at both levels: the same search
for level in -O0 -O2; do
	run 0 unplait cc -g $level -pthread -o reorder$level "$CORPUS/sct-reorder/main.c"
	for seed in 1 2 3 4 5 6; do runs auto $seed ./reorder$level 10; done >reorder$level.runs
done
same reorder-O0.runs reorder-O2.runs "reorder 10 takes as many schedules at -O0 as at -O2"

# schedules of six seeds with plain random choices. They were 4, 1 and 3 a seed once.
total() { # PROGRAM
	local sum=0 seed
	for seed in 1 2 3 4 5 6; do sum=$((sum + $(runs random $seed "$1"))); done
	echo $sum
}
: >found
for twin in qsortmt:100 radbench4:30 ctrace:12 reorder:60; do
	name=${twin%:*} least=${twin#*:}
	for level in -O0 -O2; do
		run 0 unplait cc -g $level -pthread -o $name$level "$CORPUS/sct-$name/main.c"
		n=$(total ./$name$level)
		is "$([ "$n" -ge "$least" ] && echo yes)" yes "$name $level: $n schedules for six seeds, at least $least"
		for seed in 1 2 3 4 5 6; do
			runs auto $seed ./$name$level >/dev/null
			grep -o '"strategy": *"[a-z]*"' json >>found
		done
	done
done
has found '"surw"' "auto has surw"
has found '"rf"' "auto has rf"
finish
