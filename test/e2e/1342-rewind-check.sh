#!/usr/bin/env bash
# Broken hardware: one flipped bit in text is certain; patched text, a plain bug and a null pointer are nothing.
# level: check
. "$(dirname "$0")/lib.sh"

if [ "$(cat /proc/sys/kernel/core_pattern)" != core ] || [ ! -w /proc/self/coredump_filter ]; then
	skip "rewind check" "the kernel does not write files named core"
	finish
fi
cp "$top/test/programs/rewind-broken.c" .
gcc -O2 -g -o broken rewind-broken.c
(echo 0x3f >/proc/self/coredump_filter && ulimit -c unlimited && exec ./broken) >/dev/null 2>&1
mv core* whole
(ulimit -c unlimited && exec ./broken) >/dev/null 2>&1
mv core* plain

run 0 unplait rewind check plain
has out "hardware: none"
run 0 unplait rewind check whole
has out "hardware: none"
# flip bits of the code of main, which the dump has only once
cat >flip.py <<'END'
import subprocess, sys
core = bytearray(open("whole", "rb").read())
nm = subprocess.run(["nm", "broken"], capture_output=True, text=True).stdout
at = next(int(l.split()[0], 16) for l in nm.splitlines() if l.endswith(" T main"))
code = open("broken", "rb").read()[at:at + 64]
where = core.find(bytes(code))
assert where > 0
for bit in map(int, sys.argv[2:]):
    core[where + bit // 8] ^= 1 << bit % 8
open(sys.argv[1], "wb").write(core)
END
for bit in 3 77 200 401; do
	python3 flip.py flipped $bit
	run 1 unplait rewind check flipped
	has out "hardware: certain: one bit at" "bit $bit"
done
python3 flip.py patched 8 9 10 11 40 41
run 0 unplait rewind check patched
has out "patched while it ran"
run 1 unplait rewind check --json flipped
has out '"strength": "certain"'
run 3 unplait rewind check broken
has err "core dump"
run 2 unplait rewind check
finish
