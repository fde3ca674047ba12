#!/usr/bin/env bash
# An installed unplait, away from its sources: find_package(Unplait), unplait_discover_tests(), the toolchain file and
# Meson's native file work with what `make install` has put under a prefix.
# level: check
. "$(dirname "$0")/lib.sh"
build=$(dirname "$(realpath "$UNPLAIT")")
prefix="$work/opt"
[ -e "$build/unplait-cc" ] || { skip "install" "there is no compiler in this build"; finish; }
run 0 env BUILD="$build" PREFIX="$prefix" VERSION=1.2.3 "$top/scripts/install"
cat >sum.c <<'C'
#include <pthread.h>
static int sum;
static void *add(void *arg) { sum++; return arg; }
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, add, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return sum != 2;
}
C
# the parts find each other
run 0 "$prefix/bin/unplait" cc -g sum.c -o sum -lpthread
run 1 "$prefix/bin/unplait" hunt --runs 300 -o sum.plait -- ./sum
run 0 "$prefix/bin/unplait" cc -g -fsanitize=address sum.c -o checked -lpthread
run 1 "$prefix/bin/unplait" hunt --runs 300 -o checked.plait -- ./checked
# a program that was not built by us needs libplait.so
run 0 clang-19 -g sum.c -o other -lpthread
run 0 "$prefix/bin/unplait" hunt --runs 3 -- ./other
cat >CMakeLists.txt <<'X'
cmake_minimum_required(VERSION 3.16)
project(sum C)
enable_testing()
add_executable(sum sum.c)
find_package(Unplait 1.2 REQUIRED)
unplait_discover_tests(sum)
X
if command -v cmake >/dev/null; then
	run 0 cmake -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_TOOLCHAIN_FILE="$prefix/lib/cmake/Unplait/UnplaitToolchain.cmake"
	run 0 cmake --build build
	readelf -p .plait.build build/sum | grep variants >sections
	has sections "variants full" "linked for hunting alone, by the installed compiler"
	run 8 ctest --test-dir build --output-on-failure
	has out "unplait.sum (Failed)"
	has out "sum.c:3" "the line"
	has out "replay" "the replay"
else
	skip "CMake" "cmake is not installed"
fi
ini="$prefix/share/meson/native/unplait.ini"
for c in $(sed -n "s/^c[a-z]* = '\(.*\)'/\1/p" "$ini"); do
	run 0 "$c" --version
done
if command -v meson >/dev/null && command -v ninja >/dev/null; then
	printf "project('sum', 'c')\nthread = dependency('threads')\ntest('sum', executable('sum', 'sum.c', dependencies: thread))\n" >meson.build
	# by name, as a user types it: Meson looks in XDG_DATA_HOME
	run 0 env XDG_DATA_HOME="$prefix/share" meson setup --native-file unplait.ini meson
	run 0 ninja -C meson
	run 1 "$prefix/bin/unplait" test --runs 300 meson
	has out "FAILS  sum"
else
	skip "Meson" "meson or ninja is not installed"
fi
finish
