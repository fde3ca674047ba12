#!/usr/bin/env bash
# A library has grown (an upgrade), so that the others lie elsewhere: schedules replay as before, and what changed is named.
. "$(dirname "$0")/lib.sh"
cat >grows.c <<'C'
static char pad[PAD] = { 1 };
int one(void) { return pad[0]; }
C
cat >locks.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
int count(int k) { pthread_mutex_lock(&m); n += k; pthread_mutex_unlock(&m); return n; }
C
cat >prog.c <<'C'
#include <assert.h>
#include <pthread.h>
int one(void), count(int);
static int x;
static void *work(void *a) { int y = x; count(1); x = y + one(); count(2); return a; }
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	assert(x == 3);
}
C
grow() { cc -shared -fPIC -Wl,--build-id -DPAD="$1" -o libgrows.so grows.c; }
grow 16
cc -shared -fPIC -o liblocks.so locks.c
link="-L. -lgrows -llocks -Wl,-rpath,$work -lpthread"
unplait cc -g -O1 -o built prog.c $link || not_ok build
cc -g -O1 -o plain prog.c $link || not_ok build
for p in built plain; do
	run 1 unplait hunt -o $p.plait -- ./$p
done
grow 0x6000
for p in built plain; do
	run 1 unplait replay --times 10 $p.plait
	has out "replayed 10 of 10 times" "$p: the same run although the libraries have moved"
	has err "another build of $work/libgrows.so" "$p: and the library that has changed is named"
	hasnt err "liblocks.so"
done
finish
