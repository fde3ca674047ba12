#!/usr/bin/env bash
# Signals from outside, in mode sync: one that a thread waits for is an input like any other; a handler runs where it
# ran in the recorded run (1923 has more of them).
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -g -O2 -pthread -o server "$top/test/programs/sync-signal.c"
record() { # HOW: until it is told to end
	mkdir "$1"
	UNPLAIT_MODE=sync UNPLAIT_DIR=$PWD/$1 ./server "$1" >"$1.out" 2>err &
	pid=$!
	for i in $(seq 200); do
		grep -q ready "$1.out" && break
		sleep 0.05
	done
	sleep 0.1
	kill $pid
	wait $pid
	is $? 0 "$1: the server has ended as it does by itself"
	run 0 unplait seal -o "$1.plait" "$1"
}
record wait
run 0 unplait replay --show-output wait.plait ./server wait
has err "in attempt 1;"
hasnt err "a signal came"
grep rounds wait.out >recorded
grep rounds err >replayed
same replayed recorded "wait: as many rounds and turns"

record handler
run 0 unplait replay --show-output handler.plait ./server handler
hasnt err "a signal came"
grep rounds handler.out >recorded
grep rounds err >replayed
same replayed recorded "handler: as many rounds and turns"
run 0 unplait replay --times 3 handler.plait ./server handler
has out "replayed 3 of 3"
finish
