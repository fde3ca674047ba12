#!/usr/bin/env bash
# Every corpus entry is proved: builds, marks, failing and passing schedule, the cure over 10 000
# schedules and under ThreadSanitizer. One line per entry; corpus/check says what is asked.
# level: long
# seconds: 10800
. "$(dirname "$0")/lib.sh"
BUILD="$work" UNPLAIT="$UNPLAIT" "$CORPUS/check" -j 2
[ $? -eq 0 ] || failures=1
finish
