#!/usr/bin/env bash
# An optimiser makes a load part of the next statement: the dump names another line than the unplait build fails at.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"
cat >early.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct job {
	int number, state;
};
static struct job first = { 1, 2 }, *job;
static void *work(void *arg)
{
	puts("begin");
	int state = job->state;
	printf("state %d\n", state);
	return arg;
}
int main(void)
{
	pthread_t t;
#ifdef FIXED
	job = &first;
#endif
	pthread_create(&t, NULL, work, NULL);
	while (getenv("SLOW")) /* for the dump */
		usleep(1000);
	job = &first;
	pthread_join(t, NULL);
	return 0;
}
C
gcc -O2 -g -pthread -o shipped early.c
SLOW=1 dump_of early.core ./shipped </dev/null
run 0 unplait cc -g -O0 -pthread -o early early.c
run 1 unplait synth --facts stack -o s.plait early.core ./early
has out "confirmed in the unplait build and in the shipped binary"
run 1 unplait replay --times 3 s.shipped.plait
has out "replayed 3 of 3"
run 0 unplait cc -g -O0 -pthread -DFIXED -o cured early.c
"$UNPLAIT" synth --facts stack --time 4 -o c.plait early.core ./cured >out 2>&1
is "$(($? == 1))" 0 "the cured program does not fail so"
[ ! -e c.plait ] && ok "and leaves no plait" || not_ok "and leaves no plait"
finish
