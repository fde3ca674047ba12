#!/usr/bin/env bash
# Code as the dump has it: where the program's file is gone, or is another build, and where it was patched while it ran.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cp "$top/test/programs/rewind-broken.c" .
gcc -O2 -g -o prog rewind-broken.c
filtered_dump_of 0x3f full.core ./prog
filtered_dump_of 0x33 thin.core ./prog
run 1 unplait rewind --no-run full.core
sed -n 's/^\([0-9]* blocks, [0-9]* instructions\).*/\1/p' out >with-file
mv prog prog.gone
run 1 unplait rewind full.core
sed -n 's/^\([0-9]* blocks, [0-9]* instructions\).*/\1/p' out >without
same without with-file "without the file: the same suffix"
has out "was set to 0x1234 at prog+0x"
has out "confirmed: run natively, it ends in the same dump"
has out "prog: its file is missing or is no program; its code is taken from the dump"
is "$(grep -c ': line *$' out)" 0 "no empty list of lines"
run 1 unplait rewind --no-run --json full.core
has out "its code is taken from the dump"
run 0 unplait rewind --no-run thin.core
has out "the walk ends there: its file is missing or is no program, at prog+0x"
# another build is no help, and is not taken for the right one
gcc -O1 -g -o prog rewind-broken.c
run 1 unplait rewind --no-run full.core
has out "prog: its file is another build; its code is taken from the dump"
run 0 unplait rewind --no-run thin.core
has out "the walk ends there: its file is another build"

# a function that is patched before it runs: the file says 1, the processor did 0
cat >patched.c <<'C'
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static long room[4];
static long *cell = room;

static __attribute__((noinline, noclone)) int which(void)
{
	int i;

	__asm__ volatile("movl $0x11111111, %0" : "=r"(i));
	return i;
}

static __attribute__((noinline)) void choose(void)
{
	cell = which() == 0x22222222 ? (long *)16 : &room[1];
}

int main(void)
{
	char *page = (char *)((uintptr_t)which & ~4095ul), *p = (char *)which;
	const int was = 0x11111111, now = 0x22222222;

	if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC))
		return 3;
	while (memcmp(p, &was, sizeof(was)))
		p++;
	memcpy(p, &now, sizeof(now));
	choose();
	room[2] = *cell;
}
C
gcc -O1 -g -o patched patched.c
filtered_dump_of 0x33 patched.core ./patched
run 1 unplait rewind patched.core
has out "was set to 0x10 at patched.c:$(grep -n '(long \*)16' patched.c | cut -d: -f1) in choose"
has out "was changed while the program ran (4 bytes differ from the file): it is taken as the dump has it"
has out "it ends in the same dump"
run 0 unplait rewind check patched.core
finish
