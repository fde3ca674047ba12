#!/usr/bin/env bash
# rank: from a buggy program to its bug, as a user types it; and what bad input is told.
# level: check
. "$(dirname "$0")/lib.sh"

cp "$CORPUS"/logandsweep/main.c .
run 0 unplait cc -g -O2 -pthread -o prog main.c
run 1 unplait rank --hunt 25 -o hunted --top 3 --html page.html --dot graph.dot -- ./prog
cp out text
has text "25 failing and 25 passing runs"
has text "SINK"
# every marked line is in the first reconstruction
sed -n '/^#1 /,/^#2 /p' text >first
for m in a b c; do has first "BUG:$m" "the first reconstruction shows mark $m"; done
has first "wrote in another thread" "the edge is said in a sentence"
has page.html "<!doctype html>"
has page.html "wrote in another thread"
for how in product norm evidence; do run 1 unplait rank --score $how --top 1 hunted; has out "#1  score"; done
has graph.dot "digraph"

# two commands, native runs
run 0 unplait record --mode graph -n 6 -o runs -- ./prog
run 3 unplait rank runs
has err "all 6 runs passed"
has err "--hunt 25"
run 1 unplait rank --unlabeled runs
has out "ran in rare contexts"

# JSON, and what was collected under other options
run 1 unplait rank --json --context 2 --score norm hunted
has out '"reconstructions"'
has out '"context": 2'
run 0 unplait record --mode graph --context 2 --granularity line -o c2.plait -- ./prog
run 0 unplait record --mode graph --model hw:16,4 -o hw.plait -- ./prog
run 1 unplait rank --unlabeled hw.plait
run 3 unplait rank --unlabeled --context 5 c2.plait
has err "record again with --context 5"
run 2 unplait record --mode graph --model cache -- ./prog
run 2 unplait record --mode graph --granularity page -- ./prog
run 2 unplait rank
run 2 unplait rank --score best runs

# a crash keeps its graph
cat >crash.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static int data, *volatile none;
static void *child(void *arg) { data = 1; return arg; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, child, NULL);
	pthread_join(t, NULL);
	if (data == 1)
		*none = 1;
	return 0;
}
END
run 0 unplait cc -g -O1 -pthread -o crash crash.c
run 1 unplait record --mode graph -o crash.plait -- ./crash
run 3 unplait rank crash.plait
has err "all 1 runs failed"
run 1 unplait rank --unlabeled crash.plait
has out "data"

# different builds, no sharing, other modes, damage
run 3 unplait rank --unlabeled crash.plait runs
has err "different builds"
echo 'int main(void) { return 0; }' >alone.c
run 0 unplait cc -o alone alone.c
run 0 unplait record --mode graph -o alone.plait -- ./alone
run 3 unplait rank --unlabeled alone.plait
has err "in none of the 1 runs"
run 0 unplait record --mode path -o path.plait -- ./prog
run 3 unplait rank path.plait
has err "record with --mode graph"
mkdir empty
run 3 unplait rank empty
has err "holds no plaits"
head -c $(($(wc -c <crash.plait) / 2)) crash.plait >cut.plait
run 3 unplait rank cut.plait
has err "cut.plait is damaged"
run 3 unplait rank no-such.plait

# what was collected, and what the model of caches counted
run 0 unplait info hw.plait
has out "contexts of 5 events, by cache line"
has out "caches      16384 bytes, 4 ways"
run 0 unplait info --json hw.plait
has out '"read_misses"'

# blocks that travel: repetition is counted, and gives what looking at every word gives
cat >block.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static int *block, sum;
static void *fill(void *arg) { block = malloc(4000); for (int i = 0; i < 1000; i++) block[i] = i; return arg; }
static void *take(void *arg) { for (int i = 0; i < 1000; i++) sum += block[i] * 3; return arg; }
static void in_thread(void *(*f)(void *)) { pthread_t t; pthread_create(&t, NULL, f, NULL); pthread_join(t, NULL); }
int main(void) { in_thread(fill); in_thread(take); in_thread(take); return sum == 2997000 ? 0 : 1; }
END
run 0 unplait cc -g -O1 -fno-vectorize -pthread -o block block.c
for how in . no-racy; do
	mkdir run.$how
	UNPLAIT_MODE=graph UNPLAIT_OPTIONS=$how UNPLAIT_DIR=run.$how ./block || not_ok "block runs ($how)"
	unplait info --json run.$how | sed -n '/"graph"/,/}/p' >graph.$how
done
if grep -q '"edges": [1-9]' graph..; then ok "blocks give edges"; else not_ok "blocks give edges" "$(cat graph..)"; fi
if cmp -s graph.. graph.no-racy; then ok "repetition leaves the same graph"; else not_ok "repetition leaves the same graph" "$(diff graph.. graph.no-racy)"; fi

# deployment: the tests' graphs against a run of the field
run 1 unplait rank --baseline runs hunted
has out "field and 6 test runs"
run 0 unplait rank --baseline runs runs/0001-pass.plait

# what the optimiser made of two stores has no line of its own: it is named after its neighbour
cp "$CORPUS"/circularlist/main.c list.c
run 0 unplait cc -g -O2 -pthread -o list list.c
run 1 unplait rank --hunt 25 -o lists --top 100 -- ./list
hasnt out "list.c:0 "
has out "A thread wrote at SOURCE"

# one failing run tells nothing: what to do
set -- lists/*-pass.plait
first=$(ls lists/*.plait | grep -v -- '-pass' | head -n 1)
run 0 unplait rank "$first" "$1" "$2" "$3"
has out "Nothing stands above the noise"
has out "--hunt 25"

# no room for the shadow: said, not hidden
run 0 unplait record --mode graph -o room.plait -- ./prog
has out "communications"
run 0 bash -c 'ulimit -v 8000000 && exec "$@"' - "$UNPLAIT" record --mode graph -o no-room.plait -- ./prog
has err "ulimit -v"

# a wild address has no shadow; memory in an unusual place gets one
cat >wild.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static int *volatile wild = (int *)0x414141414140;
static void *child(void *arg) { *wild += 1; return arg; }
int main(int argc, char **argv)
{
	pthread_t t;
	void *far = (void *)0x3c0000000000;
	if (argc > 1)
		wild = mmap(far, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (argc > 1)
		*wild = 1;
	pthread_create(&t, NULL, child, NULL);
	pthread_join(t, NULL);
	return argc > 1 ? *wild - 2 : 0;
}
END
run 0 unplait cc -g -O1 -pthread -o wild wild.c
run 1 unplait record --mode graph -o wild.plait -- ./wild
has out "signal"
run 0 unplait record --mode graph -o far.plait -- ./wild far
run 1 unplait rank --unlabeled far.plait
has out "in child"
finish
