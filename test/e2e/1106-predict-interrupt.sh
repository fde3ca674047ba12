#!/usr/bin/env bash
# Ctrl-C while predict searches: it says what it has, leaves nothing behind, and ends with status 4.
# level: check
. "$(dirname "$0")/lib.sh"

run 0 unplait cc -g -O1 -DFIXED -pthread -o bufwriter "$CORPUS/bufwriter/main.c"
run 0 unplait record --mode path -o run.plait -- ./bufwriter
mkdir tmp
TMPDIR=$PWD/tmp "$UNPLAIT" predict --time 600 --runs 1000000 -o '' run.plait >out 2>err &
pid=$!
for _ in $(seq 300); do # until it has begun to search
	[ -n "$(ls tmp)" ] && break
	sleep 0.1
done
sleep 1
kill -INT "$pid"
wait "$pid"
is "$?" 4 "status 4"
has out "interrupted"
is "$(ls tmp)" "" "nothing is left behind"
finish
