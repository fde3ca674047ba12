#!/usr/bin/env bash
# Build systems: CMake with an installed unplait (toolchain file, find_package, hunts as tests, the compiler in the
# environment) and Meson.
. "$(dirname "$0")/lib.sh"
prefix=$work/usr
(cd "$top" && BUILD=$(dirname "$UNPLAIT") PREFIX=$prefix DESTDIR= VERSION=0.1.0 scripts/install) >install.log 2>&1 || not_ok "install" "$(cat install.log)"
mkdir proj
cat >proj/lib.cc <<'X'
#include "lib.h"
int add(std::atomic<int> &x, int n) { return x += n; }
X
cat >proj/lib.h <<'X'
#include <atomic>
int add(std::atomic<int> &x, int n);
X
cat >proj/main.cc <<'X'
#include "lib.h"
#include <cassert>
#include <thread>
#include <vector>
int main(int argc, char **)
{
	std::atomic<int> sum{0};
	int plain = 0;
	std::vector<std::thread> threads;
	for (int i = 0; i < 2; i++)
		threads.emplace_back([&] {
			add(sum, 1);
			int seen = plain;
			plain = seen + 1;
		});
	for (auto &t : threads)
		t.join();
	assert(sum == 2);
	assert(argc > 1 || plain == 2);
	return 0;
}
X
cat >proj/CMakeLists.txt <<'X'
cmake_minimum_required(VERSION 3.18)
project(proj CXX)
find_package(Threads REQUIRED)
find_package(Unplait 0.1 REQUIRED)
enable_testing()
add_library(lib SHARED lib.cc)
add_executable(prog main.cc)
target_link_libraries(prog lib Threads::Threads)
unplait_add_hunt(NAME finds COMMAND $<TARGET_FILE:prog> RUNS 200)
set_tests_properties(finds PROPERTIES WILL_FAIL TRUE)
unplait_add_hunt(NAME silent COMMAND $<TARGET_FILE:prog> cured RUNS 50)
X
cat >proj/meson.build <<'X'
project('proj', 'cpp')
lib = shared_library('lib', 'lib.cc')
executable('prog', 'main.cc', link_with: lib, dependencies: dependency('threads'))
X
instrumented() { readelf -SW "$1" 2>/dev/null | grep -q plait.sites && ok "$1 is instrumented" || not_ok "$1 is instrumented"; }
if command -v cmake >/dev/null; then
	run 0 cmake -S proj -B by-toolchain -DCMAKE_TOOLCHAIN_FILE="$prefix/lib/cmake/Unplait/UnplaitToolchain.cmake" \
		-DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug
	run 0 cmake --build by-toolchain
	instrumented by-toolchain/prog
	instrumented by-toolchain/liblib.so
	run 0 env -C by-toolchain ctest
	has out "100% tests passed"
	run 0 env CXX="$prefix/bin/unplait c++" cmake -S proj -B by-variable -DCMAKE_PREFIX_PATH="$prefix" \
		-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON
	run 0 cmake --build by-variable
	instrumented by-variable/prog
	run 3 env -C by-variable "$prefix/bin/unplait" record -o ./x.plait -- ./no-such-program
	run 0 env -C by-variable "$prefix/bin/unplait" record -o x.plait -- ./prog cured
	has out "3 threads"
else
	skip "CMake" "not installed"
fi
if command -v meson >/dev/null; then
	run 0 env CXX="$prefix/bin/unplait c++" meson setup by-meson proj
	run 0 ninja -C by-meson
	instrumented by-meson/prog
	instrumented by-meson/liblib.so
	run 0 env CXX="$prefix/bin/unplait-c++" meson setup by-meson-lto proj -Db_lto=true -Db_sanitize=address -Db_lundef=false
	run 0 ninja -C by-meson-lto
	run 1 "$prefix/bin/unplait" hunt --runs 300 -- by-meson-lto/prog
else
	skip "Meson" "not installed"
fi
finish
