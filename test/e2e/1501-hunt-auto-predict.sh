#!/usr/bin/env bash
# auto asks a run that passed what was near it: a failure that sampling does not find is predicted.
# level: check
. "$(dirname "$0")/lib.sh"

run 0 unplait cc -g -pthread -o exmcr "$CORPUS/exmcr/main.c"
run 1 unplait hunt -n 300 -o found.plait ./exmcr
has out "(predict)"
has out "replayed 5 of 5 times"
run 1 unplait replay found.plait
cp out first
run 1 unplait hunt -n 300 -o again.plait --json=one.json ./exmcr
run 1 unplait hunt -n 300 -o again.plait --json=two.json ./exmcr
runs() { grep -o '"runs": [0-9]*' "$1" | head -n 1; }
is "$(runs one.json)" "$(runs two.json)" "same seed, same hunt"
# standard input from a file belongs to the hunt
echo text >input
"$UNPLAIT" hunt -n 300 -o found.plait ./exmcr <input >out 2>err
is $? 1 "standard input from a file"
"$UNPLAIT" hunt -s predict -o found.plait ./exmcr <input >out 2>err
is $? 1 "standard input from a file, strategy predict"
# without it
run 0 unplait hunt -s random -n 300 -o none.plait ./exmcr
# the cured twin
run 0 unplait cc -g -pthread -DFIXED -o fixed "$CORPUS/exmcr/main.c"
run 0 unplait hunt -n 300 -o none.plait ./fixed

# a small program is asked about at once: with a hundred threads, sampling needs some twenty schedules
run 0 unplait cc -g -pthread -o twostage "$CORPUS/sct-twostage/main.c"
for seed in 1 2 3; do
	run 1 unplait hunt --seed $seed --json=early.json -o early.plait ./twostage 100
	n=$(runs early.json | tr -dc 0-9)
	is "$([ "$n" -le 4 ] && echo yes)" yes "seed $seed: $n schedules"
done
run 1 unplait hunt -j 2 --seed 1 --json=one.json -o early.plait ./twostage 100
run 1 unplait hunt -j 2 --seed 1 --json=two.json -o early.plait ./twostage 100
is "$(runs one.json)" "$(runs two.json)" "two jobs: same seed, same hunt"
# -n holds, too
for n in 1 5 20; do
	run 0 unplait hunt -n $n --json=few.json -o none.plait ./fixed
	is "$(runs few.json | tr -dc 0-9)" $n "$n runs and no more"
done
finish
