#!/usr/bin/env bash
# hunt: threads with attributes (size of the stack, a stack of the program's own, a scheduling policy, a guard) and
# threads made while all signals are blocked, in processes that are used for many runs.
. "$(dirname "$0")/lib.sh"

cat >attributes.c <<'C'
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
static volatile int n;
static void *add(void *p)
{
	char here[4096];
	int seen = n;

	here[0] = 1;
	n = seen + here[0];
	return p;
}
int main(int argc, char **argv)
{
	int kind = atoi(argv[1]);
	struct sched_param none = { 0 };
	pthread_attr_t attr[2];
	pthread_t t[2];
	sigset_t all;

	for (int i = 0; i < 2; i++) {
		pthread_attr_init(&attr[i]);
		if (kind == 0)
			pthread_attr_setstacksize(&attr[i], PTHREAD_STACK_MIN + 65536);
		if (kind == 1)
			pthread_attr_setstacksize(&attr[i], 64 << 20);
		if (kind == 2)
			pthread_attr_setstack(&attr[i], mmap(0, 1 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1 << 20);
		if (kind == 3) {
			pthread_attr_setinheritsched(&attr[i], PTHREAD_EXPLICIT_SCHED);
			pthread_attr_setschedpolicy(&attr[i], SCHED_OTHER);
			pthread_attr_setschedparam(&attr[i], &none);
		}
		if (kind == 4)
			pthread_attr_setguardsize(&attr[i], 1 << 16);
		sigfillset(&all);
		if (kind == 5)
			pthread_sigmask(SIG_BLOCK, &all, NULL);
		assert(!pthread_create(&t[i], &attr[i], add, NULL));
	}
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(argc > 2 || n == 2);
	return 0;
}
C
for o in -O0 -O2; do
	run 0 unplait cc -D_GNU_SOURCE -w -g $o -pthread -o attributes attributes.c
	for kind in 0 1 2 3 4 5; do
		run 0 unplait hunt -n 60 ./attributes $kind harmless
		run 1 unplait hunt -n 200 -o f.plait ./attributes $kind
		has out "n == 2' failed" "kind $kind: the lost update and nothing else"
		has out "replayed 5 of 5"
	done
done
run 1 unplait hunt --gate futex -n 200 -o f.plait ./attributes 2
has out "n == 2' failed" "by futex, too"
finish
