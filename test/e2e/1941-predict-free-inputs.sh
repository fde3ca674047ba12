#!/usr/bin/env bash
# The given input cannot fail; another can, and another schedule is needed with it. The cured twin stays silent.
# level: check
. "$(dirname "$0")/lib.sh"

for level in -O0 -O2; do
	run 0 unplait cc -g $level -pthread -o l41 "$CORPUS"/listing41/*.c
	run 0 unplait cc -g $level -pthread -DFIXED -o cured "$CORPUS"/listing41/*.c
	run 0 unplait predict --record 3 --no-explain -- ./l41
	has out "with this input every run passes" "$level: the given input is harmless"
	run 1 unplait predict --record 3 --free-inputs --no-explain -o f.plait -- ./l41
	has out "with the given input no failure was predicted" "$level: and that is said"
	has out "mode=Y" "$level: the variable"
	has out "deadlock:" "$level: the deadlock"
	run 1 unplait replay --times 20 f.plait
	has out "replayed 20 of 20 times" "$level: with its input"
	run 0 unplait predict --record 3 --free-inputs --no-explain -- ./cured
	has out "other inputs" "$level: cured, and others were tried"
done
run 1 unplait predict --record 3 --free-inputs --no-explain --json -o f.plait -- ./l41
is "$(grep -c '"other_input": *"mode=Y ./l41' out)" 1 "JSON names the input"
run 2 unplait predict --free-inputs f.plait
has err "Give it after --" "which program?"
# the given one is what it is about, if it can fail
run 0 unplait cc -g -O1 -pthread -o bank "$CORPUS"/account/*.c
run 1 unplait predict --record 5 --free-inputs --no-explain -o a.plait -- ./bank
hasnt out "with the given input" "the given input is asked about first"
finish
