#!/usr/bin/env bash
# Every schedule of generated programs: the machine's search over states reaches the same outcomes as
# the native search over runs. 12 programs; SEEDS=N asks for more (check-long runs 0813).
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }

clang-19 -O1 -o threadgen "$top/test/gen/threadgen.c" || not_ok "the generator builds"
# the names of what was found: a number for each assertion, or the kind of failure
names() { sed -n 's/.*Assertion `v != \([0-9]*\).*/\1/p; s/.*assertion `v != \([0-9]*\).*/\1/p; s/^deadlock.*/deadlock/p' "$1" | sort -u; }
first=${FIRST_SEED:-1}
compared=0
for seed in $(seq "$first" $((first + ${SEEDS:-12} - 1))); do
	./threadgen "$seed" >p.c
	"$UNPLAIT" cc -w -O1 -g -pthread p.c -o p || { not_ok "program $seed builds"; continue; }
	timeout 60 "$UNPLAIT" sym schedules --all-errors --no-confirm ./p >states.txt 2>err
	rm -rf found
	timeout 60 "$UNPLAIT" hunt -q -s dfs -n 20000 --replays 0 --all -o "" ./p >runs.txt 2>err
	if ! grep -q "^explored everything" states.txt; then
		not_ok "program $seed is explored" "$(tail -3 states.txt)"
		continue
	fi
	names states.txt >states
	names runs.txt >runs
	# a native search that did not come to its end may know less, never more
	if [ "$(wc -l <runs.txt)" -gt 0 ] && ! grep -q "^20000 runs" runs.txt; then
		compared=$((compared + 1))
		same states runs "program $seed: $(wc -l <states) outcomes, $(sed -n 's/^explored everything: //p' states.txt)"
	else
		is "$(comm -13 states runs)" "" "program $seed: what runs find is among the $(wc -l <states) outcomes"
	fi
done
[ "$compared" -ge $((${SEEDS:-12} / 2)) ] && ok "most were compared in full" || not_ok "most were compared in full" "$compared"
finish
