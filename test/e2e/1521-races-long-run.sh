#!/usr/bin/env bash
# A race behind many accesses and few synchronisation calls: runs are long enough to get there. (The budget of a run came from
# one in which accesses are no scheduling points; every run was cut off, and races said 0.)
# level: check
. "$(dirname "$0")/lib.sh"

cat >late.c <<'END'
#include <pthread.h>
#include <stdio.h>
static volatile int a[2000], x;
static void *f(void *p)
{
	for (int i = 0; i < 1000; i++)
		a[i + (p ? 1000 : 0)] = i;
	x = x + 1;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, f, (void *)a);
	f(NULL);
	pthread_join(t, NULL);
	printf("%d\n", x);
	return 0;
}
END
run 0 unplait cc -g -pthread -o late late.c
run 1 unplait races --one-path -o "" ./late
has out "late.c:8"
has out "output-differs"

# no time: said, and no clean bill
run 4 unplait races --one-path --time 0.001 -o "" ./late
has out "no run has looked for races"
finish
