#!/usr/bin/env bash
# `unplait cc --unplait-source-bitcode` keeps what the front end made of an optimised program, and synth searches in that:
# from the stack alone, programs that are not found where the optimiser made branches and calls of its own.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

has_source() { readelf -SW "$1" | grep -q '\.plait\.bc0'; }

# clang makes one call of two, and chooses the mutex without a branch
slow_locks
gcc -w -o gen "$CORPUS/blib/gen.c"
mkdir blib
./gen blib 4 64 64 2 2 1 >/dev/null
gcc -O2 -g -w -pthread -o blib.shipped blib/main.c
printf "$(sed -n 's/^input = "\(.*\)"$/\1/p' blib/bug.toml)" >input
stuck_dump_of blib.core ./blib.shipped <input
run 0 unplait cc --unplait-source-bitcode -O2 -g -pthread -o blib.u blib/main.c
run 1 unplait synth --facts stack -o blib.plait blib.core ./blib.u
has out "confirmed in the unplait build and in the shipped binary"
run 0 unplait cc --unplait-source-bitcode -O2 -g -DFIXED -pthread -o blib.fixed blib/main.c
"$UNPLAIT" synth --facts stack --time 2 -o fixed.plait blib.core ./blib.fixed >out
is "$(($? == 4 || $? == 0))" 1 "the cured twin is not found"

run 0 unplait cc -O2 -g -pthread -o blib.o2 blib/main.c
run 4 unplait synth --facts stack --time 1 -o o2.plait blib.core ./blib.o2
has out "note: ./blib.o2 was optimised" "without it, the answer says what to do"

# several files, one of them in a library, one without the option
gcc -O2 -g -o ls.shipped "$CORPUS"/ls4/*.c
dump_of ls.core ./ls.shipped -1 '--ignore=b*' --hide=b /bin </dev/null
for f in main tree list; do
	run 0 unplait cc $([ $f = tree ] || echo --unplait-source-bitcode) -O2 -MMD -c -o $f.o "$CORPUS/ls4/$f.c"
done
has main.d "main.o:" "the list of headers names the object"
has_source main.o && ok "an object has it" || not_ok "an object has it"
has_source tree.o && not_ok "and not without the option" || ok "and not without the option"
ar rc liblist.a list.o
run 0 unplait cc -O2 -o ls.u main.o tree.o -L. -llist
run 1 unplait synth --facts stack -o ls.plait ls.core ./ls.u
has out "confirmed in the unplait build and in the shipped binary"
run 0 env UNPLAIT_VARIANTS=control "$UNPLAIT" cc -O2 -o ls.alone main.o tree.o -L. -llist
run 1 unplait synth --facts stack -o ls.plait ls.core ./ls.alone
ld -r -o both.o main.o list.o
run 0 unplait cc -O2 -o ls.joined both.o tree.o
run 1 unplait synth --facts stack -o ls.plait ls.core ./ls.joined

# C++, with one file of assembly, in one command; with AddressSanitizer, which compiles each file twice
cat >words.cc <<'C'
#include <cstring>
#include <string>
#include <vector>
extern "C" int more(void);
static const char *volatile nothing;
static const char *value(const std::vector<std::string> &words, const std::string &key)
{
	for (const auto &w : words)
		if (w.compare(0, key.size(), key) == 0)
			return w.c_str() + key.size();
	return nothing;
}
int main(int argc, char **argv)
{
	std::vector<std::string> words(argv + 1, argv + argc);

	return words.size() == 2 && words[0] == "-v" ? (int)strlen(value(words, "n=")) + more() : 0;
}
C
printf '\t.globl more\nmore:\n\txor %%eax, %%eax\n\tret\n\t.section .note.GNU-stack,"",@progbits\n' >more.s
g++ -O2 -g -o words.shipped words.cc more.s
dump_of words.core ./words.shipped -v m=3 </dev/null
run 0 unplait c++ --unplait-source-bitcode -O2 -g -o words words.cc more.s
run 1 unplait synth --facts stack -o words.plait words.core ./words
has out "confirmed in the unplait build and in the shipped binary"
run 0 unplait c++ --unplait-source-bitcode -fsanitize=address -O2 -g -o words.asan words.cc more.s
has_source words.asan && ok "also with AddressSanitizer" || not_ok "also with AddressSanitizer"
run 0 unplait c++ --unplait-source-bitcode -O2 -c -o /dev/null words.cc
run 0 unplait c++ --unplait-source-bitcode -g -o words.plain words.cc more.s
has_source words.plain && not_ok "not where nothing is optimised" || ok "not where nothing is optimised"

# damaged: noticed before LLVM, which would abort, reads it
objcopy --dump-section .plait.bc0=section words && printf '\252\125' | dd of=section bs=1 seek=1000 conv=notrunc 2>/dev/null
objcopy --update-section .plait.bc0=section words damaged
run 3 unplait synth --facts stack words.core ./damaged
has err "the .plait.bc0 section of ./damaged is damaged"
finish
