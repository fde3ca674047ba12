#!/usr/bin/env bash
# Ctrl-C ends a search at once: what was found and covered so far is printed, status 130, and nothing is left behind.
# level: check
. "$(dirname "$0")/lib.sh"
mkdir tmp
export TMPDIR=$work/tmp

# What we start ignores SIGINT until it asks for it: send it until it has ended.
trap '' INT
interrupt() { # WHAT CMD...
	local what=$1 pid status
	shift
	"$@" >out 2>err &
	pid=$!
	while kill -INT $pid 2>/dev/null; do sleep 0.3; done
	wait $pid
	status=$?
	is $status 130 "$what: status 130 after Ctrl-C"
	is "$(ls tmp)" "" "$what: no files are left behind"
}

cat >wide.c <<'C'
#include <pthread.h>
static int a, b, c, d;
static void *work(void *arg)
{
	for (int i = 0; i < 60; i++) {
		a += b;
		b ^= c;
		c = d + i;
		d = a;
	}
	return NULL;
}
int main(void)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
"$UNPLAIT" cc -g -O1 -pthread -o wide wide.c || exit 1
interrupt schedules "$UNPLAIT" sym schedules ./wide
has out "note: interrupted" "schedules says that it was interrupted"
has out "not everything was explored" "and what it covered"
interrupt "schedules --json" "$UNPLAIT" sym schedules --json ./wide
has out '"complete": false' "the JSON is whole"

cat >paths.c <<'C'
int main(int argc, char **argv)
{
	unsigned h = 1;
	for (int i = 0; argv[1][i]; i++) {
		h = h * (h + (unsigned char)argv[1][i]);
		if (h % 7 == 3)
			__asm__ volatile("" ::: "memory");
		if (h % 10007 == 35)
			__asm__ volatile("" ::: "memory");
	}
	return h % 3;
}
C
"$UNPLAIT" cc -g -O1 -o paths paths.c || exit 1
interrupt explore "$UNPLAIT" sym explore --sym-args 1 --sym-arg-len 40 ./paths
has out "not every path was followed to its end" "explore says what it covered"
# in the middle of a query: Z3 has the signal first
interrupt "a long query" "$UNPLAIT" sym explore --query-ms 1000000 --sym-args 1 --sym-arg-len 40 ./paths
has out "interrupted" "a query does not swallow it"

cat >long.c <<'C'
int main(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
}
C
"$UNPLAIT" cc -g -O1 -o long long.c || exit 1
interrupt run "$UNPLAIT" sym run ./long
has err "long.c:3" "run says where it was"
finish
