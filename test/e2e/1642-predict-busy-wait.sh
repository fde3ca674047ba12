#!/usr/bin/env bash
# Busy waits: rounds that change nothing are left out, and that rules a proof out.
# level: check
. "$(dirname "$0")/lib.sh"

run 0 unplait cc -g -O1 -pthread -o spin "$top/test/programs/predict-spin.c"
for _ in $(seq 10); do # on a busy machine main may sleep through the worker's nap
	run 0 unplait record --mode path -o run.plait -- ./spin
	run 0 unplait predict --no-explain --time 30 --runs 5 -o '' run.plait
	grep -q "rounds of busy waiting" out && break
done
has out "no failure predicted"
has out "rounds of busy waiting"
hasnt out "every run passes"
# no time at all
run 0 unplait predict --no-explain --time 0.01 -o '' run.plait
has out "within the budget"
finish
