#!/usr/bin/env bash
# Programs that cannot be controlled, or not as usual, and ends that nobody wants: each is said.
# level: quick
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }

cat >two.c <<'X'
#include <pthread.h>
#include <assert.h>
static int n;
static pthread_t early;
static void *f(void *a) { int v = n; n = v + 1; return a; }
#ifdef EARLY
__attribute__((constructor)) static void start(void) { pthread_create(&early, 0, f, 0); }
#endif
int main(void)
{
	pthread_t t;
#ifndef EARLY
	pthread_create(&early, 0, f, 0);
#endif
	pthread_create(&t, 0, f, 0);
	pthread_join(t, 0);
	pthread_join(early, 0);
	assert(n == 2);
	return 0;
}
X
run 0 unplait cc -w -g -O1 two.c -o two
run 0 unplait cc -w -g -O1 -DEARLY two.c -o early
run 0 gcc -w -g -O1 two.c -o plain
export TMPDIR=$work/tmp
mkdir "$TMPDIR"

printf '#!/bin/sh\nexec ./two\n' >script
chmod +x script
run 3 unplait hunt ./script
has err "a script" "a script is named as one"
run 3 unplait hunt ./no-such-program
run 3 unplait hunt ./two.c
if gcc -w -static -O1 two.c -o static 2>/dev/null; then
	run 3 unplait hunt ./static
	has err "statically linked" "a static program is named as one"
else
	skip "static" "no static libc"
fi
run 0 unplait hunt -n 20 ./plain
has out "not instrumented" "a program that is not instrumented is named as one"

# constructors that start threads: no fork server, but everything else
run 1 unplait hunt -n 500 -o early.plait ./early
has out "its constructors start threads" "threads before main are said"
has out "replayed 5 of 5" "and controlled"
run 1 unplait replay --times 3 early.plait

# another build
run 1 unplait hunt -o two.plait ./two
sed -i 's/int v = n;/int v = n; n = v; v = n;/' two.c
run 0 unplait cc -w -g -O1 two.c -o two
"$UNPLAIT" replay two.plait >out 2>err
has err "another build" "another build is said"
head -c 700 two.plait >cut.plait
run 3 unplait replay cut.plait
run 3 unplait replay two.c

# no room
run 3 env TMPDIR=/no/such/folder "$UNPLAIT" hunt ./two
run 3 unplait hunt -o /no/such/folder/f.plait ./two

# Ctrl-C: what was found is told, nothing is left
sed 's/assert(n == 2)/assert(n > 0)/' two.c >never.c
run 0 unplait cc -w -g -O1 never.c -o never
for jobs in 1 2; do
	# TERM, because a shell starts its background jobs with INT ignored
	"$UNPLAIT" hunt -s random -n 100000000 -j $jobs ./never >out 2>err &
	pid=$!
	for _ in $(seq 100); do
		[ -n "$(ls "$TMPDIR")" ] && break
		sleep 0.1
	done
	sleep 0.3
	kill -TERM $pid
	wait $pid
	is $? 4 "interrupted with $jobs jobs: status 4"
	has out "interrupted" "and said"
	is "$(ls "$TMPDIR")" "" "no temporary folder is left"
	is "$(pgrep -g 0 -x never | wc -l)" 0 "no process is left"
done
finish
