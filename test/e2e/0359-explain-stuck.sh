#!/usr/bin/env bash
# level: check
# Deadlocks that are explained by their structure: locks without names by their callers; a wait that holds a lock; a flag
# that another thread cleared. The last two are no lost wake-ups.
. "$(dirname "$0")/lib.sh"
cat >swapped.cpp <<'X'
#include <mutex>
#include <thread>
#include <vector>
#include <memory>
struct Account { std::mutex m; int balance = 100; };
static void transfer(Account &from, Account &to, int n)
{
	std::lock_guard<std::mutex> a(from.m);
	std::lock_guard<std::mutex> b(to.m);
	from.balance -= n;
	to.balance += n;
}
static void pay(Account &x, Account &y) { transfer(x, y, 1); }
static void refund(Account &x, Account &y) { transfer(y, x, 1); }
int main()
{
	auto x = std::make_unique<Account>(), y = std::make_unique<Account>();
	std::thread t([&] { pay(*x, *y); });
	refund(*x, *y);
	t.join();
}
X
cat >holds.c <<'X'
#include <pthread.h>
#include <stdlib.h>
/* waits while holding a second lock */
struct s { pthread_mutex_t outer, m; pthread_cond_t c; int ready; };
static void *waiter(void *a)
{
	struct s *s = a;
	pthread_mutex_lock(&s->outer);
	pthread_mutex_lock(&s->m);
	while (!s->ready)
		pthread_cond_wait(&s->c, &s->m);
	pthread_mutex_unlock(&s->m);
	pthread_mutex_unlock(&s->outer);
	return 0;
}
static void *setter(void *a)
{
	struct s *s = a;
	pthread_mutex_lock(&s->outer);
	pthread_mutex_lock(&s->m);
	s->ready = 1;
	pthread_cond_signal(&s->c);
	pthread_mutex_unlock(&s->m);
	pthread_mutex_unlock(&s->outer);
	return 0;
}
int main(void)
{
	struct s *s = calloc(1, sizeof(*s));
	pthread_mutex_init(&s->outer, 0);
	pthread_mutex_init(&s->m, 0);
	pthread_cond_init(&s->c, 0);
	pthread_t a, b;
	pthread_create(&a, 0, waiter, s);
	pthread_create(&b, 0, setter, s);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
X
cat >cleared.c <<'X'
#include <pthread.h>
#include <stdlib.h>
/* two waiters, one sets the flag and broadcasts, but the first waiter clears it: the second sleeps for ever */
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static void *waiter(void *a)
{
	pthread_mutex_lock(&m);
	while (!ready)
		pthread_cond_wait(&c, &m);
	ready = 0;
	pthread_mutex_unlock(&m);
	return a;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, waiter, 0);
	pthread_create(&b, 0, waiter, 0);
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
X
run 0 unplait c++ -g -O0 -pthread swapped.cpp -o swapped
run 1 unplait hunt -o swapped.plait -- ./swapped
run 1 unplait explain -n 100 --html swapped.html --json=swapped.json swapped.plait
has swapped.json "take these locks in the same order everywhere; called from"
has swapped.json "refund(Account&, Account&) at swapped.cpp:14"
has swapped.json "pay(Account&, Account&) at swapped.cpp:13"
has swapped.html "<h2>Who waits</h2>" "the page has the stacks"
has swapped.html "<li>pay(Account&amp;, Account&amp;) at swapped.cpp:13</li>"
hasnt swapped.json "()()"

run 0 unplait cc -g -O1 -pthread holds.c -o holds
run 1 unplait hunt -o holds.plait -- ./holds
run 1 unplait explain -n 100 --json=holds.json holds.plait
has holds.json '"kind": "deadlock"'
has holds.json "thread 0.1 waits for s->c at holds.c:11 while it holds s->outer (holds.c:8)"
has holds.json "do not wait while holding s->outer"

run 0 unplait cc -g -O1 -pthread cleared.c -o cleared
run 1 unplait hunt -o cleared.plait -- ./cleared
run 1 unplait explain -n 100 --json=cleared.json cleared.plait
has cleared.json '"kind": "order"'
has cleared.json "ready, set by thread 0 at cleared.c:2"
has cleared.json "was changed by thread 0."
has cleared.json "at cleared.c:12 before thread 0."
finish
