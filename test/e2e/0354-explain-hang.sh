#!/usr/bin/env bash
# explain: a loop that some schedules never leave. Each failing run takes its whole budget; of fifty million events
# with hardly a switch only the beginning is looked at, so that memory and time stay small.
# level: check
. "$(dirname "$0")/lib.sh"
mkdir c && cp "$CORPUS/race.h" . && cp "$CORPUS/race-countdown/main.c" c
run 0 unplait cc -g -O2 -pthread -o countdown c/main.c
run 1 unplait hunt -n 50 -o hang.plait -- ./countdown
ulimit -d 500000
run 1 unplait explain -n 20 hang.plait
has out "budget is used up"
has out "kind     atomicity"
has out "0 of 20"
finish
