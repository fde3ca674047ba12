#!/usr/bin/env bash
# A lock whose memory is freed while a thread is about to take it: a use of freed memory, not a deadlock.
# level: quick
. "$(dirname "$0")/lib.sh"

for level in -O0 -O2; do
	run 0 unplait cc "$level" -g -pthread -o group "$top/test/programs/group-freed.c"
	run 1 unplait hunt --all --seed 1 -n 2000 ./group
	has out "memory that was freed"
	hasnt out "deadlock"
	run 0 unplait cc "$level" -g -pthread -DCURED -o cured "$top/test/programs/group-freed.c"
	run 0 unplait hunt --seed 1 -n 2000 ./cured
done
finish
