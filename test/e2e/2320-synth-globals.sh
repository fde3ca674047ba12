#!/usr/bin/env bash
# Global variables that the dump's program stored to: goals of the search, compared in the end.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

src="$top/test/e2e/fixtures/facts/dial.c"
run 0 unplait cc -g -O0 -o dial "$src"
run 0 unplait cc -g -O0 -DFIXED -o cured "$src"
number=0
for build in "gcc -O2" "gcc -O2 -no-pie" "gcc -O1 -Wl,-z,pack-relative-relocs"; do
	number=$((number + 1))
	$build -g -o shipped$number "$src"
	printf -- '+sq++s-sssss+++++++' | dump_of $number.core ./shipped$number
	run 1 unplait synth --facts all --time 60 -o s.plait $number.core ./dial
	has out "2 global variables that the program stored to: only_here and o" "$build: what the loader moved was not stored to"
	has out "the search looks for stores of 3 of them" "of the variable that differs between the builds nothing is wanted"
	has out "found by search"
	has out "confirmed in the unplait build and in the shipped binary"
	has out "2 of 2 global variables hold the same as in the dump"
	"$UNPLAIT" synth --facts all --time 2 -o c.plait $number.core ./cured >out 2>err
	is "$(($? == 1))" 0 "the cured program does not fail so"
done
run 1 unplait replay s.plait
run 1 unplait synth --facts all --time 60 --json=j -o s.plait 1.core ./dial
is "$(tr -d ' \n' <j | grep -o '"globals":{[^}]*}')" '"globals":{"agree":["only_here","o"],"differ":[]}' "the same for programs"
"$UNPLAIT" synth --facts stack --time 1 -o s.plait 1.core ./dial >out 2>err
hasnt out "global variable" "with the stack alone nobody looks at them"

# C++: names with a namespace; in the end a variable that counts time is no part of the failure
cat >count.cc <<'C'
#include <cstdio>
#include <ctime>
#include <unistd.h>
namespace shop {
static unsigned long when;
static int orders;
int *sold;
}
int main()
{
	char c;
	shop::when = (unsigned long)time(nullptr) * 1000003 + (unsigned long)getpid();
	while (read(0, &c, 1) == 1)
		if (c == 'o')
			shop::orders++;
	if (shop::orders == 4)
		*shop::sold = 1;
	printf("%lu\n", shop::when);
}
C
g++ -O2 -g -o shipped count.cc
printf 'oxooxo' | dump_of count.core ./shipped
run 0 unplait c++ -g -O0 -o count count.cc
run 1 unplait synth --facts all --time 60 -o s.plait count.core ./count
has out "2 global variables that the program stored to:"
has out "1 of 2 global variables hold the same as in the dump; not: when"
finish
