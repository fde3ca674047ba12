#!/usr/bin/env bash
# Questions to a suffix: states, writers, preemptions; a dump of a process that lives; questions that cannot be understood.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind --ask" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cp "$top"/test/programs/rewind-*.c .
gcc -O0 -g -o broken rewind-broken.c
(ulimit -c unlimited && exec ./broken) >/dev/null 2>&1
mv core* dump
run 1 unplait rewind --ask 'who wrote pool[2].next' --ask 'who wrote n' --ask 'state at rewind-broken.c:18' \
	--ask 'who wrote current->weight' --ask 'state at rewind-broken.c:1' --ask 'who wrote nonsense' \
	--ask 'was 0.1 preempted between rewind-broken.c:39 and rewind-broken.c:40' dump
has out "set to 0x1234, before:" "the write"
has out "rewind-broken.c:40 in main" "its line"
has out "rewind-broken.c:32 in main" "a local variable's writer"
has out "rewind-broken.c:18 in fill, the last of 4 times:"
has out "    i = 3"
has out "written in none of" "current leads nowhere in particular"
has out "rewind-broken.c:1 has no code; the next line that has some is 16"
has out "nonsense is no variable that the debug information knows there"
has out "the dump tells of no other thread"
run 1 unplait rewind --json --ask 'who wrote pool[2].next' dump
is "$(python3 -c '
import json
a = json.load(open("out"))["answers"][0]
print(a["answer"], a["yes"], a["suffixes"], a["found"][0]["at"]["line"])')" "all 1 1 40" "the JSON"
for q in '' 'what' 'state at' 'state at x.c' 'state at x.c:0' 'state at x.c:1 x' 'who wrote' \
	'was 0.2 preempted' 'was x preempted between a.c:1 and a.c:2' 'was 0.1 preempted between a.c:1 and a.c'; do
	unplait rewind --ask "$q" dump >out 2>err
	is $? 2 "bad question: $q"
	[ "$(wc -l <err)" -eq 1 ] && grep -q "who wrote EXPRESSION" err
	is $? 0 "one sentence with the forms"
done

# two compilers' worth of calls: a copy is the writer, and a call that may have written says so
gcc -O2 -g -w -o overflow rewind-overflow.c
(ulimit -c unlimited && exec ./overflow) >/dev/null 2>&1
mv core* dump
run 1 unplait rewind --ask 'who wrote recs[1].count' dump
has out "written by memcpy, at rewind-overflow.c:10 in set_name"

# a process that lives: gcore
if command -v gcore >/dev/null; then
	cat >live.c <<'END'
#include <stdio.h>
#include <unistd.h>
static int level, steps[8];
static __attribute__((noinline)) void climb(int n)
{
	for (int i = 0; i < n; i++) {
		steps[i] = i * i;
		level += steps[i];
	}
}
int main(void)
{
	climb(5);
	level++;
	puts("up");
	fflush(stdout);
	for (;;)
		pause();
	return level;
}
END
	gcc -O0 -g -o live live.c
	mkfifo up
	./live >up &
	pid=$!
	read -r _ <up # it is up when it says so
	while [ "$(awk '{ print $3 }' "/proc/$pid/stat")" != S ]; do :; done
	gcore -o running $pid >gcore.out 2>&1
	kill $pid
	wait $pid 2>/dev/null
	if [ -s running.$pid ]; then
		run 0 unplait rewind --ask 'who wrote level' --ask 'state at live.c:18' --ask 'state at live.c:8' running.$pid
		has out "set to 31, before: 30, at live.c:14 in main"
		has out "live.c:8 in climb, the last of 5 times:"
		has out "    n = 5"
		has out "the process had not failed when it was dumped"
		run 0 unplait rewind running.$pid
		has out "--ask answers questions"
	else
		skip "gcore" "it cannot attach here"
	fi
fi
finish
