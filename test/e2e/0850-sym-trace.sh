#!/usr/bin/env bash
# A run's decisions, followed again with unknown inputs, give an input that takes the same path.
# level: quick
. "$(dirname "$0")/lib.sh"

cat >a.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void *work(void *arg)
{
	const char *s = arg;
	for (; *s; s++)
		if (*s >= '5') {
			pthread_mutex_lock(&lock);
			total += *s - '0';
			pthread_mutex_unlock(&lock);
		}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t;
	if (argc < 3)
		return 2;
	pthread_create(&t, NULL, work, argv[1]);
	pthread_join(t, NULL);
	switch (argv[2][0]) {
	case 'a': return total > 9 ? 3 : 4;
	case 'b': return 5;
	default: return 6;
	}
}
C
run 0 unplait sym trace a.c 19 a
has out "a.c:11: " "decisions of the second thread have their line"
has out "arg1[0]" "conditions name the input"
has out "exit: exit"
has out "native run: confirmed"
run 0 unplait sym trace --json a.c 95 b
has out '"native": "confirmed"'
cat >b.c <<'C'
#include <assert.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int n = atoi(argv[1]);
	assert(n * 3 != 81);
	return 0;
}
C
run 1 unplait sym trace b.c 27
has out "assert: " "follows a failing run"
has out "native run: confirmed"
finish
