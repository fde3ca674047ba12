#!/usr/bin/env bash
# A directed run of the shipped binary under gdb: breakpoints, steps, run again; the order stays the script's.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"
command -v gdb >/dev/null || { skip "gdb" "not installed"; finish; }

cat >race.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int n, *end, last = 2;
static volatile int has_read, has_added;
static int slow;
static __attribute__((noinline)) void meet(volatile int *flag)
{
	while (slow && !*flag)
		usleep(1000);
}
static __attribute__((noinline)) void set(int to)
{
	n = to;
}
static void *first(void *arg)
{
	int old = n;
	has_read = 1;
	meet(&has_added);
	set(old + 1);
	return arg;
}
static void *second(void *arg)
{
	meet(&has_read);
	n++;
	has_added = 1;
	return arg;
}
static __attribute__((noinline)) int look(void)
{
	return *end;
}
int main(void)
{
	pthread_t a, b;
	slow = getenv("SLOW") != NULL;
	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	if (n == 2)
		end = &last;
	return look() != 2;
}
C
gcc -O2 -g -pthread -o shipped race.c
SLOW=1 dump_of race.core ./shipped </dev/null
run 0 unplait cc -g -O0 -pthread -o race race.c
run 1 unplait synth --facts stack -o s.plait race.core ./race
has out "directed"
unplait replay --gdb-command bt --gdb-command 'print n' s.shipped.plait >out 2>&1
has out "received signal SIGSEGV"
has out "look () at race.c"
has out '= 1' "the update is lost"
# three times in one session, once with a breakpoint and steps on the way
printf 'run\nkill\nbreak set\nrun\ninfo threads\nprint n\nnext\nnext\ncontinue\nprint n\nkill\ndelete\nrun\nbt\n' |
	unplait replay --gdb s.shipped.plait >out 2>&1
is "$(grep -c 'received signal SIGSEGV' out)" 3 "it fails three times"
has out "hit Breakpoint 1, set"
has out "(0.1)" "threads have the names of the plait"
is "$(pgrep -f "$work/shipped" | wc -l)" 0 "nothing is left"
finish
