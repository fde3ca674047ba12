#!/usr/bin/env bash
# explain: the ground truth of bugs that need more than the nearest inversion. A check outside the lock and the
# act inside (the block gives way to the holder of the lock), two variables that belong together, a passing
# schedule that hides one error behind another, critical sections that should be one; judged by output.
# level: check
. "$(dirname "$0")/lib.sh"

line() { grep -n "BUG:$1\b" "$2" | head -n 1 | cut -d: -f1; }
bug() { # NAME KIND FILE MARKS...: kind named, all marks shown, nothing fails with the advice
	local name=$1 kind=$2 file=$3 m
	shift 3
	mkdir "$name" && cp "$CORPUS/$name"/*.[ch] "$name" && cd "$name" || exit 3
	run 0 unplait cc -g -O2 -pthread -o "$name" ./*.c
	run 1 unplait hunt --seed 1 -o fail.plait -- "./$name"
	run 1 unplait explain -n 100 fail.plait
	has "$work/out" "kind     $kind"
	for m; do
		has "$work/out" "$file:$(line "$m" "$file")" "$name: mark $m is shown"
	done
	has "$work/out" "0 of 100" "$name: nothing fails with the advice"
	hasnt "$work/out" "failed 0 of" "$name: it is the same failure that shows without"
	cd ..
}
bug airline atomicity main.c a b
bug bbuf atomicity main.c a b c
bug crasher atomicity main.c a b c
bug cache4j multi-variable cleaner.c a b c

mkdir c && cp "$CORPUS/race.h" . && cp "$CORPUS/race-counter/main.c" c
run 0 unplait cc -g -O2 -pthread -o counter c/main.c
echo "4 1" >expected
run 1 unplait hunt --expect expected -o fail.plait -- ./counter
run 1 unplait explain -n 50 fail.plait
has out "kind     atomicity"
finish
