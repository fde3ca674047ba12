#!/usr/bin/env bash
# What happens inside libstdc++'s headers is told at the line that called it, by the program's own names.
# level: check
. "$(dirname "$0")/lib.sh"

explained() {
	run 0 unplait c++ -g -O0 -pthread "$1.cc" -o "$1"
	run 1 unplait hunt -q -n 3000 -o "$1.plait" "./$1"
	run 1 unplait explain --runs 100 "$1.plait"
	tr -s " \n" " " <out >flat
}

cat >cycle.cc <<'C'
#include <mutex>
#include <thread>
struct account {
	std::mutex m;
	int n = 10;
};
static void transfer(account &from, account &to)
{
	std::lock_guard<std::mutex> l1(from.m);
	std::lock_guard<std::mutex> l2(to.m);
	from.n--;
	to.n++;
}
int main()
{
	account a, b;
	std::thread t1([&] { transfer(a, b); }), t2([&] { transfer(b, a); });
	t1.join();
	t2.join();
}
C
explained cycle
has flat "holds from.m (cycle.cc:9) and waits for to.m (cycle.cc:10)"
has flat "take these locks in the same order everywhere"
has out "0 of 100 with it enforced"
hasnt out "gthr-default.h"

cat >hits.cc <<'C'
#include <atomic>
#include <cassert>
#include <thread>
struct stats {
	std::atomic<int> hits{0};
	void record()
	{
		int h = hits.load();
		hits.store(h + 1);
	}
};
static stats s;
int main()
{
	std::thread a([] { s.record(); }), b([] { s.record(); });
	a.join();
	b.join();
	assert(s.hits == 2);
}
C
explained hits
has flat "hits at hits.cc:8"
has flat "hits at hits.cc:9"
hasnt out "_M_i at"

cat >pop.cc <<'C'
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>
class stack {
	std::mutex m;
	std::vector<int> v;
public:
	void push(int x)
	{
		std::lock_guard<std::mutex> l(m);
		v.push_back(x);
	}
	bool empty()
	{
		std::lock_guard<std::mutex> l(m);
		return v.empty();
	}
	void pop()
	{
		std::lock_guard<std::mutex> l(m);
		assert(!v.empty());
		v.pop_back();
	}
};
static stack s;
static void worker()
{
	if (!s.empty())
		s.pop();
}
int main()
{
	s.push(1);
	std::thread a(worker), b(worker);
	a.join();
	b.join();
}
C
explained pop
has out "pop.cc:29"
has out "pop.cc:30"
has out "belong together"
finish
