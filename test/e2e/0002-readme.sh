#!/usr/bin/env bash
# README's tours print what README says they print. Numbers may differ (addresses, seconds, counts, and with
# them plurals); words may not. A line of "..." in README stands for any number of lines.
# level: check
. "$(dirname "$0")/lib.sh"

. "$top/test/e2e/tour.inc"

cp "$CORPUS"/pbzip2/*.[ch] "$top/test/programs/cache_test.cc" .
tour "A tour, with real output"
if [ -e /usr/include/gtest/gtest.h ]; then
	tour "A flaky GoogleTest"
else
	skip "README's GoogleTest" "libgtest-dev is not installed (scripts/deps)"
fi
cp "$top/doc/manual/example/till.c" .
if command -v gdb >/dev/null && [ -x "$top/build/unplait-lift" ]; then
	tour "A core dump, and nothing else"
else
	skip "README's core dump" "no gdb, or unplait-lift is not built (scripts/deps)"
fi
finish
