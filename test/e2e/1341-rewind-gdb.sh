#!/usr/bin/env bash
# gdb steps backwards from a core dump, over an execution that nobody recorded.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind --gdb" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cp "$top/test/programs/rewind-broken.c" .
gcc -O2 -g -o broken rewind-broken.c
(ulimit -c unlimited && exec ./broken) >/dev/null 2>&1
mv core* dump
timeout 100 gdb -q -nx -batch -ex 'set remotetimeout 60' -ex "target remote | $UNPLAIT rewind --time 5 --gdb dump" \
	-ex reverse-step -ex reverse-step -ex 'break fill' -ex reverse-continue -ex 'backtrace' \
	-ex 'reverse-continue' -ex 'delete' -ex 'continue' ./broken >out 2>&1
has out "if (total == 12345)" "reverse-step goes to the line before"
has out "Breakpoint 1, fill (n=4)" "reverse-continue comes to a function that has long returned"
has out "in main (argc=" "with its caller"
has out "No more reverse-execution history" "the suffix has a beginning and an end"
hasnt out "Remote replied unexpectedly"
finish
