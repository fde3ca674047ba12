#!/usr/bin/env bash
# --time holds where threads have written much: the values that their places can have were once spread without an end.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind --time" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
gcc -O2 -w -o shake "$top/test/programs/shake.c"
gcc -O1 -g -w -pthread -I"$top/corpus" -o agetmultvar "$top"/corpus/agetmultvar/*.c -lm
for seed in $(seq 40); do
	(ulimit -c unlimited && exec timeout 60 ./shake "$seed" ./agetmultvar) >/dev/null 2>&1
	for core in core*; do [ ! -f "$core" ] || mv "$core" dump; done
	[ ! -f dump ] || break
done
[ -f dump ] && ok "a dump" || not_ok "a dump"

# two seconds for the walk, and a second each for running it, for the threads and for questions
used=$(bash -c 'TIMEFORMAT=%U; time "$0" rewind --time 2 dump >out 2>err' "$top/build/unplait" 2>&1)
[ "${used%.*}" -lt 6 ] && ok "--time 2: $used s of processor time" || not_ok "--time 2: $used s of processor time"
has out "blocks, "
finish
