#!/usr/bin/env bash
# A CMake project with two added lines, built with -fsanitize=address: ctest names the test that uses freed memory, its
# line and the replay. The program only behaves like Catch2; 0391 has the real one.
# level: check
. "$(dirname "$0")/lib.sh"
bin=$(dirname "$UNPLAIT")
cat >pool_test.cc <<'C'
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
const char *marker = "list-listeners";

struct queue {
	std::mutex m;
	std::condition_variable filled;
	std::deque<int> items;
	void push(int n)
	{
		std::lock_guard<std::mutex> g(m);
		items.push_back(n);
		filled.notify_one();
	}
	int pop()
	{
		std::unique_lock<std::mutex> g(m);
		filled.wait(g, [this] { return !items.empty(); });
		int n = items.front(); /* line 24 */
		items.pop_front();
		return n;
	}
};
struct joiner {
	std::thread &t;
	~joiner() { t.join(); }
};
/* members are destroyed from the last to the first */
struct good_pool {
	queue q;
	std::thread t;
	joiner j{ t };
	good_pool() { t = std::thread([this] { while (q.pop()) ; }); }
	~good_pool() { q.push(0); }
};
struct bad_pool {
	std::thread t;
	joiner j{ t };
	queue q;
	bad_pool() { t = std::thread([this] { while (q.pop()) ; }); }
	~bad_pool() { q.push(0); }
};
int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--list-tests"))
		return puts("the queue outlives the thread\nthe queue goes first"), 0;
	if (argc == 2 && !strcmp(argv[1], "the queue outlives the thread"))
		good_pool().q.push(1);
	else if (argc == 2)
		bad_pool().q.push(1);
	return argc != 2;
}
C
cat >CMakeLists.txt <<'X'
cmake_minimum_required(VERSION 3.16)
project(pool CXX)
enable_testing()
add_executable(pool_test pool_test.cc)
find_package(Unplait)
unplait_discover_tests(pool_test)
X
command -v cmake >/dev/null || { skip "CMake" "cmake is not installed"; finish; }
run 0 env CC="$bin/unplait-cc" CXX="$bin/unplait-c++" cmake -B build -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS="-fsanitize=address -std=c++17" \
	-DUnplait_DIR="$top/scripts"
run 0 cmake --build build
run 8 ctest --test-dir build --output-on-failure
has out "unplait.the queue goes first (Failed)" "ctest names the test"
grep -q 'unplait.the queue outlives the thread .* Passed' out && ok "the other passes" || not_ok "the other passes" "$(cat out)"
has out "sanitizer: AddressSanitizer: " "what the sanitizer says"
grep -Eq 'pool_test.cc:[0-9]+' out && ok "the line" || not_ok "the line" "$(cat out)"
replay=$(sed -n 's/^ *replay *\(.*\)/\1/p' out | head -n 1)
run 1 env PATH="$bin:$PATH" sh -c "$replay"
finish
