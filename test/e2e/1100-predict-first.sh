#!/usr/bin/env bash
# A test that passes: predict finds the failure near its recording, runs it, and saves it.
# level: check
. "$(dirname "$0")/lib.sh"

for bug in account critical fig51; do
	run 0 unplait cc -g -pthread -o "$bug" "$CORPUS/$bug/main.c"
	run 0 unplait record --mode path -o "$bug-run.plait" -- "./$bug"
	run 1 unplait predict -o "$bug.plait" "$bug-run.plait"
	has out "Assertion"
	has out "predicted from $bug-run.plait"
	has out "replayed 5 of 5 times"
	run 1 unplait replay "$bug.plait"
	run 1 unplait predict --json -o '' "$bug-run.plait"
	has out '"confirmed": true'
	# the cured twin: nothing, whatever is asked
	run 0 unplait cc -g -pthread -DFIXED -o "$bug-fixed" "$CORPUS/$bug/main.c"
	run 0 unplait predict --record 2 --time 20 -o none.plait -- "./$bug-fixed"
	has out "no failure predicted"
	hasnt out "Assertion"
done
run 4 unplait predict --no-run account-run.plait
has out "proposals, none was run"
finish
