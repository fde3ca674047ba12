#!/usr/bin/env bash
# Something is used after its end: explain names who gave it back, where, and who still used it; the advice is about its life, or
# about the lock or the count that should have guarded it.
# level: check
. "$(dirname "$0")/lib.sh"

# By one strategy: a better mixture finds other failures first, and this is about explaining.
explained() { # FILE [LEVEL]: hunt and explain it
	local cc=cc
	case $1 in *.cc) cc=c++ ;; esac
	run 0 unplait $cc -g "-O${2:-1}" -pthread "$1" -o prog
	run 1 unplait hunt -q -s pct --seed 1 -n 3000 -o prog.plait ./prog
	run 1 unplait explain --runs 100 prog.plait
	tr -s ' \n' ' ' <out >flat
}
says() { # PATTERN: of grep
	if grep -q -- "$1" flat; then ok "it says '$1'"; else not_ok "it says '$1'" "$(cat out)"; fi
}
silent() { # FILE: with -DFIXED nothing fails
	local cc=cc
	case $1 in *.cc) cc=c++ ;; esac
	run 0 unplait $cc -g -O1 -pthread -DFIXED "$1" -o prog
	run 0 unplait hunt -q -n 300 ./prog
}

cat >session.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct session {
	volatile int open;
	int bytes;
};
static struct session *current;
static void *reader(void *p)
{
	if (current->open)
		current->bytes += 4;
	return p;
}
int main(void)
{
	pthread_t t;
	current = calloc(1, sizeof(*current));
	current->open = 1;
	pthread_create(&t, 0, reader, 0);
#ifdef FIXED
	pthread_join(t, 0);
#endif
	current->open = 0;
	free(current);
#ifndef FIXED
	pthread_join(t, 0);
#endif
	return 0;
}
C
for level in 0 2; do
	explained session.c $level
	has out "kind     use-after-free"
	says "at session.c:1[01] after thread 0 freed it at session.c:24"
	has flat "keep it until thread 0.1 is done with it"
	has out "0 of 100 with it enforced"
	hasnt flat "hold one lock"
done
silent session.c

cat >twice.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static char *cache;
#ifdef FIXED
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&m)
#define UNLOCK() pthread_mutex_unlock(&m)
#else
#define LOCK()
#define UNLOCK()
#endif
static void *drop(void *p)
{
	LOCK();
	if (cache) {
		free(cache);
		cache = NULL;
	}
	UNLOCK();
	return p;
}
int main(void)
{
	pthread_t a, b;
	cache = malloc(100);
	pthread_create(&a, 0, drop, 0);
	pthread_create(&b, 0, drop, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
C
explained twice.c
has out "kind     double-free"
says "frees memory (allocated at twice.c:25) at twice.c:16 after thread 0.[12] freed it at twice.c:16"
silent twice.c

cat >lock.c <<'C'
#include <pthread.h>
static pthread_mutex_t m;
static int n;
static void *count(void *p)
{
	pthread_mutex_lock(&m);
	n++;
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_mutex_init(&m, 0);
	pthread_create(&t, 0, count, 0);
#ifdef FIXED
	pthread_join(t, 0);
	pthread_mutex_destroy(&m);
#else
	pthread_mutex_destroy(&m);
	pthread_join(t, 0);
#endif
	return 0;
}
C
explained lock.c
has out "kind     destroyed-lock"
says "thread 0.1 uses the lock m at lock.c:[68] after thread 0 destroyed it at lock.c:20"
silent lock.c

cat >stranger.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m;
static volatile int busy;
static void *work(void *p)
{
	pthread_mutex_lock(&m);
	busy = 1;
	busy = 0;
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&m, &a);
	pthread_create(&t, 0, work, 0);
	if (busy) {
		int r = pthread_mutex_unlock(&m);
		assert(r == 0);
	}
	pthread_join(t, 0);
	return 0;
}
C
explained stranger.c
has out "kind     foreign-unlock"
has flat "thread 0 unlocks m at stranger.c:22, which thread 0.1 holds since stranger.c:7"

# The memory of a container, which one side guards by a lock and the other does not.
cat >names.cc <<'C'
#include <mutex>
#include <cstdlib>
#include <thread>
#include <vector>
static std::vector<int> sizes{1, 2};
static std::mutex guard;
static long total()
{
	long sum = 0;
#ifdef FIXED
	std::lock_guard<std::mutex> l(guard);
#endif
	for (int s : sizes)
		sum += s;
	return sum;
}
int main()
{
	std::thread a([] {
		std::lock_guard<std::mutex> l(guard);
		sizes.push_back(3);
	});
	std::thread b([] { if (total() > 100) std::abort(); });
	a.join();
	b.join();
}
C
for level in 0 2; do
	explained names.cc $level
	has out "kind     use-after-free"
	says "at names.cc:1[34] after thread 0.1 freed it at names.cc:21"
	has flat "thread 0.1 holds guard there (names.cc:20), thread 0.2 does not: hold it around the use"
done
silent names.cc

# Who is the last is decided in two steps: the block is the advice, the end of the object the headline.
cat >count.cc <<'C'
#include <atomic>
#include <thread>
struct page {
	std::atomic<int> users{2};
	int data[4] = {};
};
static void drop(page *p)
{
#ifdef FIXED
	if (--p->users == 0)
		delete p;
#else
	p->users--;
	if (p->users == 0)
		delete p;
#endif
}
int main()
{
	page *p = new page;
	std::thread a(drop, p), b(drop, p);
	a.join();
	b.join();
}
C
for level in 0 2; do
	explained count.cc $level
	has out "kind     use-after-free"
	has flat "freed it at count.cc:15, because thread"
	says "uses page::users (allocated at count.cc:20) at count.cc:14"
	says "make count.cc:13 to count.cc:14[^:]* atomic"
	has out "0 of 100 with it enforced"
done
silent count.cc
finish
