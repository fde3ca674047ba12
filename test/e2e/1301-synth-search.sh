#!/usr/bin/env bash
# From the stack alone: arguments that lead to it are found by search, in builds of two compilers; the cured program has none.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

build() { # NAME ARGS...: the shipped builds with their dumps, and ours
	local name=$1 b
	shift
	for b in "gcc -O2" "clang-19 -O0"; do
		$b -g -o "$name-${b%% *}" "$CORPUS/$name/main.c"
		dump_of "$name-${b%% *}.core" "./$name-${b%% *}" "$@" </dev/null
	done
	run 0 unplait cc -g -O0 -o "$name" "$CORPUS/$name/main.c"
	run 0 unplait cc -g -O2 -o "$name-2" "$CORPUS/$name/main.c"
}
build mkfifo -m u+q,g pipe
build mkdir -v a//b
build paste -d 'x\' -s a b
for name in mkfifo mkdir paste; do
	for b in gcc clang-19; do
		for p in "$name" "$name-2"; do
			run 1 unplait synth --facts stack -o s.plait "$name-$b.core" "./$p"
			has out "found by search"
			has out "confirmed in the unplait build and in the shipped binary"
		done
	done
	run 1 unplait replay s.plait
done
# cured: within these bounds nothing leads there, and status 1 is never given
run 0 unplait cc -g -O1 -DFIXED -o cured "$CORPUS/mkfifo/main.c"
"$UNPLAIT" synth --facts stack --time 5 -o c.plait mkfifo-gcc.core ./cured >out 2>&1
is "$(($? == 1))" 0 "the cured program does not fail so"
[ ! -e c.plait ] && ok "and leaves no plait" || not_ok "and leaves no plait"
# C++: gcc writes no full name of a static function, clang does
cat >options.cc <<'C'
#include <cstring>
#include <string>
struct Options {
	int level;
	void set(const char *arg);
};
static int parse(const char *s)
{
	int v = 0;
	while (*s)
		v = v * 10 + (*s++ - '0');
	return v;
}
__attribute__((noinline)) void Options::set(const char *arg)
{
	const char *eq = strchr(arg, '=');
	level = parse(eq + (eq ? 1 : 0));
}
int main(int argc, char **argv)
{
	Options o = { 0 };
	for (int i = 1; i < argc; i++)
		o.set(argv[i]);
	return o.level > 9;
}
C
for build in "g++ -O0" "g++ -O2" "clang++-19 -O2"; do
	$build -g -o options options.cc
	dump_of options.core ./options a=1 verbose </dev/null
	run 0 unplait c++ -g -O0 -o options.u options.cc
	run 1 unplait synth --time 20 --facts stack -o options.plait --shipped ./options options.core ./options.u
	has out "confirmed in the unplait build and in the shipped binary" "$build, a static function and a member"
done
finish
