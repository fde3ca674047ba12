#!/usr/bin/env bash
# A directed run of the shipped binary under gdb: breakpoints, steps, run again; the order stays the script's.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"
command -v gdb >/dev/null || { skip "gdb" "not installed"; finish; }

cp "$top/test/programs/directed-race.c" race.c
gcc -O2 -g -pthread -o shipped race.c
SLOW=1 dump_of race.core ./shipped </dev/null
run 0 unplait cc -g -O0 -pthread -o race race.c
run 1 unplait synth --facts stack -o s.plait race.core ./race
has out "directed"
unplait replay --gdb-command bt --gdb-command 'print n' s.shipped.plait >out 2>&1
has out "received signal SIGSEGV"
has out "look () at race.c"
has out '= 1' "the update is lost"
# three times in one session, once with a breakpoint and steps on the way
printf 'run\nkill\nbreak set\nrun\ninfo threads\nprint n\nnext\nnext\ncontinue\nprint n\nkill\ndelete\nrun\nbt\n' |
	unplait replay --gdb s.shipped.plait >out 2>&1
is "$(grep -c 'received signal SIGSEGV' out)" 3 "it fails three times"
has out "hit Breakpoint 1, set"
has out "(0.1)" "threads have the names of the plait"
is "$(pgrep -f "$work/shipped" | wc -l)" 0 "nothing is left"
finish
