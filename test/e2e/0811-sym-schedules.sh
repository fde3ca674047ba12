#!/usr/bin/env bash
# Exploring inputs and thread schedules together: which input makes which schedule fail.
# level: quick
. "$(dirname "$0")/lib.sh"

cat >a.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int balance = 10;
static void *one(void *arg)
{
	int seen;
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&b);
	seen = balance;
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	pthread_mutex_lock(&b);
	balance = seen + 1;
	pthread_mutex_unlock(&b);
	return NULL;
}
static void *two(void *arg)
{
	int *swap = arg;
	if (*swap == 'x')
		pthread_mutex_lock(&b);
	pthread_mutex_lock(&a);
	if (*swap != 'x')
		pthread_mutex_lock(&b);
	balance++;
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t, u;
	int swap = argv[1][0];
	pthread_create(&t, NULL, one, NULL);
	pthread_create(&u, NULL, two, &swap);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	assert(balance == 12);
	return 0;
}
C
run 0 unplait sym explore --no-confirm --sym-args 1 --sym-arg-len 1 a.c
has out "2 paths, 0 errors" "one schedule shows nothing"
run 1 unplait sym explore --no-confirm --preemptions 1 --sym-args 1 --sym-arg-len 1 a.c
has out "balance == 12" "a lost update between two critical sections"
has out "thread 0.1 waits for a mutex at a.c:10" "a deadlock"
has out "input: a.c x" "with the input it needs"
has out ", 2 errors"
# without the bug nothing is found in any of the schedules
sed 's/balance = seen + 1/balance++/; s/== .x./== 0x1ff/; s/!= .x./!= 0x1ff/' a.c >fixed.c
run 0 unplait sym explore --no-confirm --preemptions 2 --sym-args 1 --sym-arg-len 1 fixed.c
has out ", 0 errors"
finish
