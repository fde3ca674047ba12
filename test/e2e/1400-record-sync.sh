#!/usr/bin/env bash
# record --mode sync writes the order of synchronisation; a replay has the same order, and a failing run fails
# again: it gets a schedule, so that explain and minimize take it.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -g -O2 -pthread -o account "$top/test/programs/sync-account.c"
for i in 1 2 3; do
	run 0 unplait record --mode sync -o "$i.plait" -- ./account
	grep '^[ab]* [0-9]*$' out >"order.$i"
	run 0 unplait replay --show-output "$i.plait"
	grep '^[ab]* [0-9]*$' err >"again.$i"
	same "again.$i" "order.$i" "run $i has the same order again"
done
run 0 unplait info 1.plait
has out "recorded in mode sync, pinned"
# on a busy machine its threads may run one after the other
for _ in $(seq 40); do
	"$UNPLAIT" record -q --mode sync -o fail.plait -- ./account check >out 2>err || break
done
run 0 unplait info fail.plait
has out "assert"
run 1 unplait replay fail.plait
has out "2 * ROUNDS"
has err "has its schedule now"
run 1 unplait replay --times 5 fail.plait
has out "replayed 5 of 5"
run 1 unplait explain --runs 100 fail.plait
has out "between two critical sections"
run 1 unplait minimize -o small.plait fail.plait
has out "replayed 5 of 5"
finish
