#!/usr/bin/env bash
# A dump of a process that hangs: who waits for whom comes from the mutexes, the schedule is found, the shipped binary agrees.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

slow_locks
for name in hawknl listing41 sqlite1672; do
	gcc -O2 -g -pthread -o "$name-shipped" "$CORPUS/$name/main.c"
	run 0 unplait cc -g -pthread -o "$name" "$CORPUS/$name/main.c"
done
stuck_dump_of hawknl.core ./hawknl-shipped </dev/null
run 1 unplait synth -o h.plait hawknl.core ./hawknl
has out "deadlock"
has out "nl_shutdown"
has out "nl_close"
has out "confirmed in the unplait build and in the shipped binary"
run 1 unplait replay --times 3 h.plait
has out "replayed 3 of 3"
run 1 unplait replay --times 20 h.shipped.plait
has out "replayed 20 of 20" "the shipped binary itself"
echo m >typed
mode=Yes stuck_dump_of listing.core ./listing41-shipped <typed
run 1 unplait synth -o l.plait listing.core ./listing41
has out "mode=Yes"
has out "2 bytes of standard input"
run 1 unplait replay l.plait
has out "deadlock"
# No switch at the places of the unplait build leads the shipped binary here, a hunt does: it must not wait until all of
# them were tried (343 runs then)
stuck_dump_of sqlite.core ./sqlite1672-shipped </dev/null
run 1 unplait synth --json=json -o q.plait sqlite.core ./sqlite1672
has json '"shipped": true'
runs=$(sed -n 's/.*"runs": \([0-9]*\).*/\1/p' json)
[ "$runs" -lt 200 ] && ok "the ways take turns" || not_ok "the ways take turns: $runs native runs"
# a process that is alive and well
sleep 60 &
gcore -o well $! >/dev/null 2>&1
kill $!
run 3 unplait synth well.$! ./hawknl
has err "nothing failed"
finish
