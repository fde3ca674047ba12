#!/usr/bin/env bash
# Generated programs: what races calls a failure, a search over all states finds too; "proved" never beside a failure.
. "$(dirname "$0")/lib.sh"
cc -o threadgen "$top/test/gen/threadgen.c" || { not_ok "the generator builds"; finish; }
wrong=0 spec=0 proved=0 n=0
for seed in $(seq "${FIRST_SEED:-1}" $((${FIRST_SEED:-1} + ${SEEDS:-8} - 1))); do
	# every outcome of a generated program is a failure, and nothing races: here every other one passes, and all does
	./threadgen "$seed" | sed 's/\bassert(/check(/; s/atomic_int/volatile int/' >body.c || continue
	{
		echo '#include <stdlib.h>'
		echo '#define check(c) do { if (!(c) && __LINE__ % 2) abort(); } while (0)'
		cat body.c
	} >prog.c
	unplait cc -g -pthread -o prog prog.c 2>/dev/null || continue
	n=$((n + 1))
	timeout 60 "$UNPLAIT" races --one-path -n 12 --json -o "" ./prog >races.json 2>err
	timeout 60 "$UNPLAIT" sym schedules --no-confirm --all-errors ./prog >states 2>&1
	states=$?
	if grep -q '"verdict": "spec-violated"' races.json; then
		spec=$((spec + 1))
		[ $states -ne 0 ] || { wrong=$((wrong + 1)); not_ok "seed $seed: races sees a failure, the states do not"; }
	fi
	if grep -q '"proved": true' races.json; then
		proved=$((proved + 1))
		[ $states -eq 0 ] || { wrong=$((wrong + 1)); not_ok "seed $seed: proved, and the states have a failure"; }
	fi
done
is $wrong 0 "$n programs: $spec with a failing race, $proved proved harmless, none against the search over states"
finish
