#!/usr/bin/env bash
# record --mode sync: a write that comes between a load without a lock and the load's note is in the order, too. A
# debugger stops the load there, and lets the writer pass. The reader says it when it comes to the word again; if it
# never does, sealing finds it in the reader's cells. Without them, the replay sees another value.
# level: check
. "$(dirname "$0")/lib.sh"
command -v gdb >/dev/null || { skip "a load that is noted late" "no gdb"; finish; }
run 0 unplait cc -g -O2 -pthread -o late "$top/test/programs/sync-late.c"
record() { # HOW, into the folder HOW
	mkdir "$1"
	UNPLAIT_MODE=sync UNPLAIT_DIR=$PWD/$1 timeout 60 gdb -q -nx -batch -x "$top/test/programs/sync-late.gdb" --args ./late "$1" >out 2>&1
	grep -qi 'ptrace: .*not permitted' out && { skip "a load that is noted late" "no process may be traced here"; finish; }
	[ "$(grep -c 'hit Temporary breakpoint' out)" -eq 4 ] && grep -o 'saw [0-9], later [0-9]' out >"$1.saw" || not_ok "$1: the load was stopped" "$(cat out)"
}
replay() { # HOW: what the load sees again
	unplait seal -q -o "$1.plait" "$1" >out 2>err || not_ok "$1: the log can be read" "$(cat err)"
	unplait export --format text "$1.plait" >events
	unplait replay --show-output "$1.plait" ./late "$1" >out 2>err || not_ok "$1: replayed" "$(cat out err)"
	grep -ho 'saw [0-9], later [0-9]' out err >"$1.again"
}

record again
has again.saw "saw 0, later 1"
rm again/c00001
replay again
has events "came-before" "the reader has said it"
same again.again again.saw "the load comes before the write again"

record never
has never.saw "saw 0, later 0"
replay never
has events "came-before" "sealing has said it"
same never.again never.saw "the load comes before the write again, by its cell"
rm never/c00001
replay never
hasnt events "came-before"
has never.again "saw 1, later 0" "without the cell, the load comes too late"
finish
