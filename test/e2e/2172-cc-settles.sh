#!/usr/bin/env bash
# The points-to analysis comes to an end where functions call each other with a pointer that moves on:
# what it had not told by then, it took for shared, and so did it with all the rest of the program.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "settling" "libplait.a is not built"; finish; }
cat >walk.c <<'C'
#include <pthread.h>
struct item { struct item *left, *right; int value; };
static int even(struct item **at, int n);
__attribute__((noinline)) static int odd(struct item **at, int n) { return n ? at[0]->value + even(at + 1, n - 1) : 0; }
__attribute__((noinline)) static int even(struct item **at, int n) { return n ? at[0]->value + odd(at, n - 1) : 0; }
static int shared;
static void *thread(void *arg) { shared++; return arg; }
int main(void)
{
	struct item *all[5], one = { 0, 0, 1 };
	pthread_t t;
	int n = 0;
	for (int i = 0; i < 5; i++) all[i] = &one;
	if (pthread_create(&t, 0, thread, 0)) return 1;
	n = even(all, 8);
	shared += n;
	return pthread_join(t, 0);
}
C
for level in -O0 -O1; do
	run 0 unplait cc $level -g walk.c -o walk -pthread
	run 0 unplait info walk
	is "$(sed -n 's/^elements *//p' out)" 1 "$level: one element is shared"
	grep -q 'of which 4 instrumented' out && ok "$level: two accesses that read, two that write" || not_ok "$level: four accesses" "$(cat out)"
done
finish
