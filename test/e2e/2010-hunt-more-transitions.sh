#!/usr/bin/env bash
# hunt: more steps that another thread can notice, as 0320: main's stack and its end, static destructors, destroyed locks,
# time limits of every kind of lock, in C, C11 and C++, and what libc keeps for all threads.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }

found() { # PROGRAM NAME: dfs finds the failure, and it replays
	timeout 100 "$UNPLAIT" hunt -s dfs -n 3000 -o f.plait "./$1" "$2" >out 2>&1
	if [ $? = 1 ] && grep -q 'replayed 5 of 5' out; then ok "$1 $2: found"; else
		not_ok "$1 $2: found" "$(cat out)"
	fi
}
for o in -O0 -O2; do
	run 0 unplait cc -D_GNU_SOURCE -w -g $o -pthread -o c$o "$top/test/programs/transitions.c"
	run 0 unplait c++ -std=c++20 -w -g $o -pthread -o cxx$o "$top/test/programs/transitions.cpp"
	for name in main-stack main-ends timed-read timed-write timed-join c11-try c11-timed numbers days destroyed; do
		found c$o $name
	done
	has out "use of a mutex that was destroyed"
	for name in destructor try-shared try-for wait-for acquire-for; do found cxx$o $name; done
	run 0 unplait hunt -s dfs ./c$o nothing
	has out ": every schedule was explored" "c$o: the rest is healthy"
done
finish
