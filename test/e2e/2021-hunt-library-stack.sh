#!/usr/bin/env bash
# A failure inside a library, which has no frame pointers: the stack leads to the program's own lines all the same. An
# exception that nobody catches, in a thread and in main, and a crash in libc.
# level: check
. "$(dirname "$0")/lib.sh"
cat >thrown.cpp <<'X'
#include <stdexcept>
#include <thread>
static volatile int x;
static void inner()
{
	if (x == 1)
		throw std::runtime_error("too early");
}
static void outer()
{
	inner();
}
int main(int argc, char **argv)
{
	std::thread a([] { x = 1; x = 2; }), b([=] { argc == 1 ? outer() : (void)0; });
	argc > 1 ? outer() : (void)0;
	a.join();
	b.join();
}
X
cat >length.cpp <<'X'
#include <cstring>
#include <thread>
static const char *text = "x";
static size_t length()
{
	return strlen(text);
}
int main()
{
	std::thread a([] { text = nullptr; });
	size_t n = length();
	a.join();
	return n > 1;
}
X
for o in -O0 -O2; do
	run 0 unplait c++ $o -g -pthread -o thrown thrown.cpp
	for where in "" main; do
		run 1 unplait hunt -n 500 -o f.plait -- ./thrown $where
		has out "uncaught std::runtime_error: too early"
		has out "inner() at thrown.cpp:7" "$o $where: who threw"
		has out "outer() at thrown.cpp:11" "$o $where: who called that"
		run 1 unplait replay f.plait
		has out "inner() at thrown.cpp:7" "$o $where: and in the replay"
	done
	run 0 unplait c++ $o -g -fno-builtin -pthread -o length length.cpp
	run 1 unplait hunt -n 500 -o f.plait -- ./length
	has out "signal 11"
	has out "length() at length.cpp:6" "$o: who called strlen"
	has out "main at length.cpp:11" "$o: and from where"
done
finish
