#!/usr/bin/env bash
# From somebody else's report to a replay: logs of ThreadSanitizer and helgrind, recordings, std traces.
. "$(dirname "$0")/lib.sh"
fixtures=$top/test/e2e/fixtures/races

run 0 unplait cc -g -pthread -o counter "$CORPUS/race-counter/main.c"
run 1 unplait races --from "$fixtures/tsan.log" ./counter
has err "ThreadSanitizer has 2 races"
has err "1 report in" "the report that was cut off is counted"
has out "output-differs     count" "the reported race has its verdict"
has out "no shared access at main.c:999" "a line of another build is named, and the rest goes on"
hasnt out "dirty" "a race that the report does not have is not judged"
has out "leave out --from"
run 0 unplait replay --times 5 races/race-1-a.plait
has out "replayed 5 of 5 times"

run 0 unplait races --from "$fixtures/helgrind.xml" -o h.d ./counter
has out "k-witness-harmless dirty"
has err "without a source line"

# no search of ours: the accesses are met because the report names them
run 2 unplait races -n 0 ./counter
has err "without --from"
run 1 unplait races -n 0 --one-path --from "$fixtures/tsan.log" -o n.d ./counter
has out "output-differs     count"

run 0 unplait record -q -o one.plait -- ./counter
run 1 unplait races --from one.plait -o p.d ./counter
has out "output-differs"
unplait export -q --format std n.d/race-1-a.plait >one.std
run 1 unplait races --from one.std -o s.d ./counter
has out "output-differs"

# the whole way of somebody who uses ThreadSanitizer today
if clang-19 -g -fsanitize=thread -pthread -o null.tsan "$CORPUS/race-null/main.c" 2>/dev/null &&
	for i in 1 2 3 4 5; do setarch -R ./null.tsan >>null.log 2>&1; done; grep -q "WARNING: ThreadSanitizer: data race" null.log; then
	run 0 unplait cc -g -pthread -o null "$CORPUS/race-null/main.c"
	run 1 unplait races --from null.log -o null.d ./null
	has out "spec-violated" "the harmful one of ThreadSanitizer's reports is known"
	plait=$(sed -n 's/.*why: unplait explain //p' out | head -n 1)
	run 1 unplait replay --times 5 "$plait"
else
	skip "a log of our own" "this machine's clang has no ThreadSanitizer, or it saw no race"
fi

# bad input
: >empty
run 3 unplait races --from empty ./counter
printf 'nothing of the kind\n' >other
run 3 unplait races --from other ./counter
has err "neither a log of ThreadSanitizer"
printf 'T0|w(V0)|1\nT0|jump(V0)|1\n' >bad.std
run 3 unplait races --from bad.std ./counter
has err "line 2"
run 0 unplait record -q -m path -o path.plait -- ./counter
run 3 unplait races --from path.plait ./counter
run 3 unplait races --baseline other -n 1 ./counter
run 2 unplait races --try '$(id)' ./counter
run 3 unplait races --inputs ./nothing ./counter
finish
