#!/usr/bin/env bash
# Mode full's code comes in two objects: functions that consist of hooks, and the others (cc/instrument/halves.c). They
# call each other in both directions, share constants, and a second link has both from the cache.
# level: check
. "$(dirname "$0")/lib.sh"

# 80 static functions full of hooks, and as many that compute; each calls one of the other kind. With -DGOTO one has
# a table of labels, which must stay with it: then there is one object.
{
	echo '#include <pthread.h>
#include <stdio.h>
static int shared[80];
static const char *const words[] = { "zero", "one", "two", "three" };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;'
	for i in $(seq 80); do
		echo "static int hooks$i(int x); static __attribute__((noinline)) int work$i(unsigned x) {"
		echo "	if (x == 0) return hooks$i(-1);"
		for k in $(seq 8); do echo "	x = x * 2654435761u + $k; x ^= x >> 15; x += x << 3; x |= 1;"; done
		echo "	return (int)(x & 3) + words[x & 3][1]; }"
		echo "static __attribute__((noinline)) int hooks$i(int x) {"
		echo "	if (x < 0) return shared[$i - 1];"
		echo "	shared[$i - 1] += x; shared[$i % 80]++; shared[(x + $i) % 80]--; return work$i(x) + shared[$i % 80]; }"
	done
	echo 'static int (*const table[])(int) = {'
	for i in $(seq 80); do echo "	hooks$i,"; done
	echo '};
static int jump(int n)
{
#ifdef GOTO
	static void *const to[] = { &&a, &&b };
	goto *to[n & 1];
a:	return shared[0];
b:	return shared[1] + 1;
#else
	return shared[n & 1] + (n & 1);
#endif
}
static void *run(void *arg)
{
	int *sum = arg;
	for (int i = 0; i < 800; i++) {
		pthread_mutex_lock(&m);
		*sum += table[i % 80](i) + work7(0) + jump(i);
		pthread_mutex_unlock(&m);
	}
	return NULL;
}
int main(void)
{
	pthread_t t;
	int a = 0, b = 0;
	run(&a);
	pthread_create(&t, NULL, run, &b);
	pthread_join(t, NULL);
	printf("%d %d\n", a, b);
	return 0;
}'
} >halves.c
run 0 clang-19 -O2 -pthread -o plain halves.c
./plain >want
export UNPLAIT_CACHE=$PWD/cache
for how in "" -DGOTO; do
	run 0 env UNPLAIT_TIMES=1 "$UNPLAIT" cc -g -O2 $how -pthread -o halves halves.c
	if [ "$how" ]; then
		hasnt err "full: generate hooks" "labels in a table: one object"
	else
		has err "full: generate hooks" "two objects"
	fi
	rm halves
	run 0 env UNPLAIT_TIMES=1 "$UNPLAIT" cc -g -O2 $how -pthread -o halves halves.c
	hasnt err "generate code" "the second link has everything from the cache"
	run 0 ./halves
	has out "$(cat want)" "the same sums"
	run 0 unplait record --mode full -o "full$how.plait" -- ./halves
	has out "$(cat want)" "mode full: the same sums"
	run 0 unplait record --mode sync -o "sync$how.plait" -- ./halves
	run 0 unplait replay "sync$how.plait"
done
finish
