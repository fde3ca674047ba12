#!/usr/bin/env bash
# record --mode sync has the program's own atomics and futexes in its order: C and C++, with and without
# optimisation, and objects for hunting alone, whose hooks record them.
# level: check
. "$(dirname "$0")/lib.sh"
again() {
	for i in 1 2 3; do
		unplait record --mode sync -o "$2$i.plait" -- "$1" >"$2.out" 2>"$2.err" ||
			not_ok "$1 is recorded"
		run 0 unplait replay --show-output "$2$i.plait"
		grep '^[a-z0-9 ]*$' "$2.out" >order
		grep '^[a-z0-9 ]*$' err >again
		same again order "$1, run $i: the same order again"
		has err "in attempt 1;"
	done
}
for level in 0 2; do
	run 0 unplait cc -g -O$level -pthread -o "c$level" "$top/test/programs/sync-atomics.c"
	again "./c$level" "c$level"
	run 0 unplait c++ -std=c++20 -g -O$level -pthread -o "cc$level" "$top/test/programs/sync-atomics.cc"
	again "./cc$level" "cc$level"
done
UNPLAIT_VARIANTS=control run 0 unplait cc -g -O2 -pthread -o hooks "$top/test/programs/sync-atomics.c"
again ./hooks hooks

# a failing run fails again, and is explained
for i in $(seq 50); do
	unplait record --mode sync -o fail.plait -- ./c2 check >out 2>err
	[ $? -eq 1 ] && break
done
run 1 unplait replay fail.plait
has out 'strcmp(order'
run 1 unplait replay --times 5 fail.plait
has out "replayed 5 of 5"

# without a place for the atomics, the recording says so
run 0 unplait cc -g -O2 -pthread -Wl,--gc-sections -o gc "$top/test/programs/sync-atomics.c"
run 0 unplait record --mode sync -o gc.plait -- ./gc
run 0 unplait info gc.plait
has out "its atomics are not in the order of mode sync"
finish
