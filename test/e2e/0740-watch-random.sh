#!/usr/bin/env bash
# watch: random lock programs of 2 to 64 threads and locks, in real processes, against the programs' own judgement:
# a deadlock is reported exactly when there is one. CASES and SEED say how many and which.
# level: long
. "$(dirname "$0")/lib.sh"
cc -O1 -g -pthread -o random "$top/test/programs/watch/random.c" || exit 3
cases=${CASES:-400} seed0=${SEED:-1}
wrong=0 cycles=0 none=0
one() { # SEED: run it, compare
	local seed=$1 n=$((2 + $1 * 7 % 63)) l=$((2 + $1 * 11 % 63)) status said
	[ $((seed % 3)) -eq 0 ] || { n=$((2 + seed % 5)); l=$((2 + seed % 4)); }
	timeout 60 "$UNPLAIT" watch --quiet --stuck-after 0 --timeout 30 -- ./random "$seed" "$n" "$l" >"out.$seed" 2>&1
	status=$?
	said=$(grep -cE '^deadlock:' "out.$seed")
	case "$(grep -xE 'cycle|none|unsure' "out.$seed")" in
	none) [ $status -eq 0 ] && [ "$said" -eq 0 ] && echo none || echo "wrong: random $seed $n $l: nothing there, status $status" ;;
	cycle | '') # watch may be faster than the judge, and end the program before it speaks
		[ $status -eq 1 ] && [ "$said" -ge 1 ] && echo cycle || echo "wrong: random $seed $n $l: cycle, status $status" ;;
	*) echo "wrong: random $seed $n $l: the judge is unsure" ;;
	esac
	rm -f "out.$seed"
}
export -f one
export UNPLAIT
seq "$seed0" $((seed0 + cases - 1)) | xargs -P 4 -I{} bash -c 'one {}' >results
cycles=$(grep -c '^cycle' results) none=$(grep -c '^none' results)
is "$(grep -c '^wrong' results)" 0 "$cases programs: $cycles deadlocks reported, $none without, none wrong" || true
grep '^wrong' results | head -n 5 | sed 's/^/# /'
is "$((cycles > cases / 20 && none > cases / 20))" 1 "both answers are common"
finish
