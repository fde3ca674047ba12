#!/usr/bin/env bash
# Pruning is sound: a build that traces everything, watched by a runtime that complains when an access
# judged private meets another thread's. The last case shows that the watcher can complain.
# level: check
# A dozen corpus programs; SOUND_ALL=1 takes all, which lasts minutes.
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "pruning" "libplait.a is not built"; finish; }

clang-19 -O1 -g -I"$top/include" -c "$top/test/programs/check-runtime.c" -o check.o || exit 3
ar rcs libcheck.a check.o
export UNPLAIT_RUNTIME=$work/libcheck.a
sed -n 's/^PLAIT_EXPORT.*\(plait_[a-z_0-9]*\)(.*/\1/p' "$top/include/unplait/hooks.h" | sort >wanted
nm check.o | sed -n 's/.* T \(plait_\)/\1/p' | sort >given
is "$(comm -23 wanted given | tr '\n' ' ')" "" "the check runtime has every hook"
value() { sed -n "s/^$1 *= *//p" "$2" | tr -d '[]",'; }

n=0
k=0
bad=
for toml in "$CORPUS"/*/bug.toml; do
	name=$(basename "$(dirname "$toml")")
	k=$((k + 1))
	[ -n "${SOUND_ALL:-}" ] || [ $((k % 8)) -eq 1 ] || continue
	sources=$(value sources "$toml")
	driver=cc
	case $sources in *.cc* | *.cpp*) driver=c++ ;; esac
	(cd "$CORPUS/$name" && UNPLAIT_TRACE_ALL=1 unplait $driver -O1 -DFIXED $(value flags "$toml") $sources -lm -pthread \
		-o "$work/prog") 2>"$work/build.log" || { bad="$bad $name(build)"; continue; }
	(cd "$CORPUS/$name" && timeout 20 "$work/prog" $(value args "$toml")) >"$work/log" 2>&1
	[ $? -eq 66 ] && bad="$bad $name"
	n=$((n + 1))
done
is "$bad" "" "no wrongly pruned access in $n corpus programs"

# without UNPLAIT_TRACE_ALL nothing pruned is seen, so a wrong judgement must be planted: code that
# libc calls in another thread behind the analysis' back (a pointer that went through a pipe)
cat >hidden.c <<'X'
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>
static int fds[2];
static int take(void)
{
	uint32_t half[2];
	int *p;
	if (read(fds[0], half, 8) != 8) return 1;
	p = (int *)(((uintptr_t)half[0] ^ 0x5a5a5a5a) | (uintptr_t)half[1] << 32);
	return ++*p;
}
static void *thread(void *arg) { (void)arg; return (void *)(long)take(); }
int main(void)
{
	int local = 0;
	uint32_t half[2] = { (uint32_t)(uintptr_t)&local ^ 0x5a5a5a5a, (uint32_t)((uintptr_t)&local >> 32) };
	pthread_t t;
	if (pipe(fds) || pthread_create(&t, 0, thread, 0)) return 1;
	*(volatile int *)&local = 1;
	if (write(fds[1], half, 8) != 8) return 1;
	pthread_join(t, 0);
	return *(volatile int *)&local != 2;
}
X
run 0 env UNPLAIT_TRACE_ALL=1 "$UNPLAIT" cc -O0 hidden.c -o hidden
run 66 ./hidden
has err "PRUNED site" "the watcher notices a planted mistake"
finish
