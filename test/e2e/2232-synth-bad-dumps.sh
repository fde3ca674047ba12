#!/usr/bin/env bash
# Dumps that lack something, or lie: a weaker answer with a note, or one sentence. What is missing is never taken for zero.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"
edit() { python3 "$top/test/programs/core-edit.py" "$@"; }

if [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "dumps of the kernel" "the kernel does not write files named core"
	finish
fi
gcc -O1 -g -o shipped "$CORPUS/mkdir/main.c"
run 0 unplait cc -g -o prog "$CORPUS/mkdir/main.c"

# the kernel was told to leave pages out
filtered_dump_of 0x33 good ./shipped -v a//b
filtered_dump_of 1 no-headers ./shipped -v a//b
run 1 unplait synth -o p.plait no-headers ./prog
has out "ELF headers were not dumped: whether the program's files are those that ran is not known"
has out "confirmed in the unplait build and in the shipped binary"
filtered_dump_of 0 no-stack ./shipped -v a//b
"$UNPLAIT" synth --time 1 -o p.plait no-stack ./prog >out 2>err
is "$(($? == 1 || $? == 4))" 1 "without the stack there is still the place of the crash"
has out "the stack was not dumped"
has out "its stack ends early"
has out "complain at"
has out "the dump does not have the program's arguments"

# lengths that no file has, within 16 GB of addresses: nothing is allocated by them
for what in headers segments notes files unmapped; do
	edit good "$what.core" $what
	(ulimit -v 16000000; timeout 60 "$UNPLAIT" synth --time 1 -o p.plait "$what.core" ./prog >"$what.out" 2>&1)
	echo $? >>statuses
done
is "$(xargs <statuses)" "3 1 3 3 3" "hostile lengths"
has headers.out "headers are cut off"
has segments.out "the file is cut off"
has notes.out "no threads: its notes are missing or cut off"
has files.out "does not say which program it is of"
has unmapped.out "does not say which program it is of"
edit good many.core threads 10000
run 1 unplait synth -o p.plait many.core ./prog

# sources of another program; the unplait build's own dump
cat >other.c <<'C'
int main(void) { return 0; }
C
run 0 unplait cc -g -o other other.c
run 3 unplait synth good ./other
has err "has none of the functions on the dump's stack"
filtered_dump_of 0x33 own ./prog -v a//b
run 1 unplait synth -o p.plait own ./prog
has out "confirmed in the unplait build"

# from a handler; in a child; in a library that was built anew since
cat >handler.c <<'C'
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int library(const char *);
static void tell(int n) { (void)!write(2, "oops\n", n - n + 5); abort(); }
static __attribute__((noinline)) void smash(void) { __asm__ volatile("movq $0x4141, (%rsp)\n\tret"); }
int main(int argc, char **argv)
{
	if (argc < 2)
		return 0;
	if (*argv[1] == 'f' && fork())
		return wait(0) < 0;
	if (*argv[1] == 's')
		smash();
	if (*argv[1] == 'h')
		signal(SIGSEGV, tell);
	return (library(argv[2]) ? 2 : 3);
}
C
echo 'int library(const char *s) { return *s + 1; }' >library.c
gcc -O2 -g -fPIC -shared -o liblibrary.so library.c
gcc -O2 -g -o handler handler.c -L. -llibrary -Wl,-rpath,"$PWD"
run 0 unplait cc -g -o handler.plait handler.c -L. -llibrary -Wl,-rpath,"$PWD"
for way in h f l s; do filtered_dump_of 0x33 handler.$way ./handler $way; done
run 1 unplait synth -o p.plait handler.h ./handler.plait
has out "tell at handler.c:6" "a signal's frame is seen through"
has out "main at handler.c:"
run 4 unplait synth --time 1 -o p.plait handler.f ./handler.plait
has out "not found within the budget" "the child of a fork is not searched for"
"$UNPLAIT" synth --time 1 -o p.plait handler.s ./handler.plait >out 2>err
is "$(($? == 1 || $? == 4))" 1 "a return address was written over"
has out "its stack was repaired"
gcc -O0 -g -fPIC -shared -o liblibrary.so library.c
"$UNPLAIT" synth --time 1 -o p.plait handler.l ./handler.plait >out 2>err
is "$(($? == 1 || $? == 4))" 1 "a library of another build: a weaker answer"
has out "liblibrary.so is not the build that ran"
has out "frames in it have no names"
finish
