#!/usr/bin/env bash
# Bad input: one clear sentence each; recordings that are of no use are skipped and named where others are good.
# level: check
. "$(dirname "$0")/lib.sh"

run 0 unplait cc -g -pthread -o account "$CORPUS/account/main.c"
run 0 unplait record --mode path -o good.plait -- ./account
run 0 unplait record --mode path -o args.plait -- ./account 3
run 0 unplait record --mode graph -o graph.plait -- ./account
run 0 unplait cc -g -O1 -pthread -o other "$CORPUS/account/main.c"
run 0 unplait record --mode path -o other.plait -- ./other
run 1 unplait hunt -o failing.plait -- ./account
head -c 200 good.plait >torn.plait
: >empty.plait

run 2 unplait predict
has err "which recordings"
run 2 unplait predict --record 3
has err "which program"
run 3 unplait predict missing.plait
has err "there is no recording missing.plait"
for f in graph failing torn empty; do
	run 3 unplait predict "$f.plait"
	has err "no recording can be used"
done
run 3 unplait predict failing.plait
has err "unplait solve"
mkdir none
run 3 unplait predict none
has err "no recording can be used"

# skipped beside a good one
mkdir runs
cp good.plait runs/1.plait
cp args.plait runs/2.plait
cp other.plait runs/3.plait
cp torn.plait runs/4.plait
cp failing.plait runs/5.plait
run 1 unplait predict --no-explain -o found.plait runs
has out "skipped runs/2.plait"
has out "other arguments"
has out "another build"
has out "skipped runs/4.plait"
has out "skipped runs/5.plait"
run 1 unplait predict --json -o '' runs
has out '"skipped"'

# the binary is gone, or without bitcode
cp good.plait moved.plait
mv account away
run 3 unplait predict moved.plait
mv away account
gcc -g -pthread -o plain "$CORPUS/account/main.c"
run 3 unplait predict --record 1 -- ./plain

# nowhere to write
run 3 unplait predict --no-explain -o /nonexistent/x.plait good.plait
finish
