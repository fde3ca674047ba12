#!/usr/bin/env bash
# Signals that a handler takes, in mode sync: the handler runs in the replay where it ran in the recorded run, whatever
# the thread was waiting for, and every replay is the same.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -g -O2 -pthread -o server "$top/test/programs/sync-handlers.c"
for how in join pause sleep spin pipe post alarm raise; do
	mkdir $how
	: >$how.out
	UNPLAIT_MODE=sync UNPLAIT_DIR=$PWD/$how ./server $how >$how.out 2>err &
	pid=$!
	for i in $(seq 200); do
		grep -q ready $how.out && break
		sleep 0.05
	done
	sleep 0.1
	kill $pid
	wait $pid
	is $? 0 "$how: the server has ended as it does by itself"
	run 0 unplait seal -o $how.plait $how
	run 0 unplait replay --show-output $how.plait ./server $how
	hasnt err "It ends where a signal came"
	grep rounds $how.out >recorded
	grep rounds err >replayed
	same replayed recorded "$how: as many rounds and alarms"
	run 0 unplait replay --times 3 $how.plait ./server $how
	has out "replayed 3 of 3"
done
finish
