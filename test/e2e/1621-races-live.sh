#!/usr/bin/env bash
# A controlled run sees the same data races while it runs as are in its recording: the corpus, and generated programs.
# level: check
# (The comparison is the unit test live_races; here the programs are built.)
. "$(dirname "$0")/lib.sh"

cc -o threadgen "$top/test/gen/threadgen.c" || { not_ok "the generator builds"; finish; }
programs=''
for seed in $(seq "${FIRST_SEED:-1}" $((${FIRST_SEED:-1} + ${SEEDS:-6} - 1))); do
	./threadgen "$seed" | sed 's/atomic_int/volatile int/' >"p$seed.c"
	unplait cc -g -pthread -o "p$seed" "p$seed.c" 2>/dev/null && programs="$programs ./p$seed"
done
for name in race-adhoc race-bits race-counter race-logger race-null race-pingpong race-refcount; do
	unplait cc -g -pthread -o "$name" "$CORPUS/$name/main.c" 2>/dev/null && programs="$programs ./$name"
done
UNPLAIT_LIVE_PROGRAMS="${programs# }" "$(dirname "$UNPLAIT")/unit" --filter 'live_races/*' >out 2>&1
status=$?
cat out >&2
is $status 0 "$(echo "$programs" | wc -w) programs, 12 schedules each"
grep -q 'Passing: 1' out && ok "the comparison was made" || not_ok "the comparison was made"
finish
