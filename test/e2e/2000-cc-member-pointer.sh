#!/usr/bin/env bash
# A pointer to a member function at -O0 is a constant structure of two integers; the address in it counts. (What a thread
# did through it was thought to be private: no scheduling point, and "every schedule was explored".)
# level: check
. "$(dirname "$0")/lib.sh"

cat >pool.cpp <<'C'
#include <cassert>
#include <pthread.h>
struct pool {
	int done = 0;
	void work() { done++; }
};
struct call {
	pool *object;
	void (pool::*method)();
};
static void *invoke(void *arg)
{
	call *c = (call *)arg;
	(c->object->*c->method)();
	return 0;
}
int main()
{
	pool p;
	call c = { &p, 0 };
	pthread_t a, b;
	c.method = &pool::work;
	pthread_create(&a, 0, invoke, &c);
	pthread_create(&b, 0, invoke, &c);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(p.done == 2);
}
C
cat >thread.cpp <<'C'
#include <cassert>
#include <thread>
struct pool {
	int done = 0;
	void work() { done++; }
};
int main()
{
	pool p;
	std::thread a(&pool::work, &p), b(&pool::work, &p);
	a.join();
	b.join();
	assert(p.done == 2);
}
C
for program in pool thread; do
	for level in 0 2; do
		run 0 unplait c++ -g -O$level -pthread -o $program $program.cpp
		run 1 unplait hunt -q -n 100 --seed 1 -o fail.plait -- ./$program
		has out "p.done == 2" "$program -O$level"
		rm -f fail.plait
	done
done
finish
