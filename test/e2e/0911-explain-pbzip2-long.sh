#!/usr/bin/env bash
# The published way from end to end: pbzip2 crashes in an ordinary run of which only the paths were recorded.
# level: long
. "$(dirname "$0")/lib.sh"

"$UNPLAIT" cc -g -O1 -pthread -o pbzip2 "$CORPUS"/pbzip2/*.c || exit 1
for i in $(seq 3000); do # about one run in fifty crashes
	unplait record -q --mode path -o path.plait -- ./pbzip2 >/dev/null || break
done
is "$(unplait info path.plait | grep -c 'signal 11')" 1 "a path recording of the crash"
run 1 unplait solve path.plait -o fail.plait
has out "confirmed by a native run"
run 1 unplait replay fail.plait
run 1 unplait explain path.plait --runs 0
has out "by constraints"
has out "BUG:a" "the queue's lock is taken away"
has out "BUG:b" "while a consumer needs it"
has out "the passing schedule was run too"
finish
