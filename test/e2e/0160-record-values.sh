#!/usr/bin/env bash
# Mode path: every value of an address-feeding load is in the trace, whatever interrupts the thread.
. "$(dirname "$0")/lib.sh"
cat >v.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
/* Each step logs 1 + 2 + 4 + 8 bytes: nobody can say statically that no other thread writes. */
#define N 251
struct node { struct node *next; int visits; };
static uint8_t a[256];
static uint16_t b[256];
static uint32_t c[256];
static struct node nodes[256];
static volatile uint64_t *steps, none[2];
static volatile int calls, stop;
static __attribute__((noinline)) struct node *step(int i)
{
	return nodes[c[b[a[i]]]].next;
}
static void fill(int k)
{
	for (int i = 0; i < 256; i++) {
		a[i] = (uint8_t)(1 + (i + k) % N);
		b[i] = (uint16_t)(1 + (i * 3 + k) % N);
		c[i] = (uint32_t)(1 + (i * 7 + k) % N);
		nodes[i].next = &nodes[1 + (i * 5 + k) % N];
	}
}
static void on_alarm(int s)
{
	(void)s;
	free(malloc(10));
	step(3)->visits++;
	calls++;
}
static void *walk(void *arg)
{
	int n = *(int *)arg;
	for (int i = 0; i < n && !stop; i++) {
		step(1 + i % N)->visits++;
		steps[0] = (uint64_t)i + 1;
	}
	return NULL;
}
static void *filler(void *arg) { fill(*(int *)arg); return NULL; }
int main(int argc, char **argv)
{
	int n = atoi(argv[2]), k = 1;
	sigset_t set;
	pthread_t t;
	steps = none;
	if (argc > 3) {
		FILE *f = fopen(argv[3], "w+");
		if (!f || ftruncate(fileno(f), 4096))
			return 2;
		steps = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
	}
	fill(0);
	pthread_create(&t, NULL, filler, &k);
	pthread_join(t, NULL);
	if (!strcmp(argv[1], "alarm")) {
		struct itimerval it = { { 0, 300 }, { 0, 300 } };
		signal(SIGALRM, on_alarm);
		setitimer(ITIMER_REAL, &it, NULL);
		sigemptyset(&set);
		sigaddset(&set, SIGALRM);
	}
	if (!strcmp(argv[1], "fork") && fork() == 0) {
		walk(&n);
		_exit(0);
	}
	if (!strcmp(argv[1], "alarm")) {
		walk(&n);
		sigprocmask(SIG_BLOCK, &set, NULL);
	} else {
		pthread_create(&t, NULL, walk, &n);
		if (!strcmp(argv[1], "fork"))
			wait(NULL);
		pthread_join(t, NULL);
	}
	printf("%d\n", 15 * n + 15 * calls);
	return 0;
}
C
"$UNPLAIT" cc -g -O1 -pthread -o v v.c || { not_ok "build"; finish; }
bytes() { # PLAIT: bytes of values in closed blocks, open blocks
	unplait info --events --kind path-values "$1" | sed 's/.*path-values *(\([0-9]*\)).*/\1/' |
		awk '$1 { s += $1 - 1 } !$1 { open++ } END { print s + 0, open + 0 }'
}

unplait record --mode path -o plain.plait ./v plain 100000 2>/dev/null | head -n 1 >want
is "$(bytes plain.plait)" "$(cat want) 0" "each value with its bytes, over many windows"
unplait info plain.plait >out
hasnt out "lost"
unplait record --mode path -o fork.plait ./v fork 100000 2>/dev/null | head -n 1 >want
is "$(bytes fork.plait)" "$(cat want) 0" "a child writes nothing into its parent's window"

# a handler that comes while a record is being written loses its own values, never those of the code it interrupts
unplait record --mode path -o alarm.plait ./v alarm 1000000 2>/dev/null | head -n 1 >want
read -r got open <<<"$(bytes alarm.plait)"
is "$((got >= 15000000 && got <= $(cat want))) $open" "1 0" "signal handlers in between"

unplait record --mode path -o small.plait ./v plain 300 >/dev/null 2>&1
run 0 unplait sym trace small.plait
has out "thread 0.2"

# kill -9: what is in blocks, and less than a block besides
bad=0
for i in 1 2 3 4 5 6 7 8; do
	rm -rf d steps
	mkdir d
	UNPLAIT_MODE=path UNPLAIT_DIR=d ./v plain 2000000000 steps >/dev/null &
	pid=$!
	while [ "$(od -An -t u8 -N 8 steps 2>/dev/null | tr -d ' ')" -lt $((i * 3000)) ] 2>/dev/null || [ ! -s steps ]; do :; done
	{ kill -9 $pid; wait $pid; } 2>/dev/null
	n=$(od -An -t u8 -N 8 steps | tr -d ' ')
	unplait seal -o k.plait d >/dev/null 2>&1 || bad=$((bad + 1))
	read -r got open <<<"$(bytes k.plait)"
	[ "$got" -le $((15 * (n + 1))) ] && [ $((got + 512)) -ge $((15 * n)) ] && [ "$open" -le 1 ] ||
		{ bad=$((bad + 1)); echo "# $n steps, $got bytes, $open open"; }
done
is $bad 0 "8 kills lose nothing that was in a block"
finish
