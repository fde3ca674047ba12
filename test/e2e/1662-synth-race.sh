#!/usr/bin/env bash
# A crash by a race between plain accesses, from the stack alone: the order is found, and the shipped binary is directed into it.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

cat >race.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int value = 1, *volatile shared = &value;
static int slow;
/* the same instructions with and without naps */
static __attribute__((noinline)) void nap(int ms)
{
	if (slow)
		usleep(ms * 1000);
}
static void *writer(void *arg)
{
	int *old = shared;
	(void)arg;
#ifndef FIXED
	shared = NULL;
#endif
	nap(300);
	shared = old;
	return NULL;
}
static __attribute__((noinline)) void *reader(void *arg)
{
	nap(100);
	*(int *)arg += *shared;
	return NULL;
}
int main(void)
{
	pthread_t a, b;
	int sum = 0;
	slow = getenv("SLOW") != NULL;
	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, reader, &sum);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return sum == 0;
}
C
gcc -O2 -g -pthread -o shipped race.c
for try in $(seq 20); do # the naps may miss each other on a busy machine
	[ -f race.core ] || (SLOW=1 dump_of race.core ./shipped </dev/null >/dev/null 2>&1)
done
[ -f race.core ] && ok "a dump of the race" || not_ok "a dump of the race"
run 0 unplait cc -g -O0 -pthread -o race race.c
run 1 unplait synth --facts stack -o s.plait race.core ./race
has out "found by search"
has out "reader at"
has out "switches at the lines where the unplait build has them"
has out "confirmed in the unplait build and in the shipped binary"
run 1 unplait replay --times 3 s.plait
has out "replayed 3 of 3"
run 1 unplait replay --times 3 s.shipped.plait
has out "replayed 3 of 3"
# within one order of the threads nothing fails, which says nothing about the others
run 0 unplait cc -g -O0 -pthread -DFIXED -o cured race.c
run 4 unplait synth --facts stack --time 4 -o c.plait race.core ./cured
has out "not found"
[ ! -e c.plait ] && ok "the cured program leaves no plait" || not_ok "the cured program leaves no plait"
finish
