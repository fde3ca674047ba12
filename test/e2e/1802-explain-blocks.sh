#!/usr/bin/env bash
# Which block is told: one that the disturbed thread was in, of the slots of an array too. Orders are about one object each. The lock of a wait is not its condition.
# level: check
. "$(dirname "$0")/lib.sh"

explained() { # NAME COMPILER SUFFIX
	run 0 unplait "$2" -w -g -O$O -pthread -o "$1" "$1.$3"
	run 1 timeout 100 "$UNPLAIT" hunt -q -n 2000 -o "$1.plait" "./$1"
	timeout 100 "$UNPLAIT" explain --runs 200 "$1.plait" >out 2>err
	is $? 1 "$1 is explained"
	tr '\n' ' ' <out | tr -s ' ' >said
}

# the slot is claimed before it is filled; the passing run fills another one
cat >ring.c <<'C'
#include <assert.h>
#include <pthread.h>
static _Atomic long cursor;
static int data[8];
static void *writer(void *arg)
{
	long at = cursor++;
	data[at % 8] = 1;
	return arg;
}
static void *reader(void *arg)
{
	for (long i = 0, seen = 0; i < 2; i++)
		if (cursor > seen)
			assert(data[seen++ % 8]);
	return arg;
}
int main(void)
{
	void *(*const f[3])(void *) = { writer, writer, reader };
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, f[i], 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
# announced before it is filled in, and filled in by a loop: the block cannot be enforced to its end, so it is not shown to
# mend anything, but it does go with the failure, and nothing else is said
cat >table.c <<'C'
#include <assert.h>
#include <pthread.h>
static int ready, n, table[8];
static void *fill(void *arg)
{
	ready = 1;
	for (int i = 0; i < 3; i++)
		table[n++] = i;
	return arg;
}
static void *use(void *arg)
{
	if (ready)
		assert(n == 3);
	return arg;
}
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, fill, 0);
	pthread_create(&u, 0, use, 0);
	pthread_join(t, 0);
	pthread_join(u, 0);
	return 0;
}
C
# the same function sets up another object before: the order is about this one
cat >shared-setup.c <<'C'
#include <assert.h>
#include <pthread.h>
struct job { int (*f)(void); };
static int seven(void) { return 7; }
static struct job first, second;
static void __attribute__((noinline)) set(struct job *j) { j->f = seven; }
static int __attribute__((noinline)) go(struct job *j) { return j->f(); }
static void *work(void *arg) { assert(go(&second) == 7); return arg; }
int main(void)
{
	pthread_t t;
	set(&first);
	pthread_create(&t, 0, work, 0);
	set(&second);
	pthread_join(t, 0);
	return go(&first) != 7;
}
C
# reads the count after it has given its reference back; only the last one writes it
cat >count.cpp <<'C'
#include <atomic>
#include <thread>
struct object {
	virtual ~object() {}
	std::atomic<int> count{2};
	int release()
	{
		if (count.fetch_sub(1) - 1 == 0) {
			count = -1000;
			delete this;
			return 0;
		}
		return count;
	}
};
int main()
{
	object *o = new object;
	std::thread a([=] { o->release(); }), b([=] { o->release(); });
	a.join();
	b.join();
	return 0;
}
C
# waits once more after a wake-up: its lock comes from the wait
cat >again.cpp <<'C'
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
struct pool {
	std::mutex m;
	std::condition_variable to_main, to_worker;
	std::atomic<int> running{2};
	bool stop = false;
	void work()
	{
		{
			std::unique_lock<std::mutex> lock(m);
			while (!stop)
				to_worker.wait(lock);
		}
		running--;
		to_main.notify_one();
	}
};
int main()
{
	pool p;
	std::thread a([&] { p.work(); }), b([&] { p.work(); });
	{
		std::unique_lock<std::mutex> lock(p.m);
		p.stop = true;
		p.to_worker.notify_all();
		while (p.running > 0)
			p.to_main.wait(lock);
	}
	a.join();
	b.join();
	return 0;
}
C
for O in 0 2; do
	explained ring cc c
	has said "kind multi-variable" "ring, -O$O"
	has said "ring.c:7 and its write to data" "the claim and the filling belong together"
	has said "come last" "or the claim comes last"
done
O=0
explained table cc c
hasnt said "tells the" "table: what goes with the failure tells the schedules apart"
has said "write to ready at table.c:6 and its" "table: the two writes"
explained shared-setup cc c
has said "kind order" "shared-setup"
has said "reads job::f at shared-setup.c:7 before thread 0 writes"
explained again c++ cpp
has said "kind lost-wakeup" "again"
hasnt said "hold a condition variable"
has said "lock of the wait"
O=2
explained count c++ cpp
has said "kind use-after-free" "count"
hasnt said "count.cpp:9, which belong together" "nothing about a line that only the other thread comes to"
finish
