#!/usr/bin/env bash
# A CMake and Catch2 project that is not ours, built with -fsanitize=address: Debian's libosmium, with two lines added and
# one bug put in (two members of the thread pool change places: the queue is destroyed before its threads are joined).
# ctest names the test, the line and the replay.
# level: long
# seconds: 3600
. "$(dirname "$0")/lib.sh"
"$top/scripts/deps" cmake libboost-dev libprotozero-dev liblz4-dev libexpat1-dev libbz2-dev zlib1g-dev ||
	{ skip "libosmium" "the packages cannot be installed"; finish; }
"$top/bench/fetch" libosmium "$work/osmium" 2>err || { skip "libosmium" "$(tail -n 1 err)"; finish; }
cd osmium || exit 3
bin=$(dirname "$UNPLAIT")
pool=include/osmium/thread/pool.hpp
cp $pool ../whole.hpp
member='            osmium::thread::Queue<function_wrapper> m_work_queue;'
sed -i -e "/^$member/d" -e "s/^            thread_joiner m_joiner;/&\n$member/" $pool
cmp -s $pool ../whole.hpp && not_ok "the bug is in"
printf 'find_package(Unplait)\nunplait_discover_tests(thread_test_pool TIME 30)\n' >>test/CMakeLists.txt
run 0 env CC="$bin/unplait-cc" CXX="$bin/unplait-c++" cmake -B build -DUnplait_DIR="$top/scripts" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	-DCMAKE_CXX_FLAGS=-fsanitize=address -DBUILD_EXAMPLES=OFF -DBUILD_HEADERS=OFF -DBUILD_DATA_TESTS=OFF
run 0 cmake --build build -j2 --target thread_test_pool
run 8 timeout 600 ctest --test-dir build -L unplait -R 'can send job to user provided thread pool' --output-on-failure
has "$work/out" "unplait.can send job to user provided thread pool (Failed)" "ctest names the test"
has "$work/out" "sanitizer: AddressSanitizer: heap-use-after-free" "what the sanitizer says"
has "$work/out" "osmium/thread/queue.hpp:" "and the line"
replay=$(sed -n 's/^ *replay *\(.*\)/\1/p' "$work/out" | head -n 1)
run 1 env PATH="$bin:$PATH" sh -c "$replay"
# without the bug nothing fails
cp ../whole.hpp $pool
run 0 cmake --build build -j2 --target thread_test_pool
run 0 unplait test --time 60 build/test/thread_test_pool
finish
