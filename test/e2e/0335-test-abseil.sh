#!/usr/bin/env bash
# A CMake and GoogleTest project that is not ours: Debian's abseil, with two lines added and one bug put in (a
# counter is decremented in two steps). ctest names the test, the line and the replay within a minute.
# level: long
. "$(dirname "$0")/lib.sh"
"$top/scripts/deps" cmake libgtest-dev libgmock-dev || { skip "abseil" "the packages cannot be installed"; finish; }
"$top/bench/fetch" abseil "$work/abseil" 2>err || { skip "abseil" "$(tail -n 1 err)"; finish; }
cd abseil || exit 3
bin=$(dirname "$UNPLAIT")
counter=absl/synchronization/blocking_counter.cc
cp $counter ../whole.cc
sed -i 's|^  int count = count_.fetch_sub(1, std::memory_order_acq_rel) - 1;|  int count = count_.load(std::memory_order_acquire) - 1;\n  count_.store(count, std::memory_order_release);|' $counter
cmp -s $counter ../whole.cc && not_ok "the bug is in"
line=$(grep -n 'count_.store' $counter | cut -d: -f1)
printf 'find_package(Unplait)\nunplait_discover_tests(absl_blocking_counter_test)\n' >>absl/synchronization/CMakeLists.txt
run 0 env CC="$bin/unplait-cc" CXX="$bin/unplait-c++" cmake -B build -DUnplait_DIR="$top/scripts" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	-DBUILD_TESTING=ON -DABSL_BUILD_TESTING=ON -DABSL_USE_EXTERNAL_GOOGLETEST=ON -DABSL_FIND_GOOGLETEST=ON -DCMAKE_CXX_STANDARD=17
run 0 cmake --build build -j2 --target absl_blocking_counter_test
run 8 timeout 60 ctest --test-dir build -L unplait -R BlockingCounter --output-on-failure
has "$work/out" "unplait.BlockingCounterTest.BasicFunctionality (Failed)" "ctest names the test"
has "$work/out" "blocking_counter.cc:$line" "and the line"
replay=$(sed -n 's/^ *replay *\(.*\)/\1/p' "$work/out" | head -n 1)
run 1 env PATH="$bin:$PATH" sh -c "$replay"
run 1 unplait test --time 60 build/bin/absl_blocking_counter_test
is "$(grep -c '^FAILS' "$work/out")" 1 "no other test fails"
grep -q '^ok .*WaitNegativeInitialCount' "$work/out" && ok "the death test passes" || not_ok "the death test passes" "$(cat "$work/out")"
# without the bug nothing fails
cp ../whole.cc $counter
run 0 cmake --build build -j2 --target absl_blocking_counter_test
run 0 unplait test --time 20 build/bin/absl_blocking_counter_test
finish
