#!/usr/bin/env bash
# explain from recorded paths alone: no schedule is known, both schedules in the report were run natively.
# level: quick
. "$(dirname "$0")/lib.sh"

# The shape of pbzip2's bug: main takes the queue away while a worker still uses it.
cat >queue.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct queue { pthread_mutex_t *mut; int length; };
struct queue fifo;
static void *worker(void *arg)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(fifo.mut); /* BUG:b */
		fifo.length++;
		pthread_mutex_unlock(fifo.mut);
		if (arg && i == 1)
			usleep(100000); /* the last round comes too late, however busy the machine */
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t;
	(void)argv;
	fifo.mut = malloc(sizeof(*fifo.mut));
	pthread_mutex_init(fifo.mut, NULL);
	pthread_create(&t, NULL, worker, argc > 1 ? &t : NULL);
	if (argc > 1)
		usleep(50000);
	fifo.mut = NULL; /* BUG:a */
	pthread_join(t, NULL);
	return 0;
}
C
"$UNPLAIT" cc -g -O1 -pthread -o queue queue.c || exit 1
for i in $(seq 50); do # it nearly always crashes
	unplait record -q --mode path -o path.plait -- ./queue slowly >/dev/null || break
done
is "$(unplait info path.plait | grep -c 'signal 11')" 1 "a path recording of a crash"

run 1 unplait explain path.plait --runs 50
has out "by constraints"
has out "BUG:a" "the report shows where main takes the queue away"
has out "BUG:b" "the report shows where the worker uses it"
has out "5 of 5 replays fail the same way"
has out "the passing schedule was run too"
run 1 unplait explain --method both path.plait --runs 0 --json
has out '"confirmed": true'
has out "dynamic: "
unplait explain --method dynamic path.plait --runs 0 >out # may find no passing schedule
has out "hunted first"

# A plait with a schedule: dynamic by default, constraints on request.
"$UNPLAIT" cc -g -O1 -pthread -o account "$CORPUS"/account/*.c || exit 1
run 1 unplait hunt -q -o account.plait -- ./account
run 1 unplait explain account.plait --runs 0
hasnt out "by constraints"
run 1 unplait explain --method constraints account.plait --runs 0
has out "by constraints"
has out "irreducible"
run 2 unplait explain --method guessing account.plait

# What cannot be followed is explained the dynamic way, and the report says so.
cat >float.c <<'C'
#include <assert.h>
#include <pthread.h>
double sum;
static void *add(void *arg)
{
	double x = sum;
	sum = x + 1.5;
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, add, 0);
	pthread_create(&b, 0, add, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(sum == 3.0);
	return 0;
}
C
"$UNPLAIT" cc -g -O1 -pthread -o float float.c || exit 1
run 1 unplait hunt -q -o float.plait -- ./float
run 1 unplait explain --method constraints float.plait --runs 0
has out "explained the dynamic way"
finish
