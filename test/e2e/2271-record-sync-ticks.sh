#!/usr/bin/env bash
# Handlers that ran inside of critical sections, in mode sync: each runs again, in the replay that looks for the order
# and in every one that follows, and none is lost for those before it.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -g -O1 -pthread -o ticks "$top/test/programs/sync-ticks.c"
run 0 unplait record --mode sync -o a.plait -- ./ticks
grep '^saw' out err -h >recorded
grep -q 'ticks 0 0' recorded && not_ok "the timer has ticked" "$(cat recorded)"
for i in 1 2; do
	run 0 unplait replay --show-output a.plait
	grep '^saw' out err -h >replayed
	same replayed recorded "replay $i: as many ticks in each thread"
done
finish
