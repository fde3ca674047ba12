#!/usr/bin/env bash
# record --mode sync: a debugger stops a thread between the record of a hand-over and its operation, or between an answer
# and its call's operation, and kills the program there. The log can be read, and is replayed to its end.
# level: check
. "$(dirname "$0")/lib.sh"
command -v gdb >/dev/null || { skip "a thread stopped behind its record" "no gdb"; finish; }
run 0 unplait cc -g -O2 -pthread -o stopped "$top/test/programs/sync-stopped.c"
stop() { # FOLDER PLACE SKIPPED THREAD: behind a return from the place; thread: how it calls its thread
	mkdir "$1"
	UNPLAIT_MODE=sync UNPLAIT_DIR=$PWD/$1 timeout 60 gdb -q -nx -batch -ex 'set pagination off' -ex 'set confirm off' \
		-ex 'set debuginfod enabled off' -ex 'set startup-with-shell off' -ex "break $2" -ex "ignore 1 $3" -ex run \
		-ex 'set scheduler-locking on' -ex "set \$synced = $4->synced" -ex 'printf "before: %lu\n", *$synced' -ex finish \
		-ex 'printf "behind: %lu\n", *$synced' -ex kill --args ./stopped >out 2>&1
	grep -qi 'ptrace: .*not permitted' out && { skip "a thread stopped behind its record" "no process may be traced here"; finish; }
	is "$(sed -n 's/^behind: //p' out)" "$(sed -n 's/^before: \([0-9]\)/\1/p' out)" "$1: stopped before the operation counts"
	grep -q '^behind: [0-9]' out || not_ok "$1: stopped at all" "$(tail -n 20 out)"
}
replay() { # FOLDER
	run 0 unplait seal -q -o "$1.plait" "$1"
	run 0 unplait replay "$1.plait" ./stopped
	has out "the recording ends here" "$1: replayed to the kill"
	has err "in attempt 1;"
}
for skipped in 0 1 2 3 20 57; do
	stop handover$skipped 'log_hand_over if at == *t->synced + 1' $skipped t
	replay handover$skipped
done
for skipped in 0 3; do
	stop answer$skipped 'pass_end if x->call == PLAIT_CALL_read' $skipped rt_self_
	replay answer$skipped
done
finish
