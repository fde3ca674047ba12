#!/usr/bin/env bash
# AddressSanitizer and UndefinedBehaviorSanitizer builds: they run in every mode, threads come under
# control, and a report is a failure. Those that cannot be combined with us are refused in one sentence.
. "$(dirname "$0")/lib.sh"
cat >use.c <<'X'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
/* the order of the two threads decides whether freed memory is read */
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *box, sum;
static void *reader(void *arg)
{
	pthread_mutex_lock(&m);
	sum += box[0];
	pthread_mutex_unlock(&m);
	return arg;
}
static void *closer(void *arg)
{
	pthread_mutex_lock(&m);
	free(box);
	pthread_mutex_unlock(&m);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	(void)argv;
	box = calloc(4, sizeof(*box));
	box[0] = 1;
	pthread_create(&t[0], NULL, reader, NULL);
	if (argc > 1)
		pthread_join(t[0], NULL);
	pthread_create(&t[1], NULL, closer, NULL);
	for (int i = argc > 1; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", sum);
	return 0;
}
X
for s in address address,undefined; do
	run 0 unplait cc -g -O1 -fsanitize=$s use.c -o use -lpthread
	for m in path full; do
		run 0 unplait record --mode $m -o $m.plait -- ./use in-order
		has out "3 threads" "$s, $m: threads are seen"
	done
	run 0 ./use in-order
	has out 1
	run 0 unplait hunt --runs 30 -- ./use in-order
	run 1 unplait hunt --runs 200 -o fail.plait -- ./use
	has out "abort()"
	run 1 unplait replay --times 3 fail.plait
	has out "3 of 3"
done
cat >shift.c <<'X'
#include <pthread.h>
#include <stdlib.h>
static int amount = 3;
static void *grow(void *arg) { amount = 40; return arg; }
int main(void)
{
	pthread_t t;
	int x;
	pthread_create(&t, NULL, grow, NULL);
	x = 1 << amount;
	pthread_join(t, NULL);
	return x == 0;
}
X
run 0 unplait cc -g -O1 -fsanitize=undefined -fno-sanitize-recover=all shift.c -o shift -lpthread
run 1 unplait hunt --runs 200 -o fail.plait -- ./shift
has out "abort()"
for s in thread memory; do
	run 2 unplait cc -fsanitize=$s use.c -o refused
	is "$(wc -l <err)" 1 "one line"
	has err "-fsanitize=$s does not go together with our own instrumentation"
done
finish
