#!/usr/bin/env bash
# Two lines in a CMake project with GoogleTest: every test becomes a ctest of many schedules. And Meson, with the
# native file that is installed.
# level: check
. "$(dirname "$0")/lib.sh"
bin=$(dirname "$UNPLAIT")
cat >sum_test.cc <<'X'
#include <gtest/gtest.h>
#include <thread>
struct sum {
	int n = 0;
	void add() { n++; }
};
TEST(Sum, Alone) { sum s; s.add(); EXPECT_EQ(s.n, 1); }
TEST(Sum, Lost)
{
	sum s;
	std::thread a([&] { s.add(); }), b([&] { s.add(); });
	a.join();
	b.join();
	EXPECT_EQ(s.n, 2);
}
X
cat >CMakeLists.txt <<'X'
cmake_minimum_required(VERSION 3.16)
project(sum CXX)
enable_testing()
find_package(GTest REQUIRED)
add_executable(sum_test sum_test.cc)
target_link_libraries(sum_test GTest::gtest_main)
find_package(Unplait)
unplait_discover_tests(sum_test TIME 20)
X
if command -v cmake >/dev/null && [ -e /usr/include/gtest/gtest.h ]; then
	run 0 env CC="$bin/unplait-cc" CXX="$bin/unplait-c++" cmake -B build -DCMAKE_BUILD_TYPE=Debug -DUnplait_DIR="$top/scripts"
	run 0 cmake --build build
	readelf -p .plait.build build/sum_test >sections
	has sections "variants full" "linked for hunting alone"
	run 8 ctest --test-dir build --output-on-failure
	has out "unplait.Sum.Lost (Failed)"
	grep -q 'unplait.Sum.Alone .* Passed' out && ok "the other passes" || not_ok "the other passes" "$(cat out)"
	has out "sum_test.cc:5" "the line"
	has out "unplait replay $work/build/unplait-tests/Sum.Lost.plait" "the replay"
	run 1 unplait replay build/unplait-tests/Sum.Lost.plait
else
	skip "CMake and GoogleTest" "cmake or libgtest-dev is not installed"
fi
if command -v meson >/dev/null && command -v ninja >/dev/null; then
	mkdir meson && cd meson || exit 3
	printf "project('sum', 'c')\nthread = dependency('threads')\ntest('sum', executable('sum', 'sum.c', dependencies: thread))\n" >meson.build
	cat >sum.c <<'X'
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
X
	sed "s|@BIN@|$bin|" "$top/scripts/meson-native.ini.in" >unplait.ini
	run 0 meson setup --native-file unplait.ini build
	run 0 ninja -C build
	run 1 unplait test --runs 300 build
	has "$work/out" "FAILS  sum"
	has "$work/out" "sum.c:3"
else
	skip "Meson" "meson or ninja is not installed"
fi
finish
