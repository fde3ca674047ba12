#!/usr/bin/env bash
# A plait says how its program is run: input, oracle, expected output; nobody is asked twice.
# level: quick
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "replay" "libplait.a is not built"; finish; }

cat >sum.c <<'X'
#include <pthread.h>
#include <stdio.h>
static int total;
static void *add(void *arg) { int v = total; total = v + *(int *)arg; return 0; }
int main(void)
{
	pthread_t t[2];
	int n[2];
	if (scanf("%d %d", &n[0], &n[1]) != 2)
		return 9;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, add, &n[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	printf("%d\n", total);
	return total != n[0] + n[1];
}
X
run 0 unplait cc -g -O1 sum.c -o sum
echo "3 4" >numbers
echo 7 >seven
mkdir elsewhere

again() { # WHAT: replay, minimize and explain the plait, told nothing
	run 1 unplait replay --times 3 fail.plait
	has out "replayed 3 of 3 times" "$1: replayed"
	run 1 unplait minimize -o min.plait fail.plait
	run 1 unplait replay min.plait
	run 1 unplait explain -n 0 fail.plait
	(cd elsewhere && "$UNPLAIT" replay ../fail.plait ../sum >../there 2>&1)
	is $? 1 "$1: from another folder"
}
run 1 unplait hunt --input numbers --fail-on exit -o fail.plait ./sum
has out "exit 1" "the sum is wrong, the input was read"
again "exit status"
run 1 unplait hunt --input numbers --expect seven -o fail.plait ./sum
again "expected output"
run 1 unplait hunt --input numbers --oracle 'grep -q 7 $PLAIT_STDOUT' -o fail.plait ./sum
again "oracle"

rm numbers
run 1 unplait replay fail.plait
has out "replayed 1 of 1" "the plait carries its input"
echo "3 4" >other
run 1 unplait replay --input other fail.plait
finish
