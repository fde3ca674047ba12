#!/usr/bin/env bash
# --time bounds all phases of explain, and a note says when it was over before everything was tried. Each failing run of
# this program takes a second: a thread of libc idles that long after asynchronous I/O.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -D_GNU_SOURCE -DORDERED=0 -g -pthread -o slow "$top/test/programs/aio-cycle.c"
run 1 timeout 60 "$UNPLAIT" hunt -q -n 200 --replays 0 -o f.plait ./slow
timeout 120 "$UNPLAIT" explain --time 3 f.plait >out 2>err
status=$?
[ $status = 1 ] || [ $status = 4 ] && ok "an answer" || not_ok "an answer" "status $status" "$(cat err)"
has out "the 3 s of --time were over before everything was tried" "and it says that it is not all"
has out "holds m" "what the run shows is told all the same"
finish
