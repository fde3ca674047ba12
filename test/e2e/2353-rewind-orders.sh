#!/usr/bin/env bash
# Threads: the first thread takes part, an assertion of a thread is explained, two accesses come in the wrong order, and
# what a table was before other threads filled it is no cause.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind: orders" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cat >between.c <<'END'
#include <pthread.h>
#include <unistd.h>
static int numbers[4], *volatile table = numbers;
static void *reader(void *arg)
{
	int sum = 0;
	if (table) { /* check */
		usleep(200000);
		sum = table[2]; /* use */
	}
	return (void *)(long)(sum + !!arg);
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, reader, NULL);
	usleep(100000);
	table = NULL; /* drop */
	pthread_join(t, NULL);
	return 0;
}
END
cat >order.c <<'END'
#include <pthread.h>
#include <unistd.h>
static int numbers[4], *volatile table = numbers;
static void *reader(void *arg)
{
	usleep(100000);
	return (void *)(long)(table[2] + !!arg); /* use */
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, reader, NULL);
	table = NULL; /* drop */
	pthread_join(t, NULL);
	return 0;
}
END
cat >half.c <<'END'
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int one, two;
static void *writer(void *arg)
{
	pthread_mutex_lock(&lock);
	one = 1; /* first */
	pthread_mutex_unlock(&lock);
	usleep(200000);
	pthread_mutex_lock(&lock);
	two = 1; /* second */
	pthread_mutex_unlock(&lock);
	return arg;
}
static void *reader(void *arg)
{
	int x, y;
	usleep(100000);
	pthread_mutex_lock(&lock);
	x = one;
	y = two; /* read */
	pthread_mutex_unlock(&lock);
	assert(x == y);
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, reader, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
END
cat >filled.c <<'END'
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static struct { int used; long slot[2000]; } *table;
static void *fill(void *arg)
{
	for (int i = 0; i < 40; i++)
		table->slot[table->used++] = 3;
	return arg;
}
int main(void)
{
	pthread_t t;
	table = calloc(1, sizeof(*table));
	pthread_create(&t, NULL, fill, NULL);
	pthread_join(t, NULL);
	assert(table->slot[5] == 7);
	return 0;
}
END
dump() { rm -f core*; (ulimit -c unlimited && exec "./$1") >/dev/null 2>&1; mv core* dump; }
line() { grep -n "/\* $2 \*/" "$1.c" | cut -d: -f1; }
for o in -O0 -O2; do
	for p in between order half filled; do gcc $o -g -w -pthread -o $p $p.c; done
	dump between
	run 1 unplait rewind dump
	has out "(changed in between): table was read by thread 1 at between.c:$(line between check)" "$o: checked"
	has out "in between the first thread wrote it at between.c:$(line between drop)" "$o: by the first thread"
	has out "confirmed: run natively in this order" "$o: it was run"
	dump order
	run 1 unplait rewind dump
	has out "(wrong order): table was written by the first thread at order.c:$(line order drop) in main before thread 1 read it at order.c:$(line order use)" "$o: the wrong order"
	dump half
	run 1 unplait rewind dump
	has out "half.c:$(line half first)" "$o: the first half"
	has out "half.c:$(line half read)" "$o: who saw it"
	dump filled
	"$UNPLAIT" rewind dump >out 2>err
	hasnt out "as calloc made it"
	hasnt out "in between"
done
finish
