#!/usr/bin/env bash
# What differs between the failing run and the passing one, counted as in 000 table 5.4: events and flows (reads) of the
# failing run, and how many of them the explanation shows.
# level: check
. "$(dirname "$0")/lib.sh"

numbers() { tr -d ' \n' <found.json | grep -o "\"$1\":\[[0-9]*,[0-9]*\]" | head -n 1 | tr -dc '0-9,' | tr ',' ' '; }

run 0 unplait cc -g -O0 -pthread -o fig51 "$CORPUS/fig51/main.c"
run 0 unplait record --mode path -o pass.plait -- ./fig51
run 1 unplait predict --json=found.json -o found.plait pass.plait
unplait info --events found.plait >events
read -r all shown <<<"$(numbers flows)"
is "$all" "$(grep -cE ' (read|atomic-read|atomic-rmw) ' events)" "flows are the reads of the failing run"
[ "$shown" -gt 0 ] && [ "$shown" -lt "$all" ] && ok "fewer flows" || not_ok "fewer flows" "$shown of $all"
read -r all shown <<<"$(numbers events)"
[ "$shown" -gt 0 ] && [ "$shown" -lt "$all" ] && ok "fewer events" || not_ok "fewer events" "$shown of $all"
finish
