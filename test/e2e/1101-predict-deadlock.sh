#!/usr/bin/env bash
# Deadlocks from a run that went well: locks taken in another order, a signal before the wait. The cures: nothing.
# level: check
. "$(dirname "$0")/lib.sh"

for bug in sct-deadlock01 sct-dinphil sct-sync01 race-relock; do
	run 0 unplait cc -g -pthread -o "$bug" "$CORPUS/$bug/main.c"
	ok=0
	for i in 1 2 3 4 5 6 7 8; do # a plain run may deadlock, or pass without a wait
		unplait record --mode path --timeout 5 -o "$bug-$i.plait" -- "./$bug" >/dev/null 2>&1 && ok=1
	done
	is "$ok" 1 "$bug passes at least once"
	run 1 unplait predict --no-explain -o "$bug.plait" "$bug"-[1-8].plait
	has out "deadlock"
	has out "comes here at the same time"
	run 1 unplait replay "$bug.plait"
	run 0 unplait cc -g -pthread -DFIXED -o "$bug-fixed" "$CORPUS/$bug/main.c"
	run 0 unplait predict --record 2 --time 20 -o none.plait -- "./$bug-fixed"
	has out "no failure predicted"
done
finish
