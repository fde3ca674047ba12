#!/usr/bin/env bash
# Targets: memory used after it was given back, waits in a circle, races. The cures: nothing, and no false proof.
# level: check
. "$(dirname "$0")/lib.sh"

passing() { # NAME: a recording of a run that passes, in NAME.plait
	local i
	for i in $(seq 40); do # a plain run may fail
		unplait record --mode path --timeout 2 -o "$1.plait" -- "./$1" >/dev/null 2>&1 && return
	done
	not_ok "$1 has a run that passes"
}

for what in FREED JOIN CHAIN SEMAPHORES DESTROYED; do
	run 0 unplait cc -g -pthread -DWHAT=$what -o $what "$top/test/programs/predict-targets.c"
	passing $what
	run 1 unplait predict --no-explain -o found.plait $what.plait
	case $what in
	FREED) has out "memory that was freed" && has out "gives it back here" ;;
	DESTROYED) has out "destroyed" ;;
	*) has out "deadlock" && has out "comes here at the same time" ;;
	esac
	has out "replayed 5 of 5 times"
	run 1 unplait replay found.plait
	run 0 unplait cc -g -pthread -DWHAT=$what -DFIXED -o $what-cured "$top/test/programs/predict-targets.c"
	run 0 unplait predict --no-explain --record 2 --time 20 -o '' -- ./$what-cured
	has out "no failure predicted"
done

# what is not asked for is no finding, and nothing is proved
run 0 unplait predict --targets deadlock,hang --no-explain --time 20 -o '' FREED.plait
has out "no failure predicted"
hasnt out "every run passes"
run 0 unplait predict --targets assert,crash,memory --no-explain --time 20 -o '' JOIN.plait
hasnt out "every run passes"
run 1 unplait predict --targets memory --no-explain --time 20 -o '' FREED.plait

# races: only if asked for, and each was seen in a native run
run 0 unplait cc -g -pthread -DWHAT=RACE -o RACE "$top/test/programs/predict-targets.c"
passing RACE
run 0 unplait predict --no-explain --time 20 -o '' RACE.plait
run 1 unplait predict --targets race --json --no-explain -o race.plait RACE.plait
has out '"kind": "race"'
run 1 unplait predict --targets race --no-explain -o race.plait RACE.plait
has out "data race, seen in a native run"
run 0 unplait replay race.plait
run 0 unplait cc -g -pthread -DWHAT=RACE -DFIXED -o RACE-cured "$top/test/programs/predict-targets.c"
run 0 unplait predict --targets race --no-explain --record 2 --time 20 -o '' -- ./RACE-cured
has out "no failure predicted"

# a place
run 0 unplait cc -g -pthread -o fig51 "$CORPUS/fig51/main.c"
passing fig51
line=$(grep -n 'assert(' "$CORPUS/fig51/main.c" | head -n 1 | cut -d: -f1)
run 1 unplait predict --at "main.c:$line" --no-explain -o '' fig51.plait
has out "Assertion"
run 0 unplait predict --at main.c:1 --no-explain --time 20 -o '' fig51.plait
has out "no failure predicted"
run 0 unplait predict --flips 1 --no-explain --time 20 -o '' fig51.plait
hasnt out "every run passes"

run 2 unplait predict --targets assert,nothing fig51.plait
has err "assert,crash,memory,deadlock,hang,race"
run 2 unplait predict --at main.c fig51.plait
has err "queue.c:42"
finish
