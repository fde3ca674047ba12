#!/usr/bin/env bash
# unplait cc: one file in one step and in two, archives, errors that are the user's own.
# level: quick
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "unplait cc" "libplait.a is not built"; finish; }

cat >main.c <<'X'
#include <pthread.h>
#include <stdio.h>
int twice(int);
static int counter;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&m);
		counter += *(int *)arg;
		pthread_mutex_unlock(&m);
	}
	return NULL;
}
int main(void)
{
	pthread_t t[2];
	int one = 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, &one);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", twice(counter));
	return 0;
}
X
echo 'int twice(int x) { return 2 * x; }' >twice.c

for o in -O0 -O2; do
	run 0 unplait cc $o main.c twice.c -o prog
	run 0 ./prog
	has out 400 "$o: one step"
	run 0 unplait cc $o -c main.c
	run 0 unplait cc $o -c twice.c
	run 0 unplait cc main.o twice.o -o prog2
	run 0 ./prog2
	has out 400 "$o: two steps"
	rm -f libt.a
	ar rcs libt.a twice.o
	run 0 unplait cc main.o -L. -lt -o prog3
	run 0 ./prog3
	has out 400 "$o: archive"
done
readelf -SW prog >sections
has sections .plait.sites
has sections .plait.bc
has sections .plait.build

run 0 unplait cc --unplait-plain main.o twice.o -o prog4
run 0 ./prog4.plain
has out 400
run 1 unplait cc main.o -o broken
has err "undefined reference to \`twice'"
hasnt err "unplait:"
run 1 unplait cc -c no-such.c
has err "no such file"
finish
