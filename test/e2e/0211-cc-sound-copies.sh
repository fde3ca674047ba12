#!/usr/bin/env bash
# Pruning is sound where pointers travel in copies of structs, and where the C++ library is in between: std::thread, lambdas, maps,
# lists, strings, condition variables. And the elements of such a program are told apart and called by their names.
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "pruning" "libplait.a is not built"; finish; }
clang-19 -O1 -g -I"$top/include" -c "$top/test/programs/check-runtime.c" -o check.o || exit 3
ar rcs libcheck.a check.o

# a helper that only copies looks at no field, but the fields go along
cat >helper.c <<'X1'
#include <pthread.h>
#include <stdlib.h>
struct pair { int *p; long n; };
static void put(struct pair *to, const struct pair *from) { *to = *from; }
static void *thread(void *arg) { ++*((struct pair *)arg)->p; return 0; }
int main(void)
{
	int *local = malloc(sizeof(int));
	struct pair a = { local, 1 }, *b = malloc(sizeof(*b));
	pthread_t t;
	*local = 1;
	put(b, &a);
	pthread_create(&t, 0, thread, b);
	++*local;
	pthread_join(t, 0);
	return *local != 3;
}
X1
# one of several elements is copied, another one is read
cat >array.c <<'X1'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct pair { long n; int *p; };
static void *thread(void *arg) { ++*((struct pair *)arg)[1].p; return 0; }
static void put(void *to, const void *from, unsigned long n) { memcpy(to, from, n); }
int main(int argc, char **argv)
{
	int *local = malloc(sizeof(int));
	struct pair a[3], *b = malloc(2 * sizeof(*b));
	pthread_t t;
	(void)argv;
	*local = 1;
	a[argc].p = local;
	put(b, a, 2 * sizeof(*b));
	pthread_create(&t, 0, thread, b);
	++*local;
	pthread_join(t, 0);
	return *local != 3;
}
X1
# a function that came from code nobody sees may do anything with what it is handed
cat >unseen.c <<'X1'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static void *thread(void *arg) { ++*(int *)arg; return 0; }
int main(void)
{
	create *c = (create *)dlsym(RTLD_DEFAULT, "pthread_create");
	int *p = calloc(1, sizeof(int));
	pthread_t t;
	c(&t, 0, thread, p);
	++*p;
	pthread_join(t, 0);
	return *p != 2;
}
X1
cat >bank.cc <<'X1'
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
struct Account { std::mutex m; int balance = 100; int moves = 0; };
struct Queue { std::mutex m; std::condition_variable cv; std::vector<int> items; bool closed = false; };
struct Stats { long hits = 0, misses = 0; };
struct Journal { std::mutex m; std::list<int> lines; std::map<int, int> table; std::string text; int size = 0; };
static void mover(Account &from, Account &to, Stats *st)
{
	for (int i = 0; i < 3; i++) {
		std::lock_guard<std::mutex> g(from.m);
		from.balance--;
		to.balance++;
		from.moves++;
		st->hits++;
	}
}
static void note(Journal *j, int i)
{
	std::lock_guard<std::mutex> g(j->m);
	j->lines.push_back(i);
	j->table[i]++;
	j->text += "a line of more than sixteen characters\n";
	j->text[0] = 'A';
	j->size++;
}
int main()
{
	Account *a = new Account, *b = new Account;
	Queue q;
	Stats stats;
	Journal *j = new Journal;
	std::thread t1(mover, std::ref(*a), std::ref(*b), &stats);
	std::thread t2([&] {
		for (int i = 0; i < 3; i++) {
			{ std::lock_guard<std::mutex> g(q.m); q.items.push_back(i); }
			q.cv.notify_one();
			note(j, i);
		}
		std::lock_guard<std::mutex> g(q.m);
		q.closed = true;
		q.cv.notify_all();
	});
	int sum = 0;
	for (;;) {
		std::unique_lock<std::mutex> l(q.m);
		q.cv.wait(l, [&] { return q.closed || !q.items.empty(); });
		if (q.items.empty()) break;
		sum += q.items.back();
		q.items.pop_back();
		stats.misses++;
		note(j, 100 + sum);
	}
	t1.join();
	t2.join();
	for (int n : j->lines) j->size -= n >= 0;
	for (auto &k : j->table) sum += k.second;
	bool good = a->balance == 97 && b->balance == 103 && j->size == 0 && j->text[0] == 'A' && sum == 9 && stats.hits == 3;
	delete a;
	delete b;
	delete j;
	return !good;
}
X1
for o in -O0 -O1 -O2; do
	for f in helper.c array.c unseen.c bank.cc; do
		driver=cc
		case $f in *.cc) driver=c++ ;; esac
		run 0 env UNPLAIT_TRACE_ALL=1 UNPLAIT_RUNTIME="$work/libcheck.a" "$UNPLAIT" $driver $o -g $f -o check -pthread \
			-Wl,--export-dynamic-symbol=pthread_create
		run 0 ./check
	done
done

run 0 unplait c++ -O1 -g bank.cc -o bank -pthread
for mode in off path full; do
	rm -rf dir && mkdir dir
	run 0 env UNPLAIT_MODE=$mode UNPLAIT_DIR="$work/dir" ./bank
done
run 0 unplait info --elements bank
for e in Account::balance Account::moves Stats::hits Stats::misses Queue::closed Journal::size; do
	# named after the variable where there is one, else after the type
	grep -oE "(struct ${e%%::*}::|[a-z]+\.)${e##*::}," out >names
	has names "${e##*::}," "an element of its own: $e"
done
finish
