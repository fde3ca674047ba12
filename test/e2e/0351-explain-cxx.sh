#!/usr/bin/env bash
# A flaky C++ test to its explanation: a cache that checks and fills in
# two critical sections.
# level: check
. "$(dirname "$0")/lib.sh"

cp "$top/test/programs/flaky-cache.cpp" .
run 0 unplait c++ -std=c++17 -O2 -g -pthread -o flaky-cache flaky-cache.cpp
run 1 unplait hunt --seed 1 -o fail.plait -- ./flaky-cache
run 1 unplait replay --times 10 fail.plait
run 1 unplait explain -n 100 fail.plait
has out "kind     atomicity"
check=$(grep -n 'lock_guard' flaky-cache.cpp | head -n 1 | cut -d: -f1)
fill=$(grep -n 'lock_guard' flaky-cache.cpp | tail -n 1 | cut -d: -f1)
tr -s ' \n' ' ' <out >text
has text "make the critical sections at flaky-cache.cpp:$check and flaky-cache.cpp:$fill one" "check and fill are the block"
hasnt text "stack 0" "locks have names"
has out "0 of 100"
hasnt out "/usr/" "no line of a system header is shown as a place"
finish
