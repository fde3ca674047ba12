#!/usr/bin/env bash
# "Every schedule was explored" is said without a reservation only if there is none; else the sentence
# says what was not covered.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }

cat >sum.c <<'X'
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int sum;
#ifdef UNSEEN
static regex_t pattern;
#endif
static void *add(void *arg)
{
	pthread_mutex_lock(&m);
	sum++;
#ifdef UNSEEN
	sum += regexec(&pattern, "a", 0, NULL, 0);
#endif
	pthread_mutex_unlock(&m);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t;
#ifdef UNSEEN
	regcomp(&pattern, "a", 0);
#endif
#ifndef QUIET
	if (argc > 1)
		printf("%ld\n", (long)time(NULL));
#endif
#ifdef CHILD
	int ends[2];
	char said;
	pipe(ends);
	if (fork() == 0)
		_exit(write(ends[1], "x", 1) != 1);
	read(ends[0], &said, 1);
	wait(NULL);
#endif
	pthread_create(&t, NULL, add, NULL);
	add(NULL);
	pthread_join(t, NULL);
	return 0;
}
X
run 0 unplait cc -w -g -O1 -pthread sum.c -o sum
run 0 unplait cc -w -g -O1 -pthread -DUNSEEN sum.c -o unseen
run 0 unplait cc -w -g -O1 -pthread -DQUIET sum.c -o quiet
run 0 unplait cc -w -g -O1 -pthread -DCHILD sum.c -o child
run 0 clang-19 -w -g -O1 -pthread sum.c -o plain

run 0 unplait hunt -s dfs ./sum
has out ": every schedule was explored" "nothing is left out"
hasnt out "not covered"
run 0 unplait hunt -s states ./quiet
has out ": every schedule was explored" "nor by the search over states"
run 0 unplait hunt -s dfs:1 ./sum
has out "every schedule within the bound was explored"
run 0 unplait hunt -s dfs ./sum clock
has out "every schedule of what is covered was explored"
has out "not covered  the clock"
run 0 unplait hunt -s states ./sum clock
has out "not covered  the clock" "states says it too"
run 0 unplait hunt -s dfs ./unseen
has out "not covered  functions that were not looked into: "
has out "\`regexec'" "they are named"
run 0 unplait hunt -s dfs ./plain
has out "accesses in code that was not built with unplait cc"
run 0 unplait hunt -s dfs ./child
has out "every schedule of what is covered was explored"
has out "not covered  what was not under control" "another process had a say"
run 0 unplait hunt --json -s dfs ./unseen
has out '"exhausted": false' "no proof for programs"
has out "not_covered" "and why"
run 0 unplait hunt --json -s dfs ./sum
has out '"exhausted": true' "a proof"
finish
