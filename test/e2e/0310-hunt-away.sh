#!/usr/bin/env bash
# A thread that spins in code which was not built with unplait does not keep the others from running: its lock is
# passed over, the bug behind it is found, replays and is explained. What never comes back is a hang, and is named.
# level: check
. "$(dirname "$0")/lib.sh"

cp "$top"/test/programs/away*.c .
gcc -g -O1 -c away-lock.c
run 0 unplait cc -g -O1 -pthread -o away away.c away-lock.o
run 1 unplait hunt -n 200 -o fail.plait ./away
has out "count == 2"
has out "replayed 5 of 5 times"
has out "code that was not built with unplait" "what was not under control is said"
run 1 unplait replay --times 3 fail.plait
has out "replayed 3 of 3 times"
if command -v gdb >/dev/null; then
	unplait replay --gdb --gdb-command "info program" fail.plait >out 2>&1
	has out "nobody interrupts it under gdb" "gdb and code that was not rebuilt: said beforehand"
fi
run 0 unplait cc -g -O1 -pthread -DFIXED -o cured away.c away-lock.o
run 0 unplait hunt -n 4 ./cured
run 0 unplait cc -g -O1 -pthread -DFIXED -DFOREVER -o forever away.c away-lock.o
run 1 unplait hunt -n 1 --timeout 2 --replays 1 -o hang.plait ./forever
has out "hang: no end in real time"
has out "away_forever at away-lock.c:1" "where it does not come back from"
finish
