#!/usr/bin/env bash
# Timeouts. A guard of seconds does not expire because another thread yields; --timeouts says when waits may give up,
# and the plait keeps it. Timeouts of sockets are timers. A timer that begins again strikes beside running threads.
# level: check
. "$(dirname "$0")/lib.sh"
# guard: the other thread yields for a while before it does what main waits for
cat >guard.cpp <<'C'
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
static std::mutex m;
static std::condition_variable c;
static bool done;
int main()
{
	std::thread t([] {
		for (int i = 0; i < 50; i++)
			std::this_thread::yield();
		std::lock_guard<std::mutex> l(m);
		done = true;
		c.notify_one();
	});
	{
		std::unique_lock<std::mutex> l(m);
		bool in_time = c.wait_for(l, std::chrono::seconds(5), [] { return done; });
		assert(in_time);
	}
	t.join();
}
C
# lost: the signal is lost, and only the guard helps: it must expire, whatever is said
cat >lost.c <<'C'
#include <errno.h>
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int main(void)
{
	struct timespec t;
	int r;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 30;
	pthread_mutex_lock(&m);
	r = pthread_cond_timedwait(&c, &m, &t);
	pthread_mutex_unlock(&m);
	return r != ETIMEDOUT;
}
C
# sockets: nothing ever comes, and nothing goes out any more
cat >sockets.c <<'C'
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static int ends[2];
static char bytes[1 << 16];
static void *idle(void *arg) { struct timespec t = { 60, 0 }; nanosleep(&t, 0); return arg; }
int main(void)
{
	struct timeval tv = { 3, 0 };
	struct timespec a, b;
	pthread_t t;
	char x;
	assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	assert(!setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	assert(!setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)));
	pthread_create(&t, 0, idle, 0);
	clock_gettime(CLOCK_MONOTONIC, &a);
	assert(recv(ends[0], &x, 1, 0) == -1 && errno == EAGAIN);
	clock_gettime(CLOCK_MONOTONIC, &b);
	assert(b.tv_sec - a.tv_sec >= 3 && b.tv_sec - a.tv_sec < 60);
	while (send(ends[0], bytes, sizeof(bytes), 0) > 0)
		;
	assert(errno == EAGAIN);
	assert(write(ends[1], "y", 1) == 1 && read(ends[0], &x, 1) == 1 && x == 'y');
	pthread_join(t, 0);
	return 0;
}
C
# tick: a timer of 10 ms strikes between two writes of a thread that works for a moment only
cat >tick.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int a, b, stop;
static void tick(union sigval v)
{
	(void)v;
	pthread_mutex_lock(&m);
	if (a != b)
		abort();
	pthread_mutex_unlock(&m);
}
int main(void)
{
	struct sigevent e = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick };
	struct itimerspec v = { { 0, 10000000 }, { 0, 10000000 } };
	timer_t t;
	if (timer_create(CLOCK_MONOTONIC, &e, &t) || timer_settime(t, 0, &v, 0))
		return 3;
	for (int i = 0; i < 40; i++) {
		pthread_mutex_lock(&m);
		a++;
#ifndef CURED
		pthread_mutex_unlock(&m);
		pthread_mutex_lock(&m);
#endif
		b++;
		pthread_mutex_unlock(&m);
	}
	timer_delete(t);
	return 0;
}
C
run 0 unplait c++ -g -O1 guard.cpp -o guard -pthread
for f in lost sockets tick; do run 0 unplait cc -g -O1 $f.c -o $f -pthread; done
run 0 unplait cc -g -O1 -DCURED tick.c -o tick-cured -pthread
for gate in fiber futex; do
	run 0 unplait hunt --gate $gate -n 400 ./guard
	run 0 unplait hunt --gate $gate -n 20 ./sockets
done
run 0 unplait hunt -n 100 -s pos ./guard
run 0 unplait hunt -n 100 -s pct:3 ./guard
run 0 unplait hunt -n 200 --timeouts never ./guard
run 1 unplait hunt -n 400 --timeouts any -o any.plait ./guard
has out "in_time" "any: the guard gives up"
has out "replayed 5 of 5" "and that repeats"
run 1 unplait replay --times 5 any.plait
has out "replayed 5 of 5" "replay needs no option"
run 1 unplait minimize any.plait -o small.plait
run 0 unplait info any.plait
has out "any" "info says which rule it was found with"
run 0 unplait hunt -n 20 --timeouts never ./lost
run 0 unplait hunt -n 20 ./lost
run 1 unplait hunt -n 2000 -o tick.plait ./tick
has out "replayed 5 of 5" "a strike beside a running thread"
run 0 unplait hunt -n 500 ./tick-cured
run 2 unplait hunt --timeouts sometimes ./guard
has err "late, never or any"
# every schedule: the guard is named as what was left out
run 0 unplait hunt -s dfs -n 3000 ./guard
has out "timeouts of a second or more"
finish
