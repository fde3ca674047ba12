#!/usr/bin/env bash
# A library call with two arguments in shared memory returns a place in one of them; the program links and runs.
# level: quick
. "$(dirname "$0")/lib.sh"

for level in -O0 -O2; do
	run 0 unplait cc "$level" -g -pthread -o found "$top/test/programs/found-between.c"
	run 0 unplait hunt -n 100 --seed 1 ./found
	has out "no failure in 100 runs"
done
finish
