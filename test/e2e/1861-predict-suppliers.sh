#!/usr/bin/env bash
# A failure that needs one thread as in one run and another as in another: paths of different runs are put together, and
# what they promise is what a native run does, step by step.
# level: check
. "$(dirname "$0")/lib.sh"

field() { grep -o "\"$1\": [0-9]*" "$2" | tail -n 1 | sed 's/.*: //'; }

run 0 unplait cc -g -O0 -pthread -o exmcr "$CORPUS/exmcr/main.c"
run 0 unplait record --mode path -o pass.plait -- ./exmcr
run 1 unplait predict --no-explain --time 60 --json=found.json -o found.plait pass.plait
[ "$(field mixed found.json)" -gt 0 ] && ok "paths of different runs were put together" || not_ok "mixed" "$(field mixed found.json)"
is "$(field followed found.json)" "$(field native_runs found.json)" "every proposal ran as asked"
run 1 unplait replay found.plait
# one path per thread is lent
run 1 unplait predict --no-explain --traces 1 --time 60 --json=one.json -o '' pass.plait

# the cured twin: silent, and what is no run spoils no proof
run 0 unplait cc -g -O0 -pthread -DFIXED -o cured "$CORPUS/exmcr/main.c"
run 0 unplait record --mode path -o cured.plait -- ./cured
run 0 unplait predict --no-explain --time 20 -o '' cured.plait
has out "no failure predicted"
run 0 unplait cc -g -O0 -pthread -DFIXED -o fig51 "$CORPUS/fig51/main.c"
run 0 unplait record --mode path -o fig51.plait -- ./fig51
run 0 unplait predict --no-explain --time 60 -o '' fig51.plait
has out "with this input every run passes"
finish
