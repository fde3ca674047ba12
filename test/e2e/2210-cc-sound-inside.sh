#!/usr/bin/env bash
# Pruning is sound where libc returns a pointer to somewhere in an object (strchr, strtol, bsearch, a cast of C++), and
# where memory is libc's own: what threads leave to those that join them, the environment, the buffer of a stream.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "pruning" "libplait.a is not built"; finish; }
clang-19 -O1 -g -I"$top/include" -c "$top/test/programs/check-runtime.c" -o check.o && ar rcs libcheck.a check.o || exit 3
export UNPLAIT_RUNTIME=$work/libcheck.a UNPLAIT_TRACE_ALL=1

# two threads, one byte: the thread finds it by a function of libc, main by its place
cat >inside.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct record { long n; char text[16]; };
static int compare(const void *a, const void *b) { return (int)(*(const long *)a - *(const long *)b); }
static void *thread(void *arg)
{
	struct record *r = arg;
	char *p;
#if WHICH == 0
	p = strchr(r->text, '/');
#elif WHICH == 1
	strtol(r->text, &p, 10);
#elif WHICH == 2
	p = mempcpy(r->text, "12345", 5);
#else
	long key = 5, *found = bsearch(&key, arg, 3, sizeof(long), compare);
	p = (char *)found;
#endif
	*p = 'x';
	return arg;
}
int main(void)
{
	pthread_t t;
	char seen;
#if WHICH == 3
	long *r = malloc(3 * sizeof(*r));
	char *place = (char *)&r[2];
	r[0] = 1, r[1] = 3, r[2] = 5;
#else
	struct record *r = malloc(sizeof(*r));
	char *place = &r->text[5];
	memcpy(r->text, "12345/789", 10);
	r->n = 0;
#endif
	if (pthread_create(&t, 0, thread, r)) return 1;
	while ((seen = *(volatile char *)place) != 'x')
		continue;
	return pthread_join(t, 0) || seen != 'x';
}
C
# a thread's result; a string of the environment
cat >left.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static int *make(void)
{
	int *own = malloc(sizeof(*own));
	*own = 7;
	return own;
}
static void *returns(void *arg) { int *own = make(); return arg ? own : 0; }
static void *leaves(void *arg) { int *own = make(); pthread_exit(own); return arg; }
static int join(pthread_t t, int try)
{
	void *result = 0;
	int *n;
	while (try ? pthread_tryjoin_np(t, &result) : pthread_join(t, &result))
		continue;
	n = result;
	return ++*n;
}
static void *asks(void *arg) { char *p = getenv("UNPLAIT_2210"); p[1] = 'y'; return arg; }
int main(int argc, char **argv)
{
	static char own[] = "UNPLAIT_2210=xx";
	pthread_t t;
	if (pthread_create(&t, 0, WHICH, argv) || join(t, argc > 1) != 8) return 1;
	putenv(own);
	if (pthread_create(&t, 0, asks, 0)) return 1;
	while (*(volatile char *)&own[14] != 'y')
		continue;
	return pthread_join(t, 0);
}
C
# the cast leads to the start of the object, where another pointer lies
cat >cast.cc <<'C'
#include <thread>
struct left { virtual ~left() {} volatile long *a = new long(1); };
struct right { virtual ~right() {} volatile long *b = new long(2); };
struct both : left, right {};
static void change(right *r) { if (both *b = dynamic_cast<both *>(r)) *b->a = 4; }
int main()
{
	both *b = new both;
	right *r = b;
	std::thread t([r] { change(r); });
	while (*b->a != 4)
		continue;
	t.join();
	return *b->b != 2;
}
C
for which in 0 1 2 3; do
	run 0 unplait cc -O1 -DWHICH=$which inside.c -o inside -pthread
	run 0 ./inside
done
for which in returns leaves; do
	run 0 unplait cc -O1 -DWHICH=$which left.c -o left -pthread
	run 0 ./left
	run 0 ./left tryjoin
done
run 0 unplait c++ -O1 cast.cc -o cast -pthread
run 0 ./cast
finish
