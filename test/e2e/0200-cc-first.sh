#!/usr/bin/env bash
# unplait cc: one file in one step and in two, archives, errors that are the user's own.
# level: quick
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "unplait cc" "libplait.a is not built"; finish; }

cat >main.c <<'X'
#include <pthread.h>
#include <stdio.h>
int twice(int);
static int counter;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&m);
		counter += *(int *)arg;
		pthread_mutex_unlock(&m);
	}
	return NULL;
}
int main(void)
{
	pthread_t t[2];
	int one = 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, &one);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", twice(counter));
	return 0;
}
X
echo 'int twice(int x) { return 2 * x; }' >twice.c

for o in -O0 -O2; do
	run 0 unplait cc $o main.c twice.c -o prog
	run 0 ./prog
	has out 400 "$o: one step"
	run 0 unplait cc $o -c main.c
	run 0 unplait cc $o -c twice.c
	run 0 unplait cc main.o twice.o -o prog2
	run 0 ./prog2
	has out 400 "$o: two steps"
	rm -f libt.a
	ar rcs libt.a twice.o
	run 0 unplait cc main.o -L. -lt -o prog3
	run 0 ./prog3
	has out 400 "$o: archive"
done
readelf -SW prog >sections
has sections .plait.sites
has sections .plait.bc
has sections .plait.build

run 0 unplait cc --unplait-plain main.o twice.o -o prog4
run 0 ./prog4.plain
has out 400
run 1 unplait cc main.o -o broken
has err "undefined reference to \`twice'"
hasnt err "unplait:"
run 1 unplait cc -c no-such.c
has err "no such file"

# names: a thread's void * is what the variable it goes into says, and a part without a name is not called like
# another part
cat >names.c <<'X'
#include <pthread.h>
#include <stdlib.h>
struct pool { pthread_mutex_t lock; int busy, limit, shutdown; long *slots; };
static void *work(void *opaque)
{
	struct pool *p = opaque;
	pthread_mutex_lock(&p->lock);
	while (!p->shutdown && p->busy < p->limit)
		p->busy++;
	p->slots[p->busy]++;
	pthread_mutex_unlock(&p->lock);
	return NULL;
}
int main(void)
{
	struct pool *p = calloc(1, sizeof(*p));
	pthread_t t[2];
	p->slots = calloc(16, sizeof(long));
	p->limit = 4;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, p);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return p->busy != 4;
}
X
for o in -O0 -O1 -O2; do
	run 0 unplait cc $o -g -pthread names.c -o names
	unplait info --sites names | grep 'in work' >out
	for field in busy limit shutdown slots; do has out "pool::$field" "$o: $field"; done
	grep 'names.c:10 in work' out | grep -v 'pool::slots\|pool::busy\|pool::shutdown' >slot # the optimiser may move what the loop looks at
	hasnt slot "pool::" "$o: a slot is no field of the pool"
done

# places: a build beside its sources, as CMake does it, and one that compiles in a folder and links above it
mkdir -p tree/src tree/out
cp names.c tree/src
(cd tree/out && unplait cc -g -O1 -pthread "$work/tree/src/names.c" -o names && unplait info --sites names) >out
has out "$work/tree/src/names.c:8 in work" "beside: the whole path"
(cd tree/src && unplait cc -g -O1 -pthread -c names.c)
(cd tree && unplait cc -g -pthread src/names.o -o names && unplait info --sites names) >out
has out " src/names.c:8 in work" "above: from where it was linked"

# branches: bits in modes path and full, the same ones; events with sites under control
cat >ways.c <<'X'
#include <pthread.h>
#include <stdio.h>
static volatile int shared = 5;
static volatile int odd, other;
static void *work(void *arg)
{
	shared = 5;
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t;
	(void)argv;
	pthread_create(&t, NULL, work, NULL);
	for (int i = 0; i < 70; i++) {
		if ((shared + i) % 3 == 0)
			odd++;
	}
	switch (shared) {
	case 5: other = 1; break;
	case 77: odd = 2; break;
	case 9999: odd = 7; other = 3; break;
	}
	pthread_join(t, NULL);
	printf("%d\n", odd + other);
	return argc - 1;
}
X
run 0 unplait cc -O1 -g -pthread ways.c -o ways
for m in path full; do
	run 0 unplait record -q -m $m -o $m.plait -- ./ways
	unplait info -e -t 0 -k path-bits $m.plait | grep -o 'path-bits.*' >$m.bits
	unplait info -e -t 0 -k path-switch $m.plait | grep -c path-switch >$m.switches
	is "$(unplait info -e -k branch $m.plait | grep -c branch)" 0 "$m: no branch is an event of its own"
	is "$(cat $m.switches)" 1 "$m: one switch"
done
is "$(wc -l <full.bits)" 2 "seventy branches in two records"
same full.bits path.bits "path and full record the same bits"
run 1 unplait hunt -q -n 1 --fail-on exit -o control.plait -- ./ways 1
is "$(unplait info -e -t 0 -k branch control.plait | grep -c ' branch .*ways.c:')" 71 "under control each is an event with its place"
finish
