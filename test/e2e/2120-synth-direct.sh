#!/usr/bin/env bash
# The shipped binary fails by switches between plain accesses: it is directed there, and its plait does so again.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

cp "$top/test/programs/directed-race.c" race.c
gcc -O2 -g -pthread -o shipped race.c
SLOW=1 dump_of race.core ./shipped </dev/null
run 0 unplait cc -g -O0 -pthread -o race race.c
run 1 unplait synth --facts stack -o s.plait race.core ./race
has out "look at"
has out "switches at the lines where the unplait build has them"
has out "confirmed in the unplait build and in the shipped binary"
run 1 unplait replay --times 5 s.shipped.plait
has out "look at race.c"
has out "replayed 5 of 5 times"
run 1 unplait replay --json s.shipped.plait
has out '"kind": "signal"'
mv shipped moved
run 3 unplait replay s.shipped.plait
gcc -O1 -g -pthread -o shipped race.c
run 3 unplait replay s.shipped.plait
has err "another build"

# without lines there is no telling where to switch
strip -o shipped moved
run 1 unplait synth --facts stack --time 120 -o r.plait race.core ./race
has out "switches between instructions, which were found at random"
run 1 unplait replay --times 5 r.shipped.plait
has out "replayed 5 of 5 times"

# a deadlock that only a switch between two plain writes leads to
cat >dead.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static volatile int begun, ready, seen;
static int slow;
static __attribute__((noinline)) void meet(volatile int *flag)
{
	while (slow && !*flag)
		usleep(1000);
}
static void *first(void *arg)
{
	begun = 1;
	meet(&seen);
	ready = 1;
	pthread_mutex_lock(&a);
	seen = 2;
	pthread_mutex_lock(&b);
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	return arg;
}
static void *second(void *arg)
{
	pthread_mutex_lock(&b);
	meet(&begun);
	if (begun && !ready) {
		seen = 1;
		while (slow && seen != 2)
			usleep(1000);
		pthread_mutex_lock(&a);
		pthread_mutex_unlock(&a);
	}
	pthread_mutex_unlock(&b);
	return arg;
}
int main(void)
{
	pthread_t t, u;
	slow = getenv("SLOW") != NULL;
	pthread_create(&t, NULL, first, NULL);
	pthread_create(&u, NULL, second, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
C
gcc -O2 -g -pthread -o dead-gcc dead.c
SLOW=1 ./dead-gcc &
pid=$!
if stuck $pid; then gcore -o dead "$pid" >/dev/null 2>&1; fi
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
[ -f "dead.$pid" ] && ok "a dump of a deadlock" || not_ok "a dump of a deadlock"
run 0 unplait cc -g -O0 -pthread -o dead dead.c
run 1 unplait synth --facts stack -o d.plait "dead.$pid" ./dead
has out "switches at the lines where the unplait build has them"
has out "confirmed in the unplait build and in the shipped binary"
run 1 unplait replay --times 5 d.shipped.plait
has out "deadlock"
has out "replayed 5 of 5 times"
finish
