#!/usr/bin/env bash
# Threads that spin on a plain variable, recorded in mode sync: nothing in the log says for whom they wait, and the
# replay still lets the others go on.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -g -O1 -w -pthread -I"$CORPUS" -o pingpong "$CORPUS/race-pingpong/main.c"
for i in 1 2 3; do
	run 0 unplait record -o "$i.plait" -- ./pingpong
	run 0 timeout 60 "$UNPLAIT" replay "$i.plait"
	has err "has its schedule now"
done
finish
