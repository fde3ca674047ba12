#!/usr/bin/env bash
# An order that was enforced and not kept is noted, in runs of a real program (unit tests of live_constraints).
# level: check
. "$(dirname "$0")/lib.sh"
unit=$(dirname "$UNPLAIT")/unit
[ -x "$unit" ] || { skip "constraints" "the unit tests are not built"; finish; }
cat >writes.c <<'C'
#include <pthread.h>
static int x, y;
static void *thread(void *p)
{
	y = x;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, thread, 0);
	x = 1;
	x = 2;
	x = 3;
	pthread_join(t, 0);
	return y > 3;
}
C
run 0 unplait cc -g -O0 -pthread -o writes writes.c
UNPLAIT_CONSTRAINED_PROGRAM=$PWD/writes run 0 "$unit" --filter 'live_constraints/*'
has err "Passing: 3"
finish
