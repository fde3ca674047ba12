#!/usr/bin/env bash
# Every race of the corpus gets its verdict, for several seeds; both plaits replay; cured twins are silent.
# level: long
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/races.inc"

for entry in "$CORPUS"/race-*/; do
	name=$(basename "$entry")
	for seed in 1 2 3; do check_verdicts "$name" --seed "$seed"; done
	bad=0 n=0
	for plait in "$name.d"/*.plait; do
		[ -e "$plait" ] || continue
		n=$((n + 1))
		unplait replay --times 20 "$plait" >replayed 2>&1
		grep -q "replayed 20 of 20 times" replayed || bad=$((bad + 1))
	done
	is "$bad" 0 "$name: all $n plaits replay 20 of 20 times"
	unplait cc -g -pthread -DFIXED -o cured "$entry/main.c" 2>/dev/null
	timeout 600 "$UNPLAIT" races -n 400 -o "" ./cured >cured.out 2>&1
	is "$?" 0 "$name: the cured twin has status 0"
	has cured.out "0 races" "$name: the cured twin is silent in 400 schedules of each input"
done
finish
