#!/usr/bin/env bash
# record: threads that libc makes by itself (a timer that notifies by a thread) run instrumented code before anybody
# has announced them, and a signal handler may run in a thread just born. Modes order and block go on.
# level: check
. "$(dirname "$0")/lib.sh"

cat >ticks.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static volatile int n;
static atomic_int sum;
static int buf[16];
static void tick(union sigval v) { n++; atomic_fetch_add(&sum, 1); memset(buf, n, sizeof(buf)); }
static void on_signal(int number) { n++; atomic_fetch_add(&sum, 1); }
static void *work(void *p)
{
	for (int i = 0; i < 20; i++) {
		n++;
		atomic_fetch_add(&sum, 1);
	}
	return p;
}
int main(void)
{
	struct itimerspec often = { { 0, 500000 }, { 0, 500000 } };
	struct sigevent e;
	timer_t t;

	memset(&e, 0, sizeof(e));
	e.sigev_notify = SIGEV_THREAD;
	e.sigev_notify_function = tick;
	timer_create(CLOCK_MONOTONIC, &e, &t);
	timer_settime(t, 0, &often, NULL);
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 100; i++) {
		pthread_t a;
		pthread_create(&a, NULL, work, NULL);
		kill(getpid(), SIGUSR1);
		pthread_join(a, NULL);
	}
	usleep(5000);
	return 0;
}
C
for o in -O0 -O2; do
	run 0 unplait cc -D_GNU_SOURCE -w -g $o -pthread -o ticks ticks.c
	for mode in order block; do
		for i in 1 2 3; do
			rm -rf out.plait
			run 0 timeout 60 "$UNPLAIT" record --mode $mode -o out.plait ./ticks
		done
	done
done
finish
