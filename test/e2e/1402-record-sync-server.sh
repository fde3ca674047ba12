#!/usr/bin/env bash
# A server under load is recorded on all cores and killed with -9. It is replayed in another folder without a
# network, and stopped in gdb where the recording ends. One that crashes is replayed to its crash.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -g -O2 -pthread -o server "$top/test/programs/sync-server.c"
clang-19 -O2 -o client "$top/test/programs/sync-client.c"
alone=
unshare -n true 2>"$work/err" && alone="unshare -n"
mkdir other

serve() { # PLAIT REQUESTS [WORD]: record a server while a client talks to it, then kill it if it is still there
	rm -f port
	"$UNPLAIT" record --mode sync -o "$1" -- ./server >record.out 2>&1 &
	local recorder=$! i
	for ((i = 0; i < 300; i++)); do [ -e port ] && break; sleep 0.1; done
	timeout 60 ./client "$(cat port)" "$2" ${3:-}
	[ -n "${3:-}" ] || kill -9 $(pgrep -P $recorder)
	wait $recorder
	is $? 1 "the recording tells of the end ($1)"
}
serve other/killed.plait 300
has record.out "signal"
cd other || exit 3
run 0 $alone "$UNPLAIT" replay killed.plait ../server
has "$work/out" "the recording ends here"
run 0 $alone "$UNPLAIT" replay --times 3 killed.plait ../server
has "$work/out" "replayed 3 of 3"
if command -v gdb >"$work/gdb"; then
	run 0 $alone "$UNPLAIT" replay --gdb --gdb-command 'info threads' --gdb-command 'print counters[3]' killed.plait ../server
	has "$work/out" "the recording ends here" "gdb stops at the end"
	has "$work/out" 'name = "key'
else
	skip "under gdb" "there is no gdb"
fi
cd ..
serve crash.plait 50 crash
rm port
run 1 unplait replay crash.plait
has out "signal 11"
has out "answer at"
[ ! -e port ]
is $? 0 "a replay writes no file of the program"
run 0 unplait info crash.plait
has out "recorded in mode sync, pinned"
finish
