#!/usr/bin/env bash
# Accesses inside libraries are accesses: a race inside libc or the C++ library is found at -O0 and at
# -O2, and with a lock around it nothing is. The expanded code gives the results of the real functions.
# level: check
. "$(dirname "$0")/lib.sh"

for level in -O0 -O2; do
	"$UNPLAIT" cc $level -g -w -pthread -o races$level "$top/test/programs/library-races.c" 2>err &
	"$UNPLAIT" c++ $level -g -w -pthread -o cxx-races$level "$top/test/programs/library-races.cpp" 2>err
	wait
	for program in races$level cxx-races$level; do
		families=$(./$program)
		[ -n "$families" ] || not_ok "$program: builds and lists its families" "$(cat err)"
		missed= noisy=
		for family in $families; do
			"$UNPLAIT" hunt -n 1000 -o fail.plait ./$program "$family" >out 2>&1 </dev/null
			[ $? -eq 1 ] || missed="$missed $family"
			"$UNPLAIT" hunt -n 60 -o fail.plait ./$program "$family" cured >out 2>&1 </dev/null
			[ $? -eq 0 ] || noisy="$noisy $family"
		done
		is "$missed" "" "$program: every race is found"
		is "$noisy" "" "$program: nothing is found with a lock"
	done
done

# A search of all schedules sees the same points.
for family in strcat struct snprintf strtok; do
	run 1 "$UNPLAIT" hunt -s dfs -n 20000 -o fail.plait ./races-O0 $family
	run 0 "$UNPLAIT" hunt -s dfs -n 20000 -o fail.plait ./races-O0 $family cured
	has out "no failure in"
done

# The same results: of each function on shared memory, plain and expanded.
for level in -O0 -O2; do
	"$UNPLAIT" cc -D_GNU_SOURCE -w $level -pthread -o results$level "$top/test/programs/library-results.c" 2>err &
	"$UNPLAIT" c++ -w $level -pthread -o cxx-results$level "$top/test/programs/library-results.cpp" 2>err
	wait
	for program in results$level cxx-results$level; do
		./$program >want
		for mode in full path; do
			"$UNPLAIT" record --mode $mode -o run.plait ./$program 2>err | grep -v '^run.plait: pass' >got
			same got want "$program: mode $mode prints what the program prints"
		done
	done
done

# What is not looked into is named.
cat >unseen.c <<'END'
#include <pthread.h>
#include <string.h>
int inflate(void *);
static char shared[8];
static void *work(void *arg) { inflate(shared); strcpy(shared, "x"); return arg; }
int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); work(0); return pthread_join(t, 0); }
END
echo 'int inflate(void *p) { return *(char *)p; }' >inflate.c
clang-19 -shared -fPIC -o libinflate.so inflate.c
run 0 "$UNPLAIT" cc -w -O2 -pthread -o unseen unseen.c ./libinflate.so
run 0 "$UNPLAIT" info ./unseen
has out "unseen inflate"
hasnt out "unseen strcpy"
finish
