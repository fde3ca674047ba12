#!/usr/bin/env bash
# explain: one mistake with several faces. A session is closed while it is used, and each of its users' steps fails in
# its own way: whichever is explained, the cause is the same. Two mistakes in one program stay two.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "explain" "libplait.a is not built"; finish; }
hunted() { # NAME: every way in which it fails, into NAME.faces/
	run 0 unplait cc -g -O0 -pthread "$1.c" -o "$1"
	run 1 unplait hunt -q --all --seed 1 -n "$2" -o "$1.faces" "./$1"
}
explained() { # PLAIT RUNS
	unplait explain -q --runs "$2" "$1" >out 2>err
	tr -s ' \n' ' ' <out | sed 's/ kind .*//' >flat
}

cat >session.c <<'C'
#include <assert.h>
#include <pthread.h>
static int open, sent, got, *buffer, room[4];
static void *user(void *p)
{
	assert(open);
	sent++;
	assert(buffer != 0);
	buffer[0] = sent;
	assert(open > 0);
	got++;
	assert(got == sent);
	buffer[1] = got;
	assert(open == 1);
	return p;
}
static void close_session(void)
{
	open = 0;
	buffer = 0;
	sent = 0;
}
int main(void)
{
	pthread_t t;
	buffer = room;
	open = 1;
	pthread_create(&t, 0, user, 0);
	close_session();
	pthread_join(t, 0);
	return 0;
}
C
hunted session 300
faces=0 counted=0
for plait in session.faces/*.plait; do
	explained "$plait" 100
	has flat "cause thread 0 writes open at session.c:19 before thread 0.1 reads"
	has flat "0 of 100 with it enforced"
	faces=$((faces + 1))
	grep -q "in this way, [0-9]* with " flat && counted=$((counted + 1))
done
[ "$faces" -ge 5 ] && ok "it fails in several ways" || not_ok "only $faces ways"
[ "$counted" -ge 3 ] && ok "the ways that were counted are told" || not_ok "told for $counted of $faces"

# with a few schedules the very same failure hardly comes again
explained "$(ls session.faces/*.plait | tail -1)" 16
has flat "cause thread 0 writes open at session.c:19 before thread 0.1 reads"
has flat "0 of 16 with it enforced"

# the same with a lock, which goes, too; the loop of the user only reads, and looks like one that waits
cat >queue.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static struct {
	pthread_mutex_t *lock;
	int *items, n, open;
} q;
static void *consumer(void *p)
{
	for (int i = 0; i < 2; i++) {
		int sum = 0;
		assert(q.open);
		pthread_mutex_lock(q.lock);
		for (int k = 0; k < q.n; k++)
			sum += q.items[k];
		assert(sum == 6);
		pthread_mutex_unlock(q.lock);
	}
	return p;
}
static void teardown(void)
{
	pthread_mutex_t *m = q.lock;
	q.open = 0;
	q.n = 0;
	q.lock = NULL;
	pthread_mutex_destroy(m);
	free(m);
	free(q.items);
	q.items = NULL;
}
int main(void)
{
	pthread_t t[2];
	q.lock = malloc(sizeof(*q.lock));
	pthread_mutex_init(q.lock, NULL);
	q.items = malloc(3 * sizeof(int));
	for (int i = 0; i < 3; i++)
		q.items[i] = i + 1;
	q.n = 3;
	q.open = 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, consumer, NULL);
	teardown();
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
hunted queue 200
for plait in queue.faces/fail-[1-4].plait; do
	explained "$plait" 60
	grep -q -E "cause thread 0 writes q.open at queue.c:24 before|after thread 0 (freed|destroyed) it" flat &&
		ok "$plait: the queue is torn down too early" || not_ok "$plait: another cause" "$(cat flat)"
	has flat "0 of 60 with it enforced"
done

# two mistakes: the count is not the reader's business, nor the other way round
cat >two.c <<'C'
#include <assert.h>
#include <pthread.h>
static int count, ready;
static void *worker(void *p)
{
	count++;
	return p;
}
static void *reader(void *p)
{
	assert(ready);
	return p;
}
int main(void)
{
	pthread_t a, b, c;
	pthread_create(&c, 0, reader, 0);
	pthread_create(&a, 0, worker, 0);
	pthread_create(&b, 0, worker, 0);
	ready = 1;
	pthread_join(a, 0);
	pthread_join(b, 0);
	pthread_join(c, 0);
	assert(count == 2);
	return 0;
}
C
hunted two 200
for plait in two.faces/*.plait; do
	explained "$plait" 100
	hasnt flat "in this way"
	if grep -q "count == 2" flat; then
		has flat "read of count at two.c:6 and its write to count at two.c:6, which belong together"
	else
		has flat "reads ready at two.c:11 before thread 0 writes ready"
	fi
done

# The writer's loop only reads, and is no loop that waits: the neighbours of the failing schedule must not let main go
# on in it, or none of them fails.
cat >loop.c <<'C'
#include <assert.h>
#include <pthread.h>
static int limit, first, second, at[12];
static void *writer(void *p)
{
	int n = 0;
	for (int i = 0; i < limit; i++)
		n++;
	for (int i = 0; i < 12; i++)
		at[i] = n;
	first = n;
	second = n;
	return p;
}
int main(void)
{
	pthread_t t;
	limit = 9;
	pthread_create(&t, 0, writer, 0);
	int a = first, b = second;
	assert(!a || b);
	limit += at[0];
	pthread_join(t, 0);
	return 0;
}
C
hunted loop 200
explained "$(ls loop.faces/*.plait | head -1)" 100
has flat "thread 0 reads first at loop.c:20 between thread 0.1's write to first at loop.c:11 and its write to second"
has flat "0 of 100 with it enforced"
finish
