#!/usr/bin/env bash
# The cured twins of the corpus' races stay silent over ten thousand schedules each.
# level: long
. "$(dirname "$0")/lib.sh"

for folder in "$CORPUS"/race-*/; do
	name=$(basename "$folder")
	run 0 unplait cc -g -O1 -pthread -DFIXED -I "$CORPUS" -o cured "$folder/main.c"
	unplait hunt --seed 1 -n 10000 -s random ./cured >out 2>err
	hasnt out "data races" "$name is silent"
	has out "10000 runs" "$name ran"
done
finish
