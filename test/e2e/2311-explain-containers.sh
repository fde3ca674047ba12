#!/usr/bin/env bash
# Two critical sections that one line calls, about a map of the C++ library: the line is told once, and the map is
# called a map, not by the names of its parts.
# level: check
. "$(dirname "$0")/lib.sh"
cat >counts.cpp <<'X'
#include <cassert>
#include <map>
#include <mutex>
#include <string>
#include <thread>

struct Counts {
	std::map<std::string, int> of;
	std::mutex lock;
	int get(const std::string &word)
	{
		std::lock_guard<std::mutex> guard(lock);
		return of[word];
	}
	void set(const std::string &word, int n)
	{
		std::lock_guard<std::mutex> guard(lock);
		of[word] = n;
	}
};
int main()
{
	Counts counts;
	auto count = [&] { counts.set("word", counts.get("word") + 1); }; // 24
	std::thread a(count), b(count);
	a.join();
	b.join();
	assert(counts.get("word") == 2);
}
X
for level in 0 2; do
	run 0 unplait c++ -g -O$level -pthread counts.cpp -o counts$level
	run 1 unplait hunt --seed 1 -o counts.plait -- ./counts$level
	run 1 unplait explain counts.plait
	flat=$(tr -s ' \n' ' ' <out)
	case $flat in
	*"which both begin at counts.cpp:24 and belong together"*) ok "-O$level: one line is told once" ;;
	*) not_ok "-O$level: one line is told once" "$(grep -A 3 cause out)" ;;
	esac
	case $flat in
	*"critical sections at counts.cpp:24 one: keep "*) ok "-O$level: in the advice, too" ;;
	*) not_ok "-O$level: in the advice, too" "$(grep -A 3 advice out)" ;;
	esac
	hasnt out "_Rb_tree" "-O$level: no part of a map by its own name"
done
finish
