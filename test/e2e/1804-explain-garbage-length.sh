#!/usr/bin/env bash
# A copy whose length is garbage kills the program; its recording is not damaged, and is explained. (A reader that takes
# 2^43 bytes for damage ended explain with status 3.)
# level: check
. "$(dirname "$0")/lib.sh"
cat >garbage.c <<'C'
#include <pthread.h>
#include <string.h>
static char from[64], to[64];
static volatile size_t begin, end = 8;
static void *move(void *arg) { begin = 1ul << 43; end = begin + 8; begin = 0; end = 8; return arg; }
static void *copy(void *arg) { memmove(to, from, end - begin); return arg; }
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, move, 0);
	pthread_create(&u, 0, copy, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return to[1];
}
C
run 0 unplait cc -w -g -O1 -pthread -fno-builtin -o garbage garbage.c
run 1 timeout 60 "$UNPLAIT" hunt -n 2000 -o f.plait ./garbage
timeout 100 "$UNPLAIT" explain --runs 100 f.plait >out 2>err
is $? 1 "explained"
hasnt err "damaged"
finish
