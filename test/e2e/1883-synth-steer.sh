#!/usr/bin/env bash
# A deadlock that one of many callers leads to: the run is steered to the dump's stacks, not searched for.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

cat >many.c <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static long total;
__attribute__((noinline)) static void both(pthread_mutex_t *x, pthread_mutex_t *y)
{
	pthread_mutex_lock(x);
	total++;
	pthread_mutex_lock(y);
	total++;
	pthread_mutex_unlock(y);
	pthread_mutex_unlock(x);
}
#ifdef FIXED
#define OTHER &a, &b
#else
#define OTHER &b, &a
#endif
#define CALLER(n, ...) __attribute__((noinline)) static void n(void) { both(__VA_ARGS__); total += __LINE__; /* no two alike */ }
CALLER(save, &a, &b)
CALLER(load, &a, &b)
CALLER(copy, &a, &b)
CALLER(drop, OTHER)
CALLER(swap, OTHER)
static void *first(void *arg)
{
	for (int i = 0; i < 60; i++) {
		save();
		if (i == 37)
			copy();
	}
	return arg;
}
static void *second(void *arg)
{
	for (int i = 0; i < 60; i++) {
		if (i == 11)
			drop();
		else if (i % 7 == 6)
			swap();
		else
			load();
	}
	return arg;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], NULL, first, NULL);
	pthread_create(&t[1], NULL, second, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return total == 0;
}
C
# locks, preloaded: the first thread's 77th lock, in copy, is held until the second has its 23rd, in drop
cat >meet.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int tids[2], known, ready, stage;
static __thread int mine, n;
static int is_first(void)
{
	if (!mine) {
		mine = gettid();
		tids[known++] = mine;
		ready++;
	}
	while (ready < 2)
		usleep(1000);
	return mine == (tids[0] < tids[1] ? tids[0] : tids[1]);
}
int pthread_mutex_lock(pthread_mutex_t *m)
{
	int (*real)(pthread_mutex_t *) = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
	int one = is_first(), r;

	n++;
	while (!one && n == 23 && stage < 1)
		usleep(1000);
	r = real(m);
	if (one && n == 77)
		stage = 1;
	if (!one && n == 23)
		stage = 2;
	while (one && n == 77 && stage < 2)
		usleep(1000);
	return r;
}
C
gcc -shared -fPIC -O1 -o meet.so meet.c
gcc -O2 -g -pthread -o many-gcc many.c
LD_PRELOAD=$PWD/meet.so ./many-gcc &
pid=$!
if stuck $pid; then gcore -o many "$pid" >/dev/null 2>&1; fi
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
[ -f "many.$pid" ] && ok "a dump of it" || not_ok "a dump of it"
run 0 unplait cc -g -O0 -pthread -o many many.c
run 1 unplait synth -v --time 30 -o s.plait "many.$pid" ./many
has out "copy at many.c"
has out "drop at many.c"
grep -q "steer: 1 of [0-9]* moments have stack 0 of the dump" err && ok "one moment fits" || not_ok "one moment fits" "$(cat err)"
has out "confirmed in the unplait build and in the shipped binary"
# other callers wait at the same two instructions: the shipped binary must stand in copy and drop
printf 'run\nthread apply all bt 12\n' | unplait replay --gdb s.shipped.plait >gdb.out 2>&1
has gdb.out " copy " "the shipped binary is steered to the dump's callers"
has gdb.out " drop "
is "$(sed -n 's/.* native runs, \([0-9]*\) states.*/\1/p' out)" 0 "no schedule was searched for"
run 1 unplait replay --times 20 s.plait
has out "replayed 20 of 20 times"
run 0 unplait cc -g -O0 -pthread -DFIXED -o cured many.c
"$UNPLAIT" synth --time 5 -o c.plait "many.$pid" ./cured >out 2>&1
is "$(($? == 1))" 0 "the cured program does not fail so"
finish
