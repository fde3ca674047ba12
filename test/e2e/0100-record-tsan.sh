#!/usr/bin/env bash
# Record, look, export, seal: with a program built by plain clang -fsanitize=thread, linked with
# libplait, so that nothing here depends on unplait cc.
# level: quick
. "$(dirname "$0")/lib.sh"
lib=$(dirname "$UNPLAIT")/libplait.a
cat >prog.c <<'END'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct { int filled; long items[4]; } queue;
atomic_int done;
static void *work(void *arg)
{
	for (int i = 0; i < 100; i++)
		queue.items[i & 3] = (long)arg;
	done++;
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("done %d\n", done);
	queue.filled = done;
	switch (argc > 1 ? argv[1][0] : 0) {
	case 'a': assert(queue.filled == 3);
	case 'b': abort();
	case 's': *(volatile int *)8 = 1;
	case 'x': return 7;
	case 'h': pause();
	}
	return 0;
}
END
clang-19 -g -O1 -fsanitize=thread -c prog.c && clang-19 -o prog prog.o "$lib" -lpthread -ldl || not_ok "build"
run 0 ./prog
has out "done 2" "without a mode it just runs"
run 0 unplait record -o pass.plait -- ./prog
has out "done 2"
has out "pass.plait: pass, 3 threads"
run 0 unplait info pass.plait
has out "outcome     pass (exit status 0)"
has out "atomic-rmw 2"
run 0 unplait info --events --kind atomic-rmw pass.plait
has out "done = 0 -> 1 (4)  at prog.c:13 in work"
run 0 unplait info --events --kind write-range --count 1 pass.plait
has out "queue.items[0] (8)  at prog.c:12 in work" "globals have field names"
for f in json csv std perfetto text; do
	run 0 unplait export --format $f -o out.$f pass.plait
	[ -s out.$f ] && ok "$f is not empty" || not_ok "$f is not empty"
done
python3 -c 'import json; json.load(open("out.json")); json.load(open("out.perfetto"))' && ok "valid JSON" || not_ok "valid JSON"
has out.std "|w(V0)|"

run 1 unplait record -o a.plait -- ./prog a
has out "assert: prog.c:26: int main(int, char **): Assertion \`queue.filled == 3' failed."
has err "Assertion \`queue.filled == 3' failed." "the target says it too"
run 0 unplait info a.plait
has out "main at prog.c:26" "the failing frame"
run 1 unplait record -o b.plait -- ./prog b
has out "assert: abort()"
run 1 unplait record -o s.plait -- ./prog s
run 0 unplait info s.plait
has out "signal (signal 11, Segmentation fault), thread 0"
has out "main at prog.c:28"
run 0 unplait record -o x.plait -- ./prog x
run 1 unplait record --fail-on exit -o x.plait -- ./prog x
has out "exit: it exited with status 7"
run 1 unplait record --timeout 0.5 -o h.plait -- ./prog h
has out "hang: it had not ended"
echo "done 2" >want
run 0 unplait record --expect want -- ./prog
echo "done 3" >want
run 1 unplait record --expect want -- ./prog
has out "output: its output differs from want"
run 0 unplait record --oracle 'grep -q "done 2" $PLAIT_STDOUT' -- ./prog
run 1 unplait record --oracle 'grep -q "done 5" $PLAIT_STDOUT' -- ./prog
has out "oracle: the oracle said so (status 1)"
run 3 unplait record --oracle /no/such/oracle -- ./prog
run 1 unplait record --runs 4 --jobs 2 -o many -- ./prog a
is "$(ls many | tr '\n' ' ')" "0001-assert.plait 0002-assert.plait 0003-assert.plait 0004-assert.plait " "names of many"
run 0 unplait record --json -o j.plait -- ./prog
python3 -c 'import json; d = json.load(open("out")); assert d["unplait"] == 1 and d["runs"][0]["outcome"]["kind"] == "pass"' &&
	ok "JSON" || not_ok "JSON"

# without any command, then sealed; and killed in the middle
mkdir dir
UNPLAIT_MODE=full UNPLAIT_DIR=dir ./prog >/dev/null
run 0 unplait seal dir
has out "dir.plait: pass, 3 threads"
mkdir killed
UNPLAIT_MODE=full UNPLAIT_DIR=killed ./prog h >/dev/null & pid=$!
while ! [ -s killed/run ]; do sleep 0.05; done
sleep 0.3
kill -9 $pid
wait $pid 2>/dev/null
run 0 unplait seal -o k.plait killed
has out "k.plait: unknown, 3 threads"
run 0 unplait info --events k.plait
has out "queue.filled"

# what it says when things are wrong
run 2 unplait record --mode none -- ./prog
run 2 unplait record
run 3 unplait record -- ./no-such-program
has err "cannot start './no-such-program'"
touch plain
run 3 unplait record -- ./plain
has err "Permission denied"
run 3 unplait record -o /no/such/folder/x.plait -- ./prog
run 3 unplait info /no/such.plait
echo hello >foreign
run 3 unplait info foreign
has err "foreign is not a plait"
head -c 1000 pass.plait >cut
run 3 unplait info cut
has err "cut is damaged: it is cut short"
run 3 unplait info ./prog
has err "was not built with"
run 3 unplait seal many
has err "holds no recorded run"
run 2 unplait export --format nothing pass.plait
# another build of the program
clang-19 -g -O2 -fsanitize=thread -c prog.c && clang-19 -o prog prog.o "$lib" -lpthread -ldl
run 0 unplait doctor
has out "clang-19"
# Ctrl-C leaves nothing behind
mkdir tmp
TMPDIR=$work/tmp setsid "$UNPLAIT" record -- "$work/prog" h >/dev/null 2>intr & sleep 1
kill -INT $!
wait $! 2>/dev/null
has intr "interrupted"
is "$(ls tmp)" "" "no folder is left"
pgrep -f "^$work/prog h" >/dev/null && not_ok "no process is left" || ok "no process is left"
finish
