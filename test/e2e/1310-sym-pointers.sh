#!/usr/bin/env bash
# A pointer to a mutex, to a function or to data that depends on the input: every object that it may mean is followed.
# level: quick
. "$(dirname "$0")/lib.sh"

cat >mutex.c <<'C'
#include <pthread.h>
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
int main(int argc, char **argv)
{
	pthread_mutex_t *p = argc > 1 && argv[1][0] == 'x' ? &one : &two;
	pthread_mutex_lock(&one);
	pthread_mutex_lock(p);
	pthread_mutex_unlock(p);
	pthread_mutex_unlock(&one);
	return 0;
}
C
cat >call.c <<'C'
#include <stdlib.h>
static int good(int x) { return x; }
static int bad(int x) { if (x == 'q') abort(); return 0; }
int main(int argc, char **argv)
{
	int (*f)(int) = argc > 1 && argv[1][0] == 'b' ? bad : good;
	return argc > 1 ? f(argv[1][1]) : 0;
}
C
cat >select.c <<'C'
static int a[4], b[6];
int main(int argc, char **argv)
{
	int *p = argc > 1 && argv[1][0] & 1 ? a : b, i = argc > 1 ? argv[1][1] & 3 : 0;
	p[i] = 7;
	p[i] += argc;
	return p[3] == 99;
}
C
for o in -O0 -O2; do
	run 1 unplait sym explore --cflag $o --sym-args 1 --sym-arg-len 2 --no-confirm mutex.c
	has out "mutex.c x"
	has out "2 paths, 1 error"
	run 1 unplait sym explore --cflag $o --sym-args 1 --sym-arg-len 2 --no-confirm call.c
	has out "call.c bq"
	run 0 unplait sym explore --cflag $o --sym-args 1 --sym-arg-len 2 --no-confirm select.c
	has out "0 errors"
done
finish
