#!/usr/bin/env bash
# Many recordings: equal ones are followed once, others only when they are needed; how many took the path is told.
# level: check
. "$(dirname "$0")/lib.sh"

run 0 unplait cc -g -pthread -o fig51 "$CORPUS/fig51/main.c"
run 0 unplait record --mode path -o one.plait -- ./fig51
mkdir runs
for i in $(seq 300); do cp one.plait "runs/$i.plait"; done
run 1 unplait predict --no-explain --json=found.json -o found.plait runs
is "$(grep -c '"paths": 1' found.json)" 1 "one path"
run 1 unplait replay found.plait
# a cured program has to look at all of them
run 0 unplait cc -g -pthread -DFIXED -o cured "$CORPUS/fig51/main.c"
run 0 unplait record --mode path -o two.plait -- ./cured
mkdir runs2
for i in $(seq 300); do cp two.plait "runs2/$i.plait"; done
run 0 unplait predict --no-explain --time 120 --json=none.json -o '' runs2
is "$(grep -c '"recordings": 300' none.json)" 1 "all recordings count"
is "$(grep -c '"paths": 1,' none.json)" 1 "of one path"
run 0 unplait predict --no-explain --record 5 --time 20 -o '' -- ./cured
has out "no failure predicted"
finish
