#!/usr/bin/env bash
# By values: where a thread cannot be followed symbolically, what was read and written is the model. Silent about cured
# programs, and never a proof.
# level: check
. "$(dirname "$0")/lib.sh"

cat >asm.c <<'END'
#include <assert.h>
#include <pthread.h>
static int balance = 1;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, whole = PTHREAD_MUTEX_INITIALIZER;
static int twice(int n) /* the symbolic machine does not read assembly */
{
	int r;
	__asm__("leal (%1,%1), %0" : "=r"(r) : "r"(n));
	return r;
}
static void *pay(void *arg)
{
	int old;
#ifdef FIXED
	pthread_mutex_lock(&whole);
#endif
	pthread_mutex_lock(&m);
	old = balance;
	pthread_mutex_unlock(&m);
	old = twice(old);
	pthread_mutex_lock(&m);
	balance = old;
	pthread_mutex_unlock(&m);
#ifdef FIXED
	pthread_mutex_unlock(&whole);
#endif
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, pay, 0);
	pthread_create(&b, 0, pay, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(balance == 4);
}
END
for o in -O0 -O2; do
	run 0 unplait cc -g $o -pthread -o asm asm.c
	run 0 unplait record --mode path -o pass.plait -- ./asm
	run 4 unplait predict --method paths --no-explain -o '' pass.plait
	has err "cannot be followed: inline assembly"
	run 1 unplait predict --no-explain --time 60 -o found.plait pass.plait
	has out "followed by recorded values"
	has out "inline assembly"
	run 1 unplait replay found.plait
	run 0 unplait cc -g $o -DFIXED -pthread -o cured asm.c
	run 0 unplait predict --no-explain --record 1 --time 20 -o '' -- ./cured
	hasnt out "every run passes"
done

# the same question by values about programs that can be followed
run 0 unplait cc -g -pthread -o fig51 "$CORPUS/fig51/main.c"
run 1 unplait predict --method values --record 1 --no-explain --time 60 -o '' -- ./fig51
run 0 unplait cc -g -pthread -o dinphil "$CORPUS/sct-dinphil/main.c" -I"$CORPUS"
run 1 unplait predict --method values --record 1 --no-explain --time 60 -o '' -- ./dinphil
has out "deadlock"
run 0 unplait cc -g -pthread -DFIXED -o fig51-cured "$CORPUS/fig51/main.c"
run 0 unplait predict --method values --record 1 --no-explain --time 20 -o '' -- ./fig51-cured
hasnt out "every run passes"

# bad input
run 0 unplait record --mode path -o path.plait -- ./fig51
run 3 unplait predict --method values path.plait
has err "it has no values; record with --mode full"
run 2 unplait predict --method guess path.plait
has err "auto, paths or values"
finish
