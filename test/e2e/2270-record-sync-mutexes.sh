#!/usr/bin/env bash
# record --mode sync: a mutex of any kind keeps its place in the recorded order, also when it was copied, made anew,
# or written over by a process that shares it. Threads print what they saw; a replay prints the same, in the first attempt.
# level: check
. "$(dirname "$0")/lib.sh"
SEEDS=${SEEDS:-3} STEPS=${STEPS:-1500}
run 0 unplait cc -g -O2 -pthread -o mutexes "$top/test/programs/sync-mutexes.c"
replays_alike() { # ARGS...
	unplait record --mode sync -o a.plait -- ./mutexes "$@" >out 2>err || not_ok "mutexes $* is recorded" "$(cat err)"
	grep '^saw' out >first
	unplait replay --show-output a.plait >out 2>err || not_ok "mutexes $* is replayed" "$(tail -n 3 err)"
	grep '^saw' out err -h >again
	same again first "mutexes $*: every thread saw the same again"
	has err "in attempt 1;"
	rm -rf a.plait
}
for seed in $(seq "$SEEDS"); do
	replays_alike "$seed" $((2 + seed % 3)) "$STEPS"
done
replays_alike 1 2 "$STEPS" fork
# In the recording the child has ended when input comes; in the replay input is there at once, and nobody can go on until
# the child has ended.
replays_alike 1 2 "$STEPS" slow < <(for round in 1 2 3; do sleep 0.6 && printf ab; done)
finish
