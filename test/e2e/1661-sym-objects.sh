#!/usr/bin/env bash
# An address that is one of two objects: every path is followed; a schedule that explore finds is carried out natively; --seconds ends it.
# level: check
. "$(dirname "$0")/lib.sh"

# at -O1 each branch becomes a choice between the addresses of two globals
cat >choice.c <<'C'
#include <stdio.h>
static int in[4], hit;
static unsigned derived;
int main(void)
{
	for (int i = 0; i < 4; i++)
		in[i] = getchar();
	if ((in[0] ^ 5) == ('a' ^ 5)) hit++; else derived += in[0] * 3;
	if ((in[1] ^ 7) == ('p' ^ 7)) hit++; else derived += in[1] * 3;
	if ((in[2] & 3) == ('a' & 3)) hit++; else derived += in[2] * 3;
	if (hit == 3) __builtin_trap();
	return derived > 1000000;
}
C
for o in -O0 -O1 -O2; do
	run 1 unplait sym explore --cflag $o --sym-stdin 4 choice.c
	has out "8 paths, 1 error" "$o"
	has out "printf 'ap" "$o"
	has out "native run: confirmed" "$o"
done
# inputs and a schedule: both are found, and the run is carried out
run 0 unplait cc -g -O0 -pthread -o listing "$CORPUS/listing41/main.c"
run 1 unplait sym explore --sym-stdin 1 --sym-env mode --sym-env-len 2 --preemptions 2 ./listing
has out "printf 'm' | mode=Y"
has out "native run: confirmed, deadlock, on the schedule found"
hasnt out "not confirmed"
# questions that Z3 has no answer to: the time is up inside of one (it once ran for 20 times as long)
gcc -o gen "$CORPUS/blib/gen.c"
mkdir b
./gen b 4 16 16 2 2 1 >answer
timeout 120 "$UNPLAIT" sym explore --cflag -O1 --cflag -pthread --sym-stdin 4 --preemptions 1 --seconds 3 --no-confirm b/main.c >out 2>err
status=$?
[ $status -ne 124 ] && ok "it ends" || not_ok "it ends"
[ $status -ne 0 ] && ok "and does not say that it was everything" || not_ok "and does not say that it was everything"
finish
