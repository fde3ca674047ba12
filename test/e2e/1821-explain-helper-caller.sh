#!/usr/bin/env bash
# An access in a helper of another file, whose lock its callers take: explain names the caller that forgot it.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "explain" "libplait.a is not built"; finish; }

cat >box.h <<'C'
struct box { int *value; };
void box_set(struct box *b, int *value);
int *box_get(struct box *b);
C
cat >box.c <<'C'
#include "box.h"
void box_set(struct box *b, int *value) { b->value = value; }
int *box_get(struct box *b) { return b->value; }
C
cat >main.c <<'C'
#include "box.h"
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct box shared;
static int one = 1;
static void *reader(void *arg)
{
	pthread_mutex_lock(&m);
	if (box_get(&shared))
		assert(*box_get(&shared) == 1);
	pthread_mutex_unlock(&m);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	box_set(&shared, &one);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, reader, 0);
	box_set(&shared, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
}
C
for o in -O0 -O1; do
	run 0 unplait cc -g $o -pthread box.c main.c -o prog
	run 1 unplait hunt -q -n 3000 -o fail.plait ./prog
	run 1 unplait explain --runs 100 fail.plait
	tr '\n' ' ' <out | tr -s ' ' >flat
	has flat "at box.c:2 (called at main.c:21) without holding m"
	has flat "hold m at box.c:2 (called at main.c:21)"
done

# a lock inside the helper's own file is the helper's business
cat >>box.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int box_check(struct box *b)
{
	int ret = 0;
	pthread_mutex_lock(&m);
	if (b->value)
		ret = *b->value;
	pthread_mutex_unlock(&m);
	return ret;
}
C
sed -e '/^static pthread_mutex_t/d' -e '/pthread_mutex/d' -e '/if (box_get/d' \
	-e 's/assert(.*/assert(box_check(\&shared) < 2);/' -e 's/#include "box.h"/&\nint box_check(struct box *b);/' main.c >inside.c
run 0 unplait cc -g -O0 -pthread box.c inside.c -o inside
run 1 unplait hunt -q -n 3000 -o inside.plait ./inside
run 1 unplait explain --runs 100 inside.plait
tr '\n' ' ' <out | tr -s ' ' >flat
has flat "hold m at box.c:2, as box.c:10"
finish
