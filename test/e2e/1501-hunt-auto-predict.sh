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
finish
