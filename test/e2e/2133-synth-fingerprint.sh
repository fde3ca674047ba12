#!/usr/bin/env bash
# A fingerprint of watch as crumb: of many moments with the dump's stack, the one with the right outer locks is taken.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

slow_locks
gcc -O2 -g -pthread -o nest "$top/test/e2e/fixtures/crumbs/nest.c"
for try in $(seq 20); do
	rm -rf fp
	(ulimit -c unlimited; NAP=$((20 * try)) UNLOCK_NAP=0 LD_PRELOAD=$work/slow.so timeout 60 "$UNPLAIT" watch -q -o fp --on-deadlock abort ./nest >/dev/null 2>&1)
	for core in core core.*; do [ ! -f "$core" ] || mv "$core" core.nest; done
	[ ! -f core.nest ] || break
done
if [ ! -f core.nest ]; then
	skip "fingerprints" "the kernel leaves no core here"
	finish
fi
run 0 unplait cc -g -O0 -pthread -o prog "$top/test/e2e/fixtures/crumbs/nest.c"
run 1 unplait synth --time 60 --json=without -o s.plait core.nest ./prog
run 1 unplait synth -v --time 60 --json=with --crumbs fp/*.json -o s.plait core.nest ./prog
has with "the fingerprint says where the waiting threads took their locks"
has err "steer: 1 of 4 moments hold the locks of the fingerprint"
runs() { sed -n 's/.*"runs": \([0-9]*\).*/\1/p' "$1"; }
[ "$(($(runs with) * 3))" -lt "$(runs without)" ] && ok "fewer runs" || not_ok "fewer runs" "$(runs with) with, $(runs without) without"
run 1 unplait replay --times 3 s.plait
# of another build, of another program, of another deadlock
sed 's/"build_id": "[0-9a-f]*"/"build_id": "0123"/' fp/*.json >build.json
run 3 unplait synth --time 5 --crumbs build.json -o n.plait core.nest ./prog
has err "it is of another build of nest"
sed 's/nest"/other"/' fp/*.json >other.json
run 3 unplait synth --time 5 --crumbs other.json -o n.plait core.nest ./prog
has err "a fingerprint of another program"
sed 's/"line": [0-9]*/"line": 7/' fp/*.json >lines.json
run 1 unplait synth --time 60 --crumbs lines.json -o n.plait core.nest ./prog
has out "the fingerprint was not used"
run 0 unplait cc -g -O0 -pthread -DFIXED -o cured "$top/test/e2e/fixtures/crumbs/nest.c"
"$UNPLAIT" synth --time 4 --crumbs fp/*.json -o c.plait core.nest ./cured >out 2>&1
is "$(($? == 1))" 0 "the cured program does not fail so"
finish
