#!/usr/bin/env bash
# A link for hunting instruments each object by itself: what one object shares with another is seen, names and lines
# are right, C++'s inline functions and statics of the same name do not get in each other's way, and the library is
# instrumented once for all programs.
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "unplait cc" "libplait.a is not built"; finish; }
export UNPLAIT_VARIANTS=control UNPLAIT_CACHE=$work/cache

# ---- a variable that main writes in one object and a thread reads in another ----

cat >main.c <<'X'
#include <assert.h>
#include <pthread.h>
int total;
void *work(void *arg);
static int calls;
int helper(int x) { calls++; return x + 1; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	int seen = total;
	total = seen + 1;
	pthread_join(t, 0);
	assert(total == 2);
	return calls != 1;
}
X
cat >work.c <<'X'
extern int total;
int helper(int);
static int calls; /* another one of that name */
static int twice(int x) { calls++; return x; }
void *work(void *arg)
{
	total = helper(twice(total));
	return arg;
}
X
cat >unused.c <<'X'
int nobody_defines_this(void);
int unused(void) { return nobody_defines_this(); }
X
for o in -O0 -O2; do
	rm -rf lib.a cache
	run 0 unplait cc $o -g -c main.c work.c unused.c
	ar qc lib.a work.o unused.o && ranlib lib.a
	for pie in -pie -no-pie "-Wl,--gc-sections"; do
		run 0 unplait cc $o $pie main.o lib.a -o prog
		run 1 unplait hunt --seed 1 -n 200 ./prog
		has out "total == 2" "$o $pie: the race between two objects is found"
	done
	run 0 unplait info ./prog
	has out "variants full"
	hasnt out "unseen helper" "a function of another object is not outside"
	plait=$(ls *.plait | head -n 1)
	run 1 unplait replay --times 3 "$plait"
	run 1 unplait explain "$plait"
	cp out told
	has told "total" "$o: the variable's name"
	has told "main.c:11" "$o: a line of one object"
	has told "work.c:7" "$o: a line of the other"
	rm -f *.plait
done
run 1 unplait sym schedules ./prog
has out "total == 2" "the symbolic machine puts the pieces of bitcode together"
has out "native run: confirmed, assert" "and its schedule is that of the program"

# ---- one library, many programs ----

rm -rf cache
for i in 1 2 3; do
	sed "s/== 2/== 2 + $i/" main.c >main$i.c
	run 0 unplait cc -O2 -g -c main$i.c
	UNPLAIT_TIMES=1 run 0 unplait cc -O2 main$i.o lib.a -o prog$i
	is "$(grep -c "generate code" err)" $((i == 1 ? 2 : 1)) "program $i: the library is made once"
done

# ---- C++ ----

cat >shared.hpp <<'X'
#include <string>
#include <vector>
struct counter {
	static counter &only() { static counter c; return c; }
	int value = 0;
	void add() { value++; }
};
inline int starts = 0;
template <class T> T largest(const std::vector<T> &v) { T m = v.at(0); for (auto &x : v) if (m < x) m = x; return m; }
thread_local inline int mine = 7;
X
cat >a.cpp <<'X'
#include "shared.hpp"
#include <cassert>
#include <cstdio>
#include <stdexcept>
#include <thread>
void other(const std::string &);
namespace { struct first { first() { starts++; } } f; int hidden = 1; }
int main()
{
	assert(starts == 2);
	std::thread t(other, "text");
	counter::only().add();
	t.join();
	try { largest(std::vector<int>{}); } catch (const std::out_of_range &) { hidden++; }
	assert(hidden == 2 && mine == 7);
	assert(counter::only().value == 2);
	std::puts("fine");
}
X
cat >b.cpp <<'X'
#include "shared.hpp"
namespace { struct first { first() { starts++; } } f; int hidden = 5; }
void other(const std::string &s)
{
	mine = hidden;
	if (largest(std::vector<std::string>{ s, "a" }) == s)
		counter::only().add();
}
X
for o in -O0 -O2; do
	run 0 unplait c++ $o -g -std=c++17 -pthread a.cpp b.cpp -o cxx
	run 0 ./cxx
	has out fine "$o: it runs"
	run 1 unplait hunt --seed 1 -n 500 ./cxx
	has out "value == 2" "$o: the race in an inline function"
	rm -f *.plait
done

# ---- a program that cannot be taken apart ----

cat >ifunc.c <<'X'
static int one(void) { return 1; }
static int (*pick(void))(void) { return one; }
int chosen(void) __attribute__((ifunc("pick")));
int main(void) { return chosen() - 1; }
X
run 0 unplait cc ifunc.c -o ifunc
run 0 ./ifunc
run 0 unplait info ./ifunc
has out "variants plain full" "a resolver: the whole program at once"
{
	for i in $(seq 1100); do echo "int f$i(int *p) { return *p + $i; }"; done
	echo 'int main(void) { int x = 1; return f7(&x) - 8; }'
} >many.c
run 0 unplait cc -c many.c
for i in 1 2; do
	UNPLAIT_TIMES=1 run 0 unplait cc many.o -o many
	has err "too many" "1101 functions: as a whole (link $i)"
	run 0 ./many
done
finish
