#!/usr/bin/env bash
# Inline assembly that threads talk through becomes what it means: the same results in every mode, accesses
# that hunt can schedule, code that the symbolic machine can run. What stays assembly still has its accesses.
# level: check
. "$(dirname "$0")/lib.sh"

cp "$top"/test/programs/assembly*.c .
gcc -O1 -o plain assembly.c && ./plain >want
for o in -O0 -O2; do
	run 0 unplait cc $o -g -pthread -o assembly assembly.c
	./assembly >got
	same got want "plain variant, $o"
	for mode in path full; do
		unplait record --mode $mode -o $mode.plait -- ./assembly >got.$mode 2>/dev/null
		grep -v '^path.plait\|^full.plait' got.$mode >got
		same got want "mode $mode, $o"
	done
done

for odd in "" -DODD; do
	run 0 unplait cc -O1 -g -pthread $odd -o lock assembly-lock.c
	run 1 unplait hunt --time 60 -o fail.plait ./lock
	has out "count == 2" "hunt finds it ${odd:-raised}"
	run 1 unplait explain -n 100 fail.plait
	has out "which belong together" "and explain its cause ${odd:-raised}"
	run 0 unplait cc -O1 -g -pthread $odd -DFIXED -o cured assembly-lock.c
	run 0 unplait hunt -n 500 --time 60 ./cured
done
run 0 unplait cc -O1 -g -pthread -DFIXED -o cured assembly-lock.c
run 0 unplait sym run ./cured
finish
