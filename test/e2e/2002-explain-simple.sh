#!/usr/bin/env bash
# explain: a simple block that is broken in every schedule that fails, and cures, comes before a long one that tells
# failing from passing schedules better: what does that is often long, and ends at the failure itself. In mozjsinterp the
# failure comes long after the mistake: between the two steps of a flush (cache.c).
# level: check
. "$(dirname "$0")/lib.sh"

line() { grep -n "BUG:$1\b" "$2" | head -n 1 | cut -d: -f1; }
cp "$CORPUS"/mozjsinterp/*.[ch] .
run 0 unplait cc -g -O2 -pthread -o moz main.c cache.c scope.c interp.c
last=$(line d cache.c)
for seed in 1 3 4; do
	run 1 unplait hunt -q --seed $seed -n 5000 -o moz.plait -- ./moz
	run 1 unplait explain -q -n 100 moz.plait
	tr -s ' \n' ' ' <out | sed 's/ kind .*//' >cause
	# the two sections of the flush, or its look at the flag and the write that comes too late
	if grep -q "begin at cache.c:$((last - 5)) and cache.c:$((last - 1))" cause ||
		grep -q "at cache.c:$((last - 4)) and its write to runtime::cache.empty at cache.c:$last" cause; then
		ok "seed $seed: the flush"
	else
		not_ok "seed $seed: the flush" "$(cat cause)"
	fi
	has cause "0 of 100 with it enforced"
	rm -f moz.plait
done
finish
