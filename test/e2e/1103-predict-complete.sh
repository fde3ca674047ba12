#!/usr/bin/env bash
# Generated programs: what predict finds, and "every run passes", agree with the search of every state. SEEDS=N asks for more.
# level: check
. "$(dirname "$0")/lib.sh"

clang-19 -O1 -o threadgen "$top/test/gen/threadgen.c" || not_ok "the generator builds"
found=0 missed=0 proved=0 open=0

check() { # SEED NUMBER: the program with one assertion left
	local name="program $1, v != $2" fails=0 st
	sed "/assert(v != /{/v != $2)/!d}" all.c >p.c
	"$UNPLAIT" cc -w -O1 -g -pthread p.c -o p || { not_ok "$name builds"; return; }
	timeout 60 "$UNPLAIT" sym schedules --all-errors --no-confirm ./p >states.txt 2>err
	grep -q "^explored everything" states.txt || { not_ok "$name is explored" "$(tail -3 states.txt)"; return; }
	grep -qE "ssertion|deadlock" states.txt && fails=1
	rm -f run-*.plait
	for i in 1 2; do timeout 20 "$UNPLAIT" record --timeout 5 --mode path -o "run-$i.plait" -- ./p >/dev/null 2>&1; done
	timeout 60 "$UNPLAIT" predict --no-explain --time 20 --json -o '' run-*.plait >predict.json 2>err
	st=$?
	if [ $st = 1 ]; then
		is $fails 1 "$name: predict finds a failure that there is"
		found=$((found + 1))
	elif grep -q '"exhausted": true' predict.json; then
		is $fails 0 "$name: every run passes, predict says"
		proved=$((proved + 1))
	elif [ $st = 0 ] && [ $fails = 1 ]; then
		missed=$((missed + 1))
	elif [ $st = 0 ]; then
		open=$((open + 1))
	elif [ $st != 3 ]; then # 3: every recorded run failed
		not_ok "$name: status $st" "$(cat err)"
	fi
}

first=${FIRST_SEED:-1}
for seed in $(seq "$first" $((first + ${SEEDS:-6} - 1))); do
	# shellcheck disable=SC2046
	./threadgen "$seed" $([ $((seed % 3)) = 0 ] || echo locks) >all.c
	"$UNPLAIT" cc -w -O1 -g -pthread all.c -o all
	timeout 60 "$UNPLAIT" sym schedules --all-errors --no-confirm ./all >all.txt 2>err
	values=$(sed -n 's/.*ssertion `v != \([0-9]*\).*/\1/p' all.txt | sort -un)
	check "$seed" "$(echo "$values" | tail -1)"
	check "$seed" "$(for v in $(seq 127 -1 0); do echo "$values" | grep -qx "$v" || { echo "$v"; break; }; done)"
done
echo "# failures found $found, missed without a claim $missed; proofs $proved, no failure and no proof $open"
[ $((found + proved)) -ge $(((missed + open) / 2)) ] && ok "most are decided" || not_ok "most are decided" "found $found missed $missed proved $proved open $open"
finish
