#!/usr/bin/env bash
# What the kernel logged about broken memory decides about a dump; errors of others and corrected ones do not.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

cat >null.c <<'C'
int main(int argc, char **argv) { (void)argv; return *(volatile int *)(argc == 1 ? 0 : (long)argv); }
C
gcc -O1 -g -o null null.c
dump_of core.null ./null </dev/null
pid=$(python3 - <<'P'
import struct
d = open('core.null', 'rb').read()
phoff, n = struct.unpack_from('<Q', d, 32)[0], struct.unpack_from('<H', d, 56)[0]
for i in range(n):
    kind, _, at = struct.unpack_from('<IIQ', d, phoff + 56 * i)
    if kind == 4:
        size = struct.unpack_from('<Q', d, phoff + 56 * i + 32)[0]
        while size:
            a, b, t = struct.unpack_from('<III', d, at)
            if t == 1:
                print(struct.unpack_from('<i', d, at + 12 + (a + 3 & ~3) + 32)[0])
                break
            at += 12 + (a + 3 & ~3) + (b + 3 & ~3)
        break
P
)
run 0 unplait rewind check --no-run core.null
echo "[ 12.5] Memory failure: 0x1a2b: Killing null:$pid due to hardware memory corruption" >mine
echo "[ 12.5] Memory failure: 0x1a2b: Killing null:1 due to hardware memory corruption" >others
echo "mce: [Hardware Error]: CPU 2: Machine Check: 0 Bank 7: 8c00004000010090" >corrected
echo "mce: [Hardware Error]: CPU 2: Machine Check Exception: 5 Bank 4: be00000000800400" >lost
run 1 unplait rewind check --no-run --crumbs corrected --crumbs mine core.null
has out "hardware: certain: the log says that it hit this process"
run 0 unplait rewind check --no-run --crumbs others --crumbs corrected core.null
has out "1 errors that hit other processes and 1 that were corrected"
run 1 unplait rewind check --no-run --crumbs lost --json core.null
has out '"strength": "strong"'
if [ ! -x "$top/build/unplait-lift" ]; then
	skip "rewind --crumbs" "unplait-lift is not built"
else
	run 1 unplait rewind --no-run --crumbs mine core.null
	has out "hardware: certain"
	run 1 unplait rewind --no-run --json --crumbs mine core.null
	has out '"strength": "certain"'
fi
# what is read and not used is named
echo ' 0x401136/0x401150/P/-/-/0  0x401120/0x401130/P/-/-/0' >branches
run 0 unplait rewind check --no-run --crumbs branches core.null
has err "records of branches are not used"
# no crumbs
: >empty
printf 'a\0b' >binary
echo '{"command": "hunt"}' >other.json
for f in empty binary other.json absent; do run 3 unplait rewind check --crumbs $f core.null; done
finish
