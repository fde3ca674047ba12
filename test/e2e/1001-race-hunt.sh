#!/usr/bin/env bash
# A hunt says in one line how many data races it saw and which command tells what they do; a cured program has no line.
# level: quick
. "$(dirname "$0")/lib.sh"

run 0 unplait cc -g -O1 -pthread -I "$CORPUS" -o counter "$CORPUS/race-counter/main.c"
run 0 unplait hunt --seed 1 -n 50 ./counter 'two words'
has out "data races seen: 2; what they do: unplait races -- ./counter 'two words'"
run 0 unplait hunt --seed 1 -n 50 --json ./counter
has out '"races": 2'
run 0 unplait hunt --seed 1 -n 50 -s dfs --json ./counter
has out '"races": 2' "a systematic search sees them, too"
run 0 unplait hunt --seed 1 -n 50 -j 2 --json ./counter
has out '"races": 2' "several jobs make no difference"
for gate in fiber futex; do
	run 0 unplait hunt --seed 1 -n 50 --gate $gate --json ./counter
	has out '"races": 2' "gate $gate"
done

run 0 unplait cc -g -O1 -pthread -DFIXED -I "$CORPUS" -o cured "$CORPUS/race-counter/main.c"
run 0 unplait hunt --seed 1 -n 300 ./cured
hasnt out "data races"
run 0 unplait hunt --seed 1 -n 300 --json ./cured
has out '"races": 0'
finish
