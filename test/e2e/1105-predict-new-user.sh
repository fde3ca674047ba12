#!/usr/bin/env bash
# As a new user would: a test that has never failed, ten recordings, one command, a confirmed failure with its explanation.
# level: check
. "$(dirname "$0")/lib.sh"

# C++ with std::map and std::thread, as built for release
run 0 unplait c++ -g -O2 -pthread -o cache "$top/test/programs/predict-cache.cpp"
run 0 unplait record --mode path --runs 10 -o runs -- ./cache
run 1 unplait predict runs
has out "Assertion \`c.loads == 1' failed"
has out "which passed; what differs"
has out "replayed 5 of 5 times"
has out "cause"
has out "advice"
has out "FAILING"
has out "PASSING"
run 1 unplait replay predicted.plait
run 0 unplait c++ -g -O2 -DFIXED -pthread -o cache-fixed "$top/test/programs/predict-cache.cpp"
run 0 unplait predict --record 3 --time 20 -- ./cache-fixed
has out "no failure predicted"

# C with jobs on the heap; the failure is an exit status. Its replays must agree although recording moves the heap.
run 0 unplait cc -g -pthread -o jobs "$top/test/programs/predict-jobs.c"
for i in 1 2 3 4 5 6 7 8 9; do # a plain run may fail on a busy machine
	unplait record --mode path --fail-on exit -o "jobs-$i.plait" -- ./jobs >/dev/null 2>&1 && break
done
run 1 unplait predict --fail-on exit --no-explain -o jobs.plait jobs-*.plait
has out "lost work"
has out "replayed 5 of 5 times"
run 1 unplait replay jobs.plait
run 1 unplait predict --fail-on exit --json -o x.plait jobs-*.plait
has out '"dpsp"'
finish
