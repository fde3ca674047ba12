#!/usr/bin/env bash
# The two ways to switch threads give the same schedules; ends of threads under both.
# level: quick
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }

run 0 unplait cc -g -O1 "$CORPUS/sct-wronglock/main.c" -o prog
for gate in futex fiber; do
	run 1 unplait hunt --gate $gate -s random -n 100 --all -o found-$gate ./prog
	sed 's/ in [0-9.]* s,/ in T s,/; s/found-[a-z]*/F/' out >$gate.txt
done
same fiber.txt futex.txt "futex and fiber agree on 100 runs"
for gate in futex fiber; do
	run 1 unplait replay --gate $gate --times 20 found-futex/fail-1.plait
done

# pthread_exit, cleanup handlers, key destructors, detached threads, main leaving first
cat >exits.c <<'X'
#include <pthread.h>
#include <stdlib.h>
static pthread_key_t key;
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void add(long v)
{
	pthread_mutex_lock(&m);
	n += (int)v;
	pthread_mutex_unlock(&m);
}
static void destructor(void *p) { add((long)p); }
static void cleanup(void *p) { (void)p; add(10); }
static void *work(void *arg)
{
	pthread_setspecific(key, arg);
	pthread_cleanup_push(cleanup, NULL);
	if ((long)arg == 1)
		pthread_exit((void *)7);
	pthread_cleanup_pop(1);
	return (void *)8;
}
static void check(void)
{
	pthread_mutex_lock(&m);
	if (n != 23)
		abort();
	pthread_mutex_unlock(&m);
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	void *r;
	(void)argv;
	pthread_key_create(&key, destructor);
	atexit(check);
	for (long i = 1; i < 3; i++)
		pthread_create(&t[i - 1], NULL, work, (void *)i);
	if (argc > 1) {
		pthread_detach(t[0]);
		pthread_detach(t[1]);
		pthread_exit(NULL);
	}
	pthread_join(t[0], &r);
	if ((long)r != 7)
		abort();
	pthread_join(t[1], &r);
	return (long)r != 8;
}
X
run 0 unplait cc -g -O1 exits.c -o exits
for gate in futex fiber; do
	run 0 unplait hunt --gate $gate --timeout 5 --fail-on exit -n 100 ./exits
	run 0 unplait hunt --gate $gate --timeout 5 --fail-on exit -n 100 ./exits detached
done

# Where threads and their memory lie does not depend on who made them: the fork server, the run
# itself, or a kernel thread. (The first run finds one thread ready, later ones all of them.)
cat >where.cc <<'X'
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>
static thread_local int mine;
static thread_local std::vector<int> list;
int main()
{
	std::vector<std::thread> all;
	auto shared = std::make_shared<int>(7);
	for (int i = 0; i < 5; i++)
		all.emplace_back([shared] {
			int local;
			list.push_back(*shared);
			printf("%p %p %p %p\n", (void *)&local, (void *)&mine, malloc(40), (void *)list.data());
		});
	for (auto &t : all)
		t.join();
	std::thread again([] { printf("%p %p\n", (void *)&mine, malloc(100)); });
	again.join();
	printf("%p\n", malloc(60));
}
X
run 0 unplait c++ -g -O1 where.cc -o where
for gate in futex fiber; do
	run 0 unplait hunt --gate $gate -s stay --points all -n 4 --oracle 'sha256sum <$PLAIT_STDOUT >>sums' ./where
done
run 0 unplait hunt --exec -s stay --points all -n 2 --oracle 'sha256sum <$PLAIT_STDOUT >>sums' ./where
is "$(wc -l <sums)" 10 "ten runs printed something"
is "$(sort -u sums | wc -l)" 1 "and all of them the same addresses"
finish
