#!/usr/bin/env bash
# explain: a failing schedule of a corpus bug to its ground truth, as a user types it.
# level: check
. "$(dirname "$0")/lib.sh"

cp "$CORPUS"/pbzip2/*.[ch] .
run 0 unplait cc -g -O2 -pthread -o pbzip2 main.c queue.c output.c rle.c
run 1 unplait hunt -s pct --seed 1 -o fail.plait -- ./pbzip2
run 1 unplait explain -n 100 --html page.html --dot graph.dot fail.plait
cp out text
# what ends the queue and who still uses it: memory that is freed there, or the pointer that is cleared
if grep -q "queue.c:2[79]" text; then ok "the teardown is shown"; else not_ok "the teardown is shown" "$(cat text)"; fi
if grep -q "queue.c:5[68]\|queue.c:65" text; then ok "the use is shown"; else not_ok "the use is shown" "$(cat text)"; fi
if grep -q "kind     \(order\|use-after-free\|destroyed-lock\)" text; then ok "its kind"; else not_ok "its kind"; fi
has text "5 of 5 replays fail the same way"
has text "0 of 100"
has page.html "<!doctype html>"
has graph.dot "digraph"
run 1 unplait explain -n 0 --json fail.plait
has out '"confirmed": true'
widest=$(grep -v "^  cause\|^advice" text | LC_ALL=C.UTF-8 wc -L)
if [ "$widest" -le 100 ]; then ok "the schedules fit 100 columns"; else not_ok "the schedules fit 100 columns" "$widest"; fi

run 2 unplait explain
run 3 unplait explain no-such.plait
echo garbage >bad.plait
run 3 unplait explain bad.plait
finish
