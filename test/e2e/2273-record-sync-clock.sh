#!/usr/bin/env bash
# A thread keeps a clock in a plain variable, and two others read it many times without a lock: a replay goes by the times in
# the log, and finds where each of them saw the clock move. No list of racing lines is needed. On a busy machine threads are
# interrupted anywhere, and some recordings are not found in time: two that need the times must be, of ten at most.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -g -O2 -pthread -o ticking "$top/test/programs/sync-clock.c"
found=0
for ((i = 0; i < 10 && found < 2; i++)); do
	run 0 unplait record -o r.plait -- ./ticking said
	timeout 6 "$UNPLAIT" replay r.plait >out 2>err || continue
	attempt=$(sed -n 's/.*in attempt \([0-9]*\);.*/\1/p' err)
	[ "${attempt:-1}" -eq 1 ] && continue
	found=$((found + 1))
	unplait export --format text r.plait | sed -n 's/.* lock  *locks\[\([01]\)\]\[\([01]\)\] .*/\1 \2/p' |
		awk '{ seen[$1] = seen[$1] $2 } END { print seen[0]; print seen[1] }' >again
	same again said "replayed in attempt $attempt: both saw what they had seen"
done
is $found 2 "two recordings were replayed by their times"
finish
