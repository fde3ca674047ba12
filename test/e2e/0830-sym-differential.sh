#!/usr/bin/env bash
# Generated programs: the machine prints what the native run prints. 200 programs; SEEDS=N asks for
# N files of 50 (check-long runs 0831).
# level: check
. "$(dirname "$0")/lib.sh"

clang-19 -O1 -o progen "$top/test/gen/progen.c" || not_ok "the generator builds"
first=${FIRST_SEED:-1}
last=$((first + ${SEEDS:-4} - 1))
agree=0
for seed in $(seq "$first" "$last"); do
	level=$((seed % 4)) # optimisation 0 to 3: vectors too
	./progen "$seed" 50 >p.c
	clang-19 -w -O$level -g -emit-llvm -c -o p.bc p.c && clang-19 -w -O$level -o p p.bc
	timeout 20 ./p >want
	if timeout 120 "$UNPLAIT" sym run p.bc >out 2>err && cmp -s out want; then
		ok "50 programs of seed $seed at -O$level agree"
		agree=$((agree + 50))
	else
		not_ok "50 programs of seed $seed at -O$level agree" "$(diff want out | head -5)" "$(head -5 err)" \
			"repeat: test/gen/progen $seed 50 >p.c; clang-19 -w -O$level -g -emit-llvm -c p.c; unplait sym run p.bc"
	fi
done
echo "# $agree of $((50 * (last - first + 1))) generated programs agree with their native runs (seeds $first to $last)"
finish
