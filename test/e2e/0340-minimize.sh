#!/usr/bin/env bash
# minimize: a noisy failing schedule of the bank program becomes a few switches, and fails the same way.
# level: check
. "$(dirname "$0")/lib.sh"

cp "$CORPUS"/bank/main.c .
run 0 unplait cc -g -O2 -pthread -o bank main.c
run 1 unplait hunt --strategy random --seed 1 -o fail.plait -- ./bank
run 1 unplait minimize -o small.plait --json fail.plait
switches=$(sed -n 's/.*"switches": \([0-9]*\).*/\1/p' out)
if [ "${switches:-99}" -le 6 ]; then ok "at most 6 switches are left"; else not_ok "at most 6 switches are left" "$switches"; fi
has out '"same": 5'
run 1 unplait replay --times 20 small.plait
has out "replayed 20 of 20 times"
run 3 unplait minimize no-such.plait
finish
