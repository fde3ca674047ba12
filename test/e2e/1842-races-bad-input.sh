#!/usr/bin/env bash
# races where there is little to say: unstable or endless output, hundreds of races, no instrumentation, Ctrl-C.
. "$(dirname "$0")/lib.sh"

unplait cc -g -pthread -o unstable "$top/test/programs/race-unstable.c"
"$UNPLAIT" races --one-path -o "" ./unstable >out 2>err
is $? 4 "output that differs between equal runs says nothing"
has out "output-not-stable  mark"

cat >endless.c <<'END'
#include <pthread.h>
#include <stdio.h>
static int mark;
static void *set(void *arg) { mark++; return arg; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, set, NULL);
	mark++;
	for (;;)
		puts("more");
}
END
unplait cc -g -pthread -o endless endless.c
"$UNPLAIT" races --one-path --timeout 0.3 -n 2 --time 60 -o "" ./endless >out 2>err
is $? 4 "a program that prints for ever comes to no end"
has out "were cut off before their end" "which is said"

{
	echo '#include <pthread.h>'
	echo 'static int a[400]; static void *w(void *p) {'
	seq -f 'a[%.0f]++;' 0 399
	echo 'return p; } int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); w(0); return pthread_join(t, 0); }'
} >many.c
unplait cc -g -pthread -o many many.c
"$UNPLAIT" races --one-path -n 2 --time 1 -o "" ./many >out 2>err
is $? 4 "hundreds of races: some are left"
has out "races were not judged: no time was left (--time)" "how many, and why"

"$UNPLAIT" races --one-path -o "" ./many >out 2>err &
sleep 1
kill -INT $!
wait $!
is $? 4 "Ctrl-C: what is known so far"
has out "interrupted"

clang-19 -g -pthread -o plain endless.c
run 3 unplait races ./plain
has err "was not built with \`unplait cc'"
run 3 unplait races ./nothing
run 2 unplait races
finish
