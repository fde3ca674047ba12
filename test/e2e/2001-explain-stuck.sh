#!/usr/bin/env bash
# explain: why a thread waits for ever. What it looked at before it took the lock of the wait counts, whatever locks are
# taken in between; an event that it has had, and used up itself, was not lost; a value that is soon replaced was.
# level: check
. "$(dirname "$0")/lib.sh"

line() { grep -n "AT:$1\b" "$2" | head -n 1 | cut -d: -f1; }
says() { # FILE TEXT LABEL: in one line, with single blanks
	tr -s ' \n' ' ' <"$1" >flat
	has flat "$2" "$3"
}

# a pool: the stop flag is looked at outside the lock, the queue has a lock of its own
cat >pool.cpp <<'C'
#include <pthread.h>
struct queue {
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	int length = 0;
	bool empty() { pthread_mutex_lock(&own); bool e = !length; pthread_mutex_unlock(&own); return e; }
	void put() { pthread_mutex_lock(&own); length++; pthread_mutex_unlock(&own); }
	void take() { pthread_mutex_lock(&own); if (length) length--; pthread_mutex_unlock(&own); }
};
struct pool {
	bool stopped = false;
	queue tasks;
	pthread_mutex_t sleep = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
	void work()
	{
		while (!stopped) { /* AT:look */
			pthread_mutex_lock(&sleep);
			if (tasks.empty())
				pthread_cond_wait(&wake, &sleep); /* AT:wait */
			tasks.take();
			pthread_mutex_unlock(&sleep);
		}
	}
	void stop()
	{
		stopped = true;
		pthread_cond_broadcast(&wake); /* AT:signal */
	}
};
static void *worker(void *arg) { ((pool *)arg)->work(); return 0; }
int main()
{
	pool p;
	pthread_t t;
	pthread_create(&t, 0, worker, &p);
	p.tasks.put();
	p.stop();
	pthread_join(t, 0);
}
C
for level in 0 2; do
	run 0 unplait c++ -g -O$level -pthread -o pool pool.cpp
	run 1 unplait hunt -q --seed 1 -n 1000 -o pool.plait -- ./pool
	run 1 unplait explain -q -n 50 pool.plait
	says out "pool.cpp:$(line signal pool.cpp)" "-O$level: the signal that it missed"
	has flat "stopped at pool.cpp:$(line look pool.cpp) and before the wait" "-O$level: after its look at the flag"
	has flat "(pool.cpp:$(line look pool.cpp)) under the lock of the wait at pool.cpp:$(line wait pool.cpp)" "-O$level: advice"
	has out "kind     lost-wakeup"
	rm -f pool.plait
done

# a request that the new thread overwrites without having seen it; the event it has had is not what was lost
cat >request.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, e = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int stop_wanted, event;
static int wanted(void) { pthread_mutex_lock(&m); int w = stop_wanted; pthread_mutex_unlock(&m); return w; }
static void set_event(int v) { pthread_mutex_lock(&e); event = v; pthread_cond_broadcast(&changed); pthread_mutex_unlock(&e); }
static void *run(void *arg)
{
	pthread_mutex_lock(&m);
	stop_wanted = 0; /* AT:overwrite */
	pthread_mutex_unlock(&m);
	while (!wanted()) {
		pthread_mutex_lock(&e);
		while (!event)
			pthread_cond_wait(&changed, &e);
		pthread_mutex_unlock(&e);
		set_event(0);
	}
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, run, 0);
	pthread_mutex_lock(&m);
	stop_wanted = 1; /* AT:set */
	pthread_mutex_unlock(&m);
	set_event(1);
	pthread_join(t, 0);
}
C
run 0 unplait cc -g -O0 -pthread -o request request.c
run 1 unplait hunt -q --seed 1 -n 1000 -o request.plait -- ./request
run 1 unplait explain -q -n 50 request.plait
says out "stop_wanted, set by thread 0 at request.c:$(line set request.c), was overwritten by thread 0.1 itself at request.c:$(line overwrite request.c)" "the request was overwritten"

# a barrier that wakes one by one: who enters it again changes the count before the others have looked
cat >barrier.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER;
static int arrived;
static void barrier(void)
{
	pthread_mutex_lock(&m);
	if (++arrived == 3) { /* AT:again */
		arrived = 0; /* AT:reset */
	} else {
		while (arrived)
			pthread_cond_wait(&go, &m);
	}
	pthread_cond_signal(&go);
	pthread_mutex_unlock(&m);
}
static void *worker(void *arg)
{
	barrier();
	barrier();
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, worker, 0);
	worker(0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
}
C
run 0 unplait cc -g -O0 -pthread -o barrier barrier.c
run 1 unplait hunt -q --seed 1 -n 1000 -o barrier.plait -- ./barrier
run 1 unplait explain -q -n 50 barrier.plait
says out "arrived, set by thread" "the count was reset"
has flat "at barrier.c:$(line reset barrier.c), was changed by thread" "... at the reset"
has flat "again at barrier.c:$(line again barrier.c) before" "... and changed again before the others looked"
finish
