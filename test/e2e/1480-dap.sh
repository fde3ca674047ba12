#!/usr/bin/env bash
# An editor debugs a replay: a scripted client talks the Debug Adapter Protocol to `unplait dap`.
# level: check
. "$(dirname "$0")/lib.sh"
command -v gdb >/dev/null || { skip "dap" "no gdb"; finish; }

cp "$CORPUS"/pbzip2/*.[ch] .
run 0 unplait cc -g -pthread -o pbzip2 main.c queue.c output.c rle.c
run 1 unplait hunt -s random --seed 1 -o fail.plait -- ./pbzip2
cat >dead.c <<'END'
#include <pthread.h>
#include <stdio.h>

struct box {
	int n;
	const char *name;
	double half[2];
};

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static struct box boxes = { 1, "first", { 0.5, 0.25 } };

static void *one(void *p)
{
	int mine = 41;

	pthread_mutex_lock(&a);
	mine++;
	boxes.n = mine;
	pthread_mutex_lock(&b);
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	return p;
}

static void *two(void *p)
{
	pthread_mutex_lock(&b);
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return p;
}

int main(void)
{
	pthread_t x, y;
	char word[20] = "";

	if (scanf("%19s", word) == 1)
		printf("read %s\n", word);
	fflush(stdout);
	pthread_create(&x, 0, one, 0);
	pthread_create(&y, 0, two, 0);
	pthread_join(x, 0);
	pthread_join(y, 0);
	return 0;
}
END
run 0 unplait cc -g -pthread -o dead dead.c
echo hello >said
run 1 unplait hunt --seed 1 --input said -o dead.plait ./dead
run 0 unplait replay --gdb --gdb-command 'plait threads' dead.plait
has out "deadlock: thread 0" "gdb stops where nobody can go on, and says why"
has out "thread 2, waits to lock a mutex" "the threads are still there"
has out "read hello" "under gdb the program reads what it read in the hunt"
cat >loop.c <<'END'
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static void *turn(void *p)
{
	volatile long turns = 0;

	for (long i = (long)p; i > 0; i--)
		turns++;
	return p;
}

int main(int argc, char **argv)
{
	pthread_t t;

	pthread_create(&t, 0, turn, (void *)atol(argv[argc - 1]));
	pthread_join(t, 0);
	assert(atol(argv[argc - 1]) > 10);
	return 0;
}
END
run 0 unplait cc -g -pthread -o loop loop.c
run 1 unplait hunt --seed 1 -o loop.plait ./loop 2
cp "$top/test/e2e/dap-client.py" client.py
timeout 300 python3 client.py "$UNPLAIT" "$work" >answers 2>errors || { cat answers; not_ok "the client runs to its end" "$(tail -n 20 errors)"; finish; }
cat answers
! grep -q '^not ok' answers || failures=1

# nobody is left behind
left=$(pgrep -f "$work" | grep -vx $$ || true)
[ -z "$left" ] && ok "no process is left" || not_ok "no process is left" "$(ps -o pid,args -p $left)"

# what VS Code reads and starts
python3 - "$top/editors/vscode" <<'END' >manifest || not_ok "the manifest can be read"
import json, os, sys
d = json.load(open(sys.argv[1] + "/package.json"))["contributes"]["debuggers"][0]
assert d["type"] == "unplait" and "plait" in d["configurationAttributes"]["launch"]["required"]
assert all(c["type"] == "unplait" and c["plait"] for c in d["initialConfigurations"])
print(d["runtime"], os.path.join(sys.argv[1], d["program"]))
END
mkdir path && ln -s "$UNPLAIT" path/unplait
printf 'Content-Length: 49\r\n\r\n{"seq":1,"type":"request","command":"initialize"}' >hello
PATH=$work/path:$PATH run 0 $(cat manifest) <hello
has out '"supportsStepBack":true' "the extension's adapter answers"

run 2 unplait dap word
echo 'GET / HTTP/1.0' >http
run 3 unplait dap <http
has err "this is not the Debug Adapter Protocol"
printf 'Content-Length: 5\r\n\r\nhello' >text
run 3 unplait dap <text
has err "not JSON"
run 0 unplait dap </dev/null
finish
