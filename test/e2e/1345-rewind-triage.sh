#!/usr/bin/env bash
# Triage: dumps of several builds of one bug are one bucket; annotations name it; a second run reads nothing again.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind triage" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cp "$top"/test/programs/rewind-*.c .
mkdir dumps
dump() { (ulimit -c unlimited && exec "./$1") >/dev/null 2>&1; mv core* "dumps/$1"; }
for cc in gcc clang-19; do
	"$cc" -O2 -g -w -o "broken-$cc" rewind-broken.c
	dump "broken-$cc"
	"$cc" -O2 -g -w -o "assert-$cc" rewind-assert.c
	dump "assert-$cc"
done
gcc -O2 -g -w -o overflow rewind-overflow.c
dump overflow
echo nonsense >dumps/nonsense

run 1 unplait rewind triage -o index.json --sarif t.sarif dumps
has out "    2  bad value written in main: pool[].next"
has out "    2  bad value written in transfer: balance[]"
has out "    1  past the end in set_name: recs[].count"
has out "not sorted: dumps/nonsense"
has out "6 dumps, 3 buckets, 1 not sorted"
has t.sarif "recs[1].count was overwritten past the end"
run 1 unplait rewind triage -o index.json dumps
has out "6 known from before" "what is known is not read again"
echo 'bucket "lost money" { function = transfer; object = balance[] }' >notes
run 1 unplait rewind triage -o index.json --annotations notes dumps
has out "    2  lost money"
echo 'bucket "half' >notes
run 3 unplait rewind triage --annotations notes dumps
run 2 unplait rewind triage
run 3 unplait rewind triage nowhere
run 1 unplait rewind triage --json dumps
has out '"smallest": "dumps/'
finish
