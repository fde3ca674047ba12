#!/usr/bin/env bash
# Failures that hang on recorded positions in arrays, and on a look in the middle of an update: from one recording each.
# level: check
. "$(dirname "$0")/lib.sh"

for bug in bufwriter sct-fsbench sct-worksteal; do
	run 0 unplait cc -g -O1 -pthread -o "$bug" "$CORPUS/$bug/main.c"
	for i in $(seq 40); do # a plain run may fail
		unplait record --mode path -o "$bug.plait" -- "./$bug" >/dev/null 2>&1 && break
	done
	run 1 unplait predict --no-explain --time 120 --runs 20 -o found.plait "$bug.plait"
	has out "Assertion"
	has out "replayed 5 of 5 times"
	run 1 unplait replay found.plait
	run 0 unplait cc -g -O1 -pthread -DFIXED -o "$bug-cured" "$CORPUS/$bug/main.c"
	run 0 unplait predict --record 1 --no-explain --time 6 -o '' -- "./$bug-cured"
	has out "no failure predicted"
done
finish
