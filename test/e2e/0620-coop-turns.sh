#!/usr/bin/env bash
# Mode order: a vector is the order in which the accesses really were, also where threads keep an element's lock.
. "$(dirname "$0")/lib.sh"

UNPLAIT_VARIANTS=order unplait cc -g -O1 -pthread -I"$top/include" -o turns "$top/test/programs/coop/turns.c" || not_ok "build"
for i in 1 2 3; do
	for _ in 1 2 3 4 5 6; do # until the threads met often enough; every run must fit
		rm -rf dir$i
		mkdir dir$i
		run 0 env UNPLAIT_MODE=order UNPLAIT_DIR="$work/dir$i" timeout 60 ./turns run seen$i
		run 0 ./turns check seen$i dir$i
		has out "0 reads that do not fit"
		grep -q "many reads" out && break
	done
	has out "480000 accesses, many reads of another's write, 0 reads that do not fit"
done
# a link that drops unused sections has no order variant: the hooks of the full one do it
UNPLAIT_VARIANTS=order unplait cc -g -O1 -pthread -ffunction-sections -Wl,--gc-sections -I"$top/include" -o turns2 "$top/test/programs/coop/turns.c" || not_ok "build"
nm turns | grep -q 'plait\.order$' && ! nm turns2 | grep -q 'plait\.order$' && ok "one has an order variant, the other has not" || not_ok "order variant"
mkdir dir4
run 0 env UNPLAIT_MODE=order UNPLAIT_DIR="$work/dir4" timeout 60 ./turns2 run seen4
run 0 ./turns2 check seen4 dir4
has out "480000 accesses"
has out "0 reads that do not fit"
# a crash in a recorded access is the function's that made it, recorded or replayed
unplait cc -g -O1 -pthread -o crash "$top/test/programs/coop/crash.c" || not_ok "build"
run 1 unplait coop record --share 100% -n 2 -o crashes -- ./crash
run 0 unplait coop stats crashes/*.plait
has out "signal 11 in victim"
run 1 unplait coop merge crashes/*.plait -o crash.plait -- ./crash
has out "signal 11 in victim"
# the check can fail: the reads of one run against the order of another
run 1 ./turns check seen1 dir2
finish
