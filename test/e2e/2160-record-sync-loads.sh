#!/usr/bin/env bash
# record --mode sync: atomic loads that take no lock are in the recorded order. Programs made from seeds print what
# their atomics saw; each recording prints the same when it is replayed, in the first attempt.
# level: check
. "$(dirname "$0")/lib.sh"
SEEDS=${SEEDS:-4} STEPS=${STEPS:-12000}
run 0 unplait cc -g -O2 -pthread -o loads "$top/test/programs/sync-loads.c"
for seed in $(seq "$SEEDS"); do
	args="$seed $((2 + seed % 3)) $STEPS $((1 + seed * 5 % 7))"
	unplait record --mode sync -o "$seed.plait" -- ./loads $args >out 2>err || not_ok "loads $args is recorded" "$(cat err)"
	grep '^saw' out >first
	unplait replay --show-output "$seed.plait" >out 2>err || not_ok "loads $args is replayed" "$(tail -n 3 err)"
	grep '^saw' out err -h >again
	same again first "loads $args: every atomic saw the same again"
	has err "in attempt 1;"
done
finish
