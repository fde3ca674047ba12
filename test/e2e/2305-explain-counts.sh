#!/usr/bin/env bash
# explain: answers that are computed from counts. A count that goes up here and down there without a lock: every change
# of it is the cause, not a block between two of them. A number that is computed from two counts, the one changed later
# and outside the lock: both changes belong together, and who came first at the lock is no cause.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "explain" "libplait.a is not built"; finish; }
explained() { # NAME COMPILER LEVEL
	run 0 unplait "$2" -g "$3" -pthread "$1".c* -o "$1"
	run 1 unplait hunt -q --seed 1 -n 500 -o "$1.plait" "./$1"
	unplait explain -q --runs 150 "$1.plait" >out 2>err
	tr -s ' \n' ' ' <out | sed 's/ kind .*//' >flat
}

cat >refs.c <<'C'
#include <assert.h>
#include <pthread.h>
static int refs = 1;
static void ref(void)
{
	refs++;
}
static void unref(void)
{
	refs--;
}
static void *user(void *p)
{
	for (int i = 0; i < 2; i++) {
		ref();
		unref();
	}
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, user, 0);
	ref();
	ref();
	unref();
	unref();
	pthread_join(t, 0);
	assert(refs == 1);
	return 0;
}
C
explained refs cc -O0
has flat "advice make every change of refs one step, at refs.c:"
has flat "refs.c:6"
has flat "refs.c:10"
has flat "0 of 150 with it enforced"

cat >pool.cc <<'C'
#include <atomic>
#include <cassert>
#include <mutex>
#include <queue>
#include <thread>
static std::mutex m;
static std::queue<int> tasks;
static std::atomic<int> total{0};
static void push(int t)
{
	{
		std::lock_guard<std::mutex> l(m);
		tasks.push(t);
	}
	total++;
}
static void work()
{
	for (int i = 0; i < 2; i++) {
		std::lock_guard<std::mutex> l(m);
		if (tasks.empty())
			continue;
		tasks.pop();
		total--;
	}
}
static int running()
{
	std::lock_guard<std::mutex> l(m);
	return total - (int)tasks.size();
}
int main()
{
	std::thread w(work);
	std::thread r([] { assert(running() >= 0); });
	push(1);
	w.join();
	r.join();
	return 0;
}
C
for level in -O0 -O2; do
	explained pool c++ "$level"
	has flat "thread 0's write to tasks.c at pool.cc:13 and its update of total at pool.cc:15, which belong together"
	hasnt flat "must come before"
done
finish
