#!/usr/bin/env bash
# explain: what is broken next to the failure may be a consequence; a block on other objects that was
# broken before, in every schedule that failed, is told too. And two variables that are crossed in
# two steps of two threads, whose lines are copies of an inlined helper.
# level: check
. "$(dirname "$0")/lib.sh"

line() { grep -n "BUG:$1\b" "$2" | head -n 1 | cut -d: -f1; }

# two threads in a critical region: the assertion is about `inside`, the mistake about `owner`
cp "$CORPUS/critical/main.c" .
run 0 unplait cc -g -O2 -pthread -o critical main.c
run 1 unplait hunt --seed 1 -o critical.plait -- ./critical
run 1 unplait explain -n 100 critical.plait
tr -s ' \n' ' ' <out >flat
has flat "It may be the root: make main.c:$(line a main.c) to main.c:$(line b main.c) atomic"
has flat "With that enforced 0 of 100 schedules fail"
for m in a b c d; do
	has out "main.c:$(line $m main.c)" "critical: mark $m is shown"
done
run 1 unplait explain -n 50 --json=critical.json --html=critical.html critical.plait
has critical.json '"earlier":'
has critical.html "It may be the root"

# its cure has no earlier block to tell of: nothing fails
run 0 unplait cc -g -O2 -pthread -DFIXED -o cured main.c
run 0 unplait hunt -n 300 -- ./cured

# nothing came before a lost update
cp "$CORPUS/account/main.c" account.c
run 0 unplait cc -g -O2 -pthread -o account account.c
run 1 unplait hunt --seed 1 -o account.plait -- ./account
run 1 unplait explain -n 100 account.plait
hasnt out "earlier"

cp "$CORPUS"/mozjsinterp/*.[ch] . && rm main.c && cp "$CORPUS/mozjsinterp/main.c" .
run 0 unplait cc -g -O1 -pthread -o moz main.c cache.c scope.c interp.c
run 1 unplait hunt --seed 2 -o moz.plait -- ./moz
run 1 unplait explain -n 100 moz.plait
tr -s ' \n' ' ' <out >flat
hasnt flat "cache.fills" "the counter has nothing to do with it"
for m in a b c; do
	has out "cache.c:$(line $m cache.c)" "mozjsinterp: mark $m is shown"
done
finish
