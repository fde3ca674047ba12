#!/usr/bin/env bash
# From a core dump to the write that broke the program: gcc and clang, confirmed by a native run.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ]; then
	skip "rewind" "unplait-lift is not built: valgrind is not installed"
	finish
fi
dump() { (ulimit -c unlimited && exec "$@") >/dev/null 2>&1; }
line=$(grep -n "the write that breaks it" "$top/test/programs/rewind-broken.c" | cut -d: -f1)
if ! { [ "$(cat /proc/sys/kernel/core_pattern)" = core ]; }; then
	skip "rewind" "the kernel's core_pattern does not make files named core"
	finish
fi
for cc in gcc clang-19; do
	for o in -O0 -O1 -O2; do
		rm -f core*
		"$cc" "$o" -g -o broken "$top/test/programs/rewind-broken.c" || not_ok "$cc builds it"
		dump ./broken
		mv core* dump 2>/dev/null
		run 1 unplait rewind --time 5 dump
		has out "rewind-broken.c:$line in main" "$cc $o: the write is named"
		has out "confirmed: run natively" "$cc $o: the suffix was run into the dump"
		hasnt out "NOT CONFIRMED"
	done
done
run 1 unplait rewind --json dump
has out '"kind": "bad value'
run 4 timeout 60 "$UNPLAIT" rewind --time 0.000001 dump
finish
