#!/usr/bin/env bash
# From per-thread paths to a schedule that fails natively, and to one that does not.
# level: quick
. "$(dirname "$0")/lib.sh"

# A worker uses what main takes away; nothing but the order of the two decides.
cat >crash.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct box { int n; };
struct box *box;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static void *worker(void *arg)
{
	int sum = 0;
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&mu);
		sum += box->n;
		pthread_mutex_unlock(&mu);
		if (arg && i == 1)
			usleep(100000); /* the last round comes too late, however busy the machine */
	}
	return (void *)(long)sum;
}
int main(int argc, char **argv)
{
	pthread_t t;
	(void)argv;
	box = calloc(1, sizeof(*box));
	pthread_create(&t, NULL, worker, argc > 1 ? &t : NULL);
	if (argc > 1)
		usleep(50000);
	box = NULL;
	pthread_join(t, NULL);
	return 0;
}
C
"$UNPLAIT" cc -g -O1 -pthread -o crash crash.c || exit 1
for i in $(seq 50); do # it nearly always crashes: the first run or the second
	unplait record -q --mode path -o path.plait -- ./crash slowly || break
done
is "$(unplait info path.plait | grep -c 'signal 11')" 1 "a path recording of a crash"

run 1 unplait solve path.plait -o fail.plait --dot fail.dot
has out "sat: an order that fails"
has out "confirmed by a native run"
has fail.dot "digraph order"
run 1 unplait replay fail.plait
run 0 unplait solve --pass path.plait
has out "sat: an order that passes"
has out "confirmed by a native run"
run 1 unplait solve --json path.plait
has out '"confirmed": true'
run 1 unplait solve --no-run path.plait
has out "unconfirmed"
run 1 unplait solve --reference path.plait
has out "published encoding: sat"

# The order of a hunted plait is not used, its paths are: a lost update.
"$UNPLAIT" cc -g -O1 -pthread -o bank "$CORPUS"/bank/*.c || exit 1
run 1 unplait hunt -q -o bank.plait -- ./bank
run 1 unplait solve bank.plait -o bank2.plait
has out "confirmed by a native run"
run 1 unplait replay bank2.plait
run 4 unplait solve --switches 1 bank.plait
has out "switches"

run 2 unplait solve
run 2 unplait solve --fail --pass path.plait
run 3 unplait solve nothing.plait
finish
