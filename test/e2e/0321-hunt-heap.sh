#!/usr/bin/env bash
# The heap under control: a block freed twice, a free of what is no block, memory used after it was freed, a write behind the
# end of a block are failures, at the access and in every replay. The cured twins stay silent.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }

# Both threads free it; cured: the thread that takes the pointer frees it.
cat >twice.c <<'X'
#include <pthread.h>
#include <stdlib.h>
static char *block;
static void give_back(void)
{
#ifdef CURED
	free(__atomic_exchange_n(&block, NULL, __ATOMIC_SEQ_CST));
#else
	free(block);
#endif
}
static void *other(void *arg) { give_back(); return arg; }
int main(void)
{
	pthread_t t;
	block = malloc(40);
	pthread_create(&t, NULL, other, NULL);
	give_back();
	pthread_join(t, NULL);
	return 0;
}
X
# What is freed is not what malloc gave; cured: it is.
cat >inside.c <<'X'
#include <pthread.h>
#include <stdlib.h>
static char *block;
static int used;
static void *other(void *arg) { used = 24; return arg; }
int main(void)
{
	pthread_t t;
	block = malloc(64);
	pthread_create(&t, NULL, other, NULL);
#ifdef CURED
	free(block);
#else
	if (used)
		block = realloc(block + 2 * used / 3, 80); /* 16 bytes behind the beginning */
	free(block + used);
#endif
	pthread_join(t, NULL);
	return 0;
}
X
# The reader leaves the lock too early; nobody writes to the block after it was shared.
cat >after.c <<'X'
#include <pthread.h>
#include <stdlib.h>
struct item { long key, value; };
static struct item *current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long sink;
static void *reader(void *arg)
{
	struct item *i;
	pthread_mutex_lock(&lock);
	i = current;
#ifdef CURED
	if (i)
		sink = i->value;
	pthread_mutex_unlock(&lock);
#else
	pthread_mutex_unlock(&lock);
	if (i)
		sink = i->value;
#endif
	return arg;
}
int main(void)
{
	struct item *i;
	pthread_t t;
	current = malloc(sizeof(*current));
	current->value = 1;
	pthread_create(&t, NULL, reader, NULL);
	pthread_mutex_lock(&lock);
	i = current;
	current = NULL;
	pthread_mutex_unlock(&lock);
	free(i);
	pthread_join(t, NULL);
	return 0;
}
X
# Both find room for one more; cured: looking and taking is one step.
cat >behind.c <<'X'
#include <pthread.h>
#include <stdlib.h>
enum { ROOM = 8 };
static long *list;
static int used = ROOM - 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *arg)
{
	int at;
#ifdef CURED
	pthread_mutex_lock(&lock);
#endif
	if (used < ROOM) {
		at = __atomic_fetch_add(&used, 1, __ATOMIC_SEQ_CST);
		list[at] = 1;
	}
#ifdef CURED
	pthread_mutex_unlock(&lock);
#endif
	return arg;
}
int main(void)
{
	pthread_t t[2];
	list = calloc(ROOM, sizeof(*list));
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	free(list);
	return 0;
}
X
# One thread grows the vector while another reads an element through a reference.
cat >grown.cc <<'X'
#include <mutex>
#include <thread>
#include <vector>
static std::vector<int> all(1, 7);
static std::mutex m;
static volatile int sink;
int main()
{
	all.shrink_to_fit();
	std::thread t([] {
#ifdef CURED
		std::lock_guard<std::mutex> g(m);
		sink = all[0];
#else
		m.lock();
		int &first = all[0];
		m.unlock();
		sink = first;
#endif
	});
	{
		std::lock_guard<std::mutex> g(m);
		all.push_back(8);
	}
	t.join();
}
X
# Nothing is wrong here: blocks of many sizes, grown, shrunk, aligned, used up to what they really hold.
cat >calm.c <<'X'
#include <assert.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static void *work(void *arg)
{
	for (size_t n = 1; n < 3000; n = n * 3 / 2 + 1) {
		char *p = malloc(n), *q = calloc(1, n), *d;
		void *a = NULL;
		memset(p, 1, malloc_usable_size(p));
		p = realloc(p, 2 * n);
		assert(p[0] == 1 && p[n - 1] == 1);
		memset(p, 2, 2 * n);
		p = realloc(p, n / 2 + 1);
		assert(p[n / 2] == 2);
		assert(!posix_memalign(&a, 64, n) && (size_t)a % 64 == 0);
		memset(a, 3, n);
		d = strdup("some text");
		assert(!strcmp(d, "some text") && !q[n - 1]);
		free(p), free(q), free(a), free(d);
	}
	free(malloc(1 << 20));
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
X

expect() { # program text
	local o gate
	for o in -O0 -O2; do
		case $1 in
		grown) unplait c++ -w -g $o -pthread -o "$1" "$1.cc" && unplait c++ -w -DCURED -g $o -pthread -o "$1-cured" "$1.cc" ;;
		*) unplait cc -w -g $o -pthread -o "$1" "$1.c" && unplait cc -w -DCURED -g $o -pthread -o "$1-cured" "$1.c" ;;
		esac || not_ok "$1 $o builds"
		for gate in fiber futex; do
			run 1 unplait hunt --gate $gate -n 1000 -o "$1.plait" "./$1"
			has out "$2" "$1 $o, $gate: $2"
			has out "replayed 5 of 5" "$1 $o, $gate: every replay fails"
		done
		run 1 unplait replay "$1.plait"
		has out "$2" "$1 $o: the replay says the same"
		run 0 unplait hunt -n 300 "./$1-cured"
	done
}
expect twice "free of memory that was freed before"
expect inside "free of an address that is not the beginning of a block of memory"
expect after "read of memory that was freed"
expect behind "write behind the end of a block of memory"
expect grown "read of memory that was freed"
run 0 unplait cc -w -g -O1 -pthread -o calm calm.c
for gate in fiber futex; do run 0 unplait hunt --gate $gate -n 100 ./calm; done
run 0 unplait hunt --exec -n 5 ./calm

# who freed it
unplait hunt -q -o after.plait ./after >out
grep -qE "thread 0 freed it" out && ok "it says who freed it" || not_ok "it says who freed it" "$(cat out)"
finish
