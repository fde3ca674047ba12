#!/usr/bin/env bash
# A program whose constructors start threads is under control before main: what a run needs is there by then.
# (0338 has a loop in such a program: the tool's nudge ended it, as "signal 64".)
. "$(dirname "$0")/lib.sh"

cat >early.c <<'END'
#include <pthread.h>
#include <stdlib.h>

static int shared, *block;

static void *add(void *arg)
{
	shared++;
	return arg;
}

static void *set(void *arg)
{
	*block = 1;
	return arg;
}

__attribute__((constructor)) static void early(void)
{
	pthread_t t;

	pthread_create(&t, NULL, add, NULL);
	shared++;
	pthread_join(t, NULL);
	block = malloc(16);
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, set, NULL);
#ifdef FIXED
	pthread_join(t, NULL);
	free(block);
#else
	free(block);
	pthread_join(t, NULL);
#endif
	return 0;
}
END

run 0 unplait cc -g -O1 -pthread -o early early.c
run 1 unplait hunt --seed 1 -n 50 -o '' ./early
has out "write to memory that was freed"
has out "its constructors start threads"

run 0 unplait cc -g -O1 -DFIXED -pthread -o fixed early.c
run 0 unplait hunt --seed 1 -n 50 -o '' ./fixed
has out "data races seen: 1"
finish
