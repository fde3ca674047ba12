#!/usr/bin/env bash
# A long suffix ends in the dump when it is run: below a call that is skipped the stack is as the call left it, and an address
# that nothing tells is one where there is memory.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
dump() { (ulimit -c unlimited && exec "$@") >/dev/null 2>&1; mv core* dump; }

# pad_name() stored half a word where the calls before it had left a whole one
gcc -O0 -g -w -o bugs "$top/bench/rewind-bugs.c"
dump ./bugs 3 3 7
run 1 unplait rewind dump
has out "was set to 0x2e at"
has out "rewind-bugs.c:48 in pad_name"
has out "instructions; confirmed"

# main() read its arguments through a register that was lost
clang-19 -O2 -g -w -o bugs "$top/bench/rewind-bugs.c"
dump ./bugs 6 2 8
run 1 unplait rewind dump
has out "the result of getenv, 0x0, was used without a check"
has out "instructions; confirmed"
finish
