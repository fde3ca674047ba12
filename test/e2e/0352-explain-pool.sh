#!/usr/bin/env bash
# A C++ program as people write them: a thread pool with futures, shared pointers and a map, 1 200 events a
# run, and three bugs of which two end in the same assertion. explain names the one that this schedule meets,
# finds that mending it helps, and says that it is not the only one.
# level: check
. "$(dirname "$0")/lib.sh"

cp "$top/test/programs/thread-pool.cpp" .
run 0 unplait c++ -std=c++17 -O1 -g -pthread -o thread-pool thread-pool.cpp
run 1 unplait hunt --all --seed 1 -n 500 ./thread-pool
assertion=$(ls failures/*.plait | while read -r f; do unplait info "$f" | grep -q 'outcome *assert' && echo "$f"; done | head -n 1)
lost=$(ls failures/*.plait | while read -r f; do unplait info "$f" | grep -q 'outcome *deadlock' && echo "$f"; done | head -n 1)

run 1 unplait explain -n 300 "$assertion"
check=$(grep -n 'all.find' thread-pool.cpp | cut -d: -f1)
insert=$(grep -n 'all\[n\] = s' thread-pool.cpp | cut -d: -f1)
has out "kind     atomicity"
has out "thread-pool.cpp:$check and" "the look-up begins the block"
has out "thread-pool.cpp:$((insert - 1)) " "the insertion ends it"
has out "failed in another way" "other bugs are not hidden"

run 1 unplait explain -n 100 "$lost"
has out "kind     lost-wakeup"
finish
