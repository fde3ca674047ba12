#!/usr/bin/env bash
# A program as shipped crashes and leaves a core; one command finds how, the plait replays it.
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

for build in "gcc -O0" "gcc -O2" "clang-19 -O2"; do
	name=$(echo "$build" | tr -d ' -')
	$build -g -o "$name" "$CORPUS/mkdir/main.c"
	dump_of "$name.core" "./$name" -v a//b </dev/null
done
gcc -O2 -s -o stripped "$CORPUS/mkdir/main.c"
dump_of stripped.core ./stripped -v a//b </dev/null
run 0 unplait cc -g -O0 -o prog "$CORPUS/mkdir/main.c"
for name in gccO0 gccO2 clang19O2 stripped; do
	run 1 unplait synth -o $name.plait $name.core ./prog
	has out "found by the dump's own input" "$name"
	has out "confirmed in the unplait build and in the shipped binary" "$name"
done
run 1 unplait replay --times 3 gccO2.plait
has out "replayed 3 of 3"
has out "complain at"
run 1 unplait replay --times 20 gccO2.shipped.plait
has out "replayed 20 of 20" "the shipped binary itself, again and again"
if command -v gdb >/dev/null; then
	printf 'run\nbt 3\nquit\n' | unplait replay --gdb gccO2.shipped.plait >gdb.out 2>&1
	has gdb.out "SIGSEGV" "gdb stops at the failure in the shipped binary"
	has gdb.out "complain"
else
	skip "gdb" "not installed"
fi
run 1 unplait synth --json -o j.plait gccO2.core ./prog
for text in '"found": true' '"shipped": true' '"function": "complain"' '"a//b"' '"plait": "j.plait"'; do has out "$text"; done
# a program that was mended, or whose compiler removed the failure: no finding, but it is said
run 0 unplait cc -g -O0 -DFIXED -o mended "$CORPUS/mkdir/main.c"
"$UNPLAIT" synth --time 3 -o mended.plait gccO2.core ./mended >out 2>err
[ $? -ne 1 ] && ok "a mended program is no finding" || not_ok "a mended program is no finding"
has out "the shipped binary fails, and the unplait build does not"
# another way to fail is not the dump's
cat >other.c <<'C'
#include <stdlib.h>
int main(int argc, char **argv) { if (argc > 1) abort(); return argv[0] == 0; }
C
run 0 unplait cc -g -o other other.c
run 3 unplait synth --time 5 -o none.plait gccO2.core ./other
has err "none of the functions"
[ ! -e none.plait ] && ok "nothing is saved" || not_ok "nothing is saved"
finish
