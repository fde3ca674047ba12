#!/usr/bin/env bash
# Threads: the order of their steps is the cause (001 section 6.2), from one core dump, run natively.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
gcc -O2 -w -o shake "$top/test/programs/shake.c"
# A dump of program $1, in the file dump. Which seed makes it fail depends on the machine.
shaken() {
	local s
	for s in $(seq 1 400); do
		rm -f core*
		(ulimit -c unlimited && exec timeout 60 ./shake "$s" "./$1") >/dev/null 2>&1
		[ $? -eq 1 ] && mv core* dump 2>/dev/null && return 0
	done
	return 1
}
mark() { grep -n "BUG:$2" "$CORPUS/$1/main.c" | cut -d: -f1; }

# 1681 has the other builds, and takes longer
for build in ${REWIND_BUILDS:-gcc:-O2}; do
	cc=${build%:*}
	for bug in res1 res2 res3; do
		"$cc" "${build#*:}" -g -w -pthread -o "$bug" "$CORPUS/$bug/main.c"
		if ! shaken "$bug"; then
			skip "$build $bug" "it did not fail in 400 shaken runs"
			continue
		fi
		run 1 unplait rewind --time 60 dump
		case $bug in
		res1)
			has out "(lost update): " "$build $bug: the kind"
			has out "main.c:$(mark res1 a) in used_read and written at" "$build $bug: the read"
			has out "wrote it at $CORPUS/res1/main.c:$(mark res1 b) in used_write" "$build $bug: the write in between"
			;;
		res2)
			has out "(changed in between): " "$build $bug: the kind"
			has out "main.c:$(mark res2 b) in append; in between" "$build $bug: the use"
			;;
		res3)
			has out "(half an update seen): table was written by thread" "$build $bug: the kind"
			has out "main.c:$(mark res3 a) in owner, length was to follow" "$build $bug: the write"
			has out "read length at $CORPUS/res3/main.c:$(mark res3 b)" "$build $bug: the read in between"
			;;
		esac
		has out "confirmed: run natively in this order" "$build $bug: the order was run"
	done
done

# Threads that race, and a failure that has nothing to do with it: no order is blamed.
cat >innocent.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static int hits, *wrong;
static void *count(void *arg) { for (int i = 0; i < 3; i++) hits++; return arg; }
static __attribute__((noinline)) void forget(void) { wrong = (int *)8; }
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, count, NULL);
	for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
	forget();
	return *wrong + hits;
}
END
for o in -O0 -O2; do
	gcc $o -g -w -pthread -o innocent innocent.c
	(ulimit -c unlimited && exec ./innocent) >/dev/null 2>&1
	mv core* dump
	run 1 unplait rewind --time 60 dump
	has out "wrong was set to 0x8 at innocent.c:5 in forget" "$o: the write is named, not the race"
	hasnt out "lost update"
	hasnt out "in between"
done
run 1 unplait rewind --json dump
has out '"others": ['
finish
