#!/usr/bin/env bash
# The stack of a failure names the functions that the place was inlined into.
# level: quick
. "$(dirname "$0")/lib.sh"

cp "$top/test/programs/inlined-crash.c" .
for level in -O0 -O2; do
	run 0 unplait cc "$level" -g -pthread -o crash inlined-crash.c
	run 1 unplait hunt --seed 1 -n 1000 ./crash
	has out "load at inlined-crash.c:13"
	has out "second at inlined-crash.c:23"
	has out "use at inlined-crash.c:28"
	hasnt out "first at"
done
finish
