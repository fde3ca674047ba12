#!/usr/bin/env bash
# hunt: threads that wait busily, and yield, while a wish or a low priority holds back the one they wait for: every run
# must end soon. Counted in events, not in seconds.
. "$(dirname "$0")/lib.sh"

run 0 unplait cc -w -g -O1 -pthread -DFIXED -o cured "$top/corpus/garage/main.c"
for s in rf pos pct:3 random; do
	run 0 timeout 120 "$UNPLAIT" hunt -s $s -n 150 --seed 1 -o '' --json ./cured
	events=$(sed -n 's/^ *"\(events\|steps\)": \([0-9]*\),*$/\2/p' out | head -n 1)
	[ "${events:-0}" -gt 0 ] && [ "$events" -lt 900000 ]
	is $? 0 "$s: 150 runs in fewer than 900000 events ($events)"
done
finish
