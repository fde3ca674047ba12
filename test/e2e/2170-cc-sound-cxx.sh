#!/usr/bin/env bash
# Pruning is sound for code that was put in for library calls (cc/expand): memory that it makes and
# stores somewhere is shared as that place is, and a pointer to an old or a new block is to both.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "pruning" "libplait.a is not built"; finish; }
clang-19 -O1 -g -I"$top/include" -c "$top/test/programs/check-runtime.c" -o check.o && ar rcs libcheck.a check.o || exit 3
export UNPLAIT_RUNTIME=$work/libcheck.a UNPLAIT_TRACE_ALL=1

# a thread grows a string of its own, hands it over, and gets it back longer
cat >string.cc <<'C'
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
static std::mutex m;
static std::condition_variable changed;
static std::string *handed;
__attribute__((noinline)) static void put(std::string *to, const std::string &s) { to->append(s.data(), s.size()); }
static void writer()
{
	std::string own;
	for (int i = 0; i < 8; i++)
		put(&own, "some text, at length");
	std::unique_lock<std::mutex> hold(m);
	handed = &own;
	changed.notify_all();
	changed.wait(hold, [] { return !handed; });
}
int main()
{
	std::thread t(writer);
	size_t n = 0;
	{
		std::unique_lock<std::mutex> hold(m);
		changed.wait(hold, [] { return handed; });
		for (char c : *handed)
			n += c == ',';
		put(handed, "x,");
		handed = nullptr;
		changed.notify_all();
	}
	t.join();
	return n != 8;
}
C
# functions whose memory the runtime keeps (getenv, strtok) link with the check runtime, too
cat >kept.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static void *thread(void *arg) { return getenv("HOME") ? strtok(arg, ",") : 0; }
int main(void)
{
	static char text[] = "a,b";
	pthread_t t;
	if (pthread_create(&t, 0, thread, text)) return 1;
	pthread_join(t, 0);
	return text[1] != 0;
}
C
for level in -O0 -O2; do
	run 0 unplait c++ $level string.cc -o string -pthread
	run 0 ./string
done
run 0 unplait cc -O1 kept.c -o kept -pthread
run 0 env HOME=/ ./kept
finish
