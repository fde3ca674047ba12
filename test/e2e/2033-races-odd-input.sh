#!/usr/bin/env bash
# races --from a log of several processes, and races of a program that carries no bitcode.
# level: check
. "$(dirname "$0")/lib.sh"

cat >count.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
static int count, total;

static void *work(void *arg)
{
	count++;
	total++;
	return arg;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, 0, work, 0);
	work(0);
	pthread_join(t, 0);
	return printf("%d\n", count) < 0;
}
EOF
# report PROCESS LINE: as ThreadSanitizer prints it
report() {
	echo "=================="
	echo "WARNING: ThreadSanitizer: data race (pid=$1)"
	echo "  Write of size 4 at 0x555555559a20 by thread T1:"
	echo "    #0 work $PWD/count.c:$2:7 (count+0x1)"
	echo
	echo "  Previous write of size 4 at 0x555555559a20 by main thread:"
	echo "    #0 work $PWD/count.c:$2:7 (count+0x1)"
	echo "    #1 main $PWD/count.c:17:2 (count+0x2)"
	echo
	echo "SUMMARY: ThreadSanitizer: data race $PWD/count.c:$2:7 in work"
	echo "=================="
}
{
	report 11 7
	echo "ThreadSanitizer: reported 1 warnings"
	report 12 7
	report 12 8
	echo "ThreadSanitizer: reported 2 warnings"
} >several.log
run 0 unplait cc -g -O0 -pthread -o count count.c
"$UNPLAIT" races --from several.log --one-path -o "" ./count >out 2>err
is $? 1 "a log of two processes"
has err "2 races, some of them more than once" "what both have seen is one race"
has out "output-differs     count"
has out "2 races: 1 output-differs, 1 k-witness-harmless"

cp count bare
objcopy --remove-section .plait.bc bare
"$UNPLAIT" races -o "" ./bare >out 2>err
is $? 1 "without bitcode the given input is judged"
has out "output-differs     count"
has out "no inputs but the given ones were tried" "and it says that no others were tried"
finish
