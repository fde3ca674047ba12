#!/usr/bin/env bash
# Atomic operations of 16 bytes are no races, and hand on what was written before them. What they do not hand on races as
# before.
# level: check
. "$(dirname "$0")/lib.sh"
cat >wide.c <<'X'
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
typedef unsigned __int128 wide;
static _Atomic wide cell;
static int data, other;
static void *writer(void *arg)
{
	wide old = atomic_load(&cell);

	data = 7;
	while (!atomic_compare_exchange_weak(&cell, &old, old + 1))
		;
	other = LATE;
	return arg;
}
static void *reader(void *arg)
{
	if (atomic_load(&cell) > 0)
		data += other;
	atomic_store(&cell, 0);
	return arg;
}
int main(void)
{
	pthread_t t, u;

	pthread_create(&t, NULL, writer, NULL);
	pthread_create(&u, NULL, reader, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return data < 7;
}
X
sed 's/	other = LATE;//' wide.c >handed.c
for o in -O0 -O2; do
	run 0 unplait cc -g $o -mcx16 -pthread -o handed handed.c
	run 0 unplait races --time 10 -- ./handed
	has out "0 races" "$o: handed on by an atomic operation of 16 bytes"
	run 0 unplait hunt -n 300 ./handed
	hasnt out "data races" "$o: nor in a hunt"
	run 0 unplait record --mode full -o run.plait -- ./handed
	run 0 unplait races --from run.plait -- ./handed
	has out "0 races" "$o: nor in a recording"
	run 0 unplait cc -g $o -DLATE=1 -mcx16 -pthread -o late wide.c
	"$UNPLAIT" races --time 10 -- ./late >out 2>err
	has out "other  wide.c:14" "$o: what comes behind it races"
	hasnt out "cell  wide.c" "$o: and nothing else does"
done
finish
