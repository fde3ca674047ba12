#!/usr/bin/env bash
# A crowd that waits for the same is told once: in the headline and with its stack.
# level: quick
. "$(dirname "$0")/lib.sh"

cat >crowd.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static void *wait_for_it(void *arg)
{
	pthread_mutex_lock(&m);
	while (!ready)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	return arg;
}
int main(void)
{
	pthread_t t[12];
	for (int i = 0; i < 12; i++)
		pthread_create(&t[i], 0, wait_for_it, 0);
	for (int i = 0; i < 12; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
run 0 unplait cc -g -pthread crowd.c -o crowd
run 1 unplait hunt -o crowd.plait ./crowd
has out "deadlock: thread 0 waits to join thread 0.1; threads 0.1 and 11 more wait for a condition variable"
has out "  threads 0.1, 0.2 and 10 more wait for a condition variable"
is "$(grep -c 'wait_for_it at ' out)" 1 "one stack for all of them"
run 1 unplait hunt --json -o crowd.plait ./crowd
has out '"message": "thread 0 waits to join thread 0.1; threads 0.1 and 11 more wait for a condition variable"' "JSON has the sentence, too"
# explain, too
unplait explain --runs 0 --time 2 crowd.plait >out 2>err
has out "threads 0.1, 0.2 and 10 more: wait_for_it at crowd.c:9"

# up to three are told one by one
sed 's/12/3/g' crowd.c >few.c
run 0 unplait cc -g -pthread few.c -o few
run 1 unplait hunt -o few.plait ./few
has out "thread 0.1 waits for a condition variable; thread 0.2 waits for a condition variable; thread 0.3 waits"
finish
