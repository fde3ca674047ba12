#!/usr/bin/env bash
# A deadlock of a program that has used asynchronous I/O: a thread of libc idles for a second, and the replay waits for
# it as the run did. It is confirmed. (It was "not confirmed": the replay did not look again after it had waited.)
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -D_GNU_SOURCE -DORDERED=0 -g -pthread -o cycle "$top/test/programs/aio-cycle.c"
run 0 unplait cc -D_GNU_SOURCE -DORDERED=1 -g -pthread -o ordered "$top/test/programs/aio-cycle.c"
run 1 timeout 60 "$UNPLAIT" hunt -n 200 --replays 2 -o f.plait ./cycle
has out "deadlock: " "found"
has out "replayed 2 of 2 times" "confirmed"
hasnt out "NOT CONFIRMED"
run 1 timeout 60 "$UNPLAIT" replay f.plait
run 0 timeout 60 "$UNPLAIT" hunt -n 40 ./ordered
finish
