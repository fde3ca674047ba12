#!/usr/bin/env bash
# Strategy surw finds, repeats itself and replays; a failure says what found it.
# level: quick
. "$(dirname "$0")/lib.sh"

run 0 unplait cc -g -O0 -pthread -o reorder "$CORPUS/sct-reorder/main.c"
run 1 unplait hunt -s surw --seed 3 -n 200 -o a.plait ./reorder
has out "(surw)"
has out "replayed 5 of 5 times"
run 1 unplait hunt --json -s surw --seed 3 -n 200 -o '' ./reorder
grep -v seconds out >first
run 1 unplait hunt --json -s surw --seed 3 -n 200 -o '' ./reorder
grep -v seconds out >second
same second first "the same seed gives the same hunt"

# cured: nothing to find, however evenly one looks
run 0 unplait cc -g -O0 -DFIXED -pthread -o cured "$CORPUS/sct-reorder/main.c"
run 0 unplait hunt -s surw --seed 3 -n 200 -o '' ./cured

run 0 unplait cc -g -O1 -pthread -o carter "$CORPUS/sct-carter01/main.c"
run 1 unplait hunt -s states --seed 1 -o '' ./carter
has out "(states): by the search of"
finish
