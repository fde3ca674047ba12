#!/usr/bin/env bash
# watch: a deadlock of a plain program, with both stacks per thread; silence on the cured one.
# level: quick
. "$(dirname "$0")/lib.sh"

cat >ab.c <<'END'
#include <pthread.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t bar;
static __attribute__((noinline)) void take(pthread_mutex_t *m)
{
	pthread_mutex_lock(m); /* line 6 */
	__asm__ volatile("");
}
static __attribute__((noinline)) void both(pthread_mutex_t *x, pthread_mutex_t *y)
{
	take(x); /* line 11 */
	pthread_barrier_wait(&bar);
	take(y); /* line 13 */
	pthread_mutex_unlock(y);
	pthread_mutex_unlock(x);
}
static void *one(void *p) { both(&a, &b); return p; }
static void *two(void *p) { both(&b, &a); return p; }
int main(int argc, char **argv)
{
	pthread_t t, u;
	(void)argv;
	pthread_barrier_init(&bar, 0, argc > 1 ? 1 : 2);
	pthread_create(&t, 0, one, 0);
	if (argc > 1)
		pthread_join(t, 0);
	pthread_create(&u, 0, two, 0);
	if (argc == 1)
		pthread_join(t, 0);
	pthread_join(u, 0);
	return 0;
}
END
cc -O2 -g -pthread -o ab ab.c

run 1 timeout 30 "$UNPLAIT" watch -o found --sarif ab.sarif -- ./ab
has out "deadlock: 2 threads wait for each other"
has out "holds mutex a, taken at"
has out "wants mutex b, held by thread 0.2, at"
has out "take  ab.c:6"
has out "both  ab.c:11" "where it was taken"
has out "both  ab.c:13" "where it is wanted"
has out "thread 0 (tid"
has ab.sarif '"version": "2.1.0"'
has ab.sarif '"ruleId": "deadlock"'
is "$(ls found | wc -l)" 1 "one fingerprint in the folder"
run 1 timeout 30 "$UNPLAIT" watch --json -o found -- ./ab
has out '"unplait": 1'
has out '"kind": "deadlock"'
run 1 unplait watch --report found
has out "2 fingerprints, 1 bucket" "the same deadlock twice is one bucket"
has out "seen 2 times"

run 0 timeout 30 "$UNPLAIT" watch -- ./ab in-turn
is "$(cat out)" "" "nothing to say about a program that is right"
run 0 timeout 30 "$UNPLAIT" watch --history 64 --timeout 20 --json -- ./ab in-turn
has out '"kind": "none"'

run 2 unplait watch
run 2 unplait watch --pid 1 --core x
run 3 unplait watch -- ./no-such-program
run 3 unplait watch --area ab.c
has err "not an area"
run 3 unplait watch --core ab.c
has err "ab.c is not a core dump"
cc -static -o static -x c - <<<'int main(void) { return 0; }' 2>/dev/null &&
	{ run 3 unplait watch -- ./static; has err "statically linked"; }
size=$(stat -c %s "$(dirname "$UNPLAIT")/libplait-watch.so")
is "$((size < 100000))" 1 "the library is under 100 KB ($size)"
is "$(ldd "$(dirname "$UNPLAIT")/libplait-watch.so" | grep -vE 'libc\.so|ld-linux|linux-vdso' | wc -l)" 0 "and needs only libc"
finish
