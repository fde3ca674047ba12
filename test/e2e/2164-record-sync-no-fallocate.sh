#!/usr/bin/env bash
# record --mode sync where the file system cannot reserve room: the cells have their size, and the disk is not filled.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -g -O2 -pthread -o late "$top/test/programs/sync-late.c"
cc -o no-fallocate "$top/test/programs/no-fallocate.c"
mkdir run
(ulimit -f 16384 && UNPLAIT_MODE=sync UNPLAIT_DIR=$PWD/run timeout 60 ./no-fallocate ./late never >out 2>&1)
status=$?
[ $status -ne 77 ] || { skip "no fallocate" "no filter of system calls here"; finish; }
is $status 0 "the program runs"
is "$(stat -c %s run/c00001)" 131104 "the cells have their size"
run 0 unplait seal -o n.plait run
run 0 unplait replay n.plait ./late never
finish
