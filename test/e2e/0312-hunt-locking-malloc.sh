#!/usr/bin/env bash
# hunt: a malloc of the program's own that takes a lock, also while libc makes a thread.
. "$(dirname "$0")/lib.sh"

run 0 unplait cc -g -O1 -pthread -o buggy "$top/test/programs/locking-malloc.c"
run 0 unplait cc -g -O1 -pthread -DFIXED -o cured "$top/test/programs/locking-malloc.c"
run 1 timeout 60 "$UNPLAIT" hunt -n 200 --seed 1 -o found.plait ./buggy
has out "abort()" "the lost update, and no crash of ours"
has out "replayed 5 of 5 times"
run 1 timeout 60 "$UNPLAIT" replay --times 50 found.plait
has out "replayed 50 of 50 times"
run 0 timeout 60 "$UNPLAIT" hunt -n 500 --seed 1 -o '' ./cured
run 1 timeout 60 "$UNPLAIT" hunt --gate futex -n 200 --seed 1 -o found.plait ./buggy
has out "replayed 5 of 5 times"
run 0 timeout 60 "$UNPLAIT" hunt --gate futex -n 500 --seed 1 -o '' ./cured
finish
