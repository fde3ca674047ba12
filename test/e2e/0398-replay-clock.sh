#!/usr/bin/env bash
# A program that does more or less by the clock is replayed with the time that it had.
# level: check
. "$(dirname "$0")/lib.sh"

run 0 unplait cc -g -pthread -o clocked "$top/test/programs/clock-decides.c"
run 1 unplait hunt -s random --seed 1 -n 2000 -o fail.plait ./clocked
has out "balance == 2"
has out "replayed 5 of 5 times"
hasnt out "did not repeat"
hasnt err "differs"
run 1 unplait replay --times 20 fail.plait
has out "replayed 20 of 20 times"
finish
