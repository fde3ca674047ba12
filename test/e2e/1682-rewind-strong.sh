#!/usr/bin/env bash
# Broken hardware, strong: no code leads to the dump, but with one bit of a register flipped some does. And a dump that is
# too large to be run.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
dump() { rm -f core*; (ulimit -c unlimited && exec "$@") >/dev/null 2>&1; mv core* dump; }
cat >load.c <<'END'
static long *volatile table[4];
static __attribute__((noinline)) long get(int i) { return *table[i]; }
int main(int argc, char **argv)
{
	for (int i = 0; i < 4; i++) table[i] = (long *)&table[i];
	table[2] = (long *)64;
	return (int)(get(argc) + get(argc + 1));
}
END
# In the note NT_PRSTATUS, 112 bytes before the registers, rax is the eleventh of them.
cat >flip.py <<'END'
import struct, sys
core = bytearray(open("dump", "rb").read())
phoff, n = struct.unpack_from("<Q", core, 32)[0], struct.unpack_from("<H", core, 56)[0]
note = next(p for p in (struct.unpack_from("<IIQQQQQQ", core, phoff + 56 * i) for i in range(n)) if p[0] == 4)
at = note[2] + 12 + 8 + 112 + 8 * 10
assert struct.unpack_from("<Q", core, at)[0] == 64, "rax does not hold the pointer"
core[at + 2] ^= 16
open("flipped", "wb").write(core)
END
for o in -O0 -O2; do
	gcc $o -g -w -o load load.c
	dump ./load
	run 0 unplait rewind check dump
	hasnt out "strong"
	run 0 python3 flip.py
	run 1 unplait rewind check flipped
	has out "hardware: strong" "$o: a flipped register"
	has out "with bit 20 of rax flipped" "$o: which bit"
done

cat >large.c <<'END'
#include <sys/mman.h>
static int *wrong;
static __attribute__((noinline)) void forget(void) { wrong = (int *)8; }
int main(void)
{
	volatile char *p = mmap(0, 3ul << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	p[1ul << 30] = 1;
	forget();
	return *wrong + p[5];
}
END
gcc -O2 -g -w -o large large.c
dump ./large
run 1 unplait rewind dump
has out "wrong was set to 0x8 at large.c:3 in forget" "a large dump: the cause"
has out "not run: the dump has more than 1 GB of memory" "a large dump is not copied"
finish
