#!/usr/bin/env bash
# A lock that one place forgets is named, with that place; so is a thread that waits for a semaphore
# with a lock in its hands, a thread that was started too early, and the caller of a small helper.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "explain" "libplait.a is not built"; finish; }

explained() { # name, flags
	run 0 unplait cc -g "${@:2}" -pthread "$1.c" -o "$1"
	run 1 unplait hunt -q -n 3000 -o "$1.plait" "./$1"
	run 1 unplait explain --runs 200 "$1.plait"
	tr '\n' ' ' <out | tr -s ' ' >flat
}

# everybody but line 14 holds m; line 25 needs no lock, because the others have ended
cat >guard.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void *careful(void *arg)
{
	pthread_mutex_lock(&m);
	total = total + 1;
	pthread_mutex_unlock(&m);
	return arg;
}
static void *careless(void *arg)
{
	total += 10;
	return arg;
}
int main(void)
{
	pthread_t t[3];
	pthread_create(&t[0], 0, careful, 0);
	pthread_create(&t[1], 0, careless, 0);
	pthread_create(&t[2], 0, careful, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	assert(total == 12);
}
C
for o in -O0 -O2; do
	explained guard $o
	grep -qE "guard.c:14 (without holding m|and its)|does not hold m from its read of total at guard.c:14" flat &&
		ok "guard $o: who forgot it" || not_ok "guard $o: who forgot it" "$(cat flat)"
	has flat "which every other access holds"
	has flat "hold m at guard.c:14, as guard.c:8 does (locked at guard.c:7)"
done

# both sides hold a lock, but not the same: no rule to tell
sed 's/^\ttotal += 10;/\tpthread_mutex_lock(\&n);\n\ttotal += 10;\n\tpthread_mutex_unlock(\&n);/
	s/^static int total;/static int total;\nstatic pthread_mutex_t n = PTHREAD_MUTEX_INITIALIZER;/' guard.c >other.c
explained other -O1
has flat "hold m at other.c:16, as other.c:9 does"

# a semaphore is waited for while another one is held
cat >sem.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t empty, full, mutex;
static int buffer, n;
static void *producer(void *arg)
{
	for (int i = 0; i < 2; i++) {
		sem_wait(&mutex);
		sem_wait(&empty);
		buffer = i;
		sem_post(&full);
		sem_post(&mutex);
	}
	return arg;
}
static void *consumer(void *arg)
{
	for (int i = 0; i < 2; i++) {
		sem_wait(&mutex);
		sem_wait(&full);
		n += buffer;
		sem_post(&empty);
		sem_post(&mutex);
	}
	return arg;
}
int main(void)
{
	pthread_t p, c;
	sem_init(&empty, 0, 1);
	sem_init(&full, 0, 0);
	sem_init(&mutex, 0, 1);
	pthread_create(&p, 0, producer, 0);
	pthread_create(&c, 0, consumer, 0);
	pthread_join(p, 0);
	pthread_join(c, 0);
}
C
explained sem -O0
grep -qE "waits for (full at sem.c:20|empty at sem.c:9) while it holds mutex \(sem.c:(19|8)\)" flat &&
	ok "sem: what it holds" || not_ok "sem: what it holds" "$(cat flat)"
has flat "take it after the wait"

# the thread is created before what it needs is there
cat >early.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
struct worker { pthread_t t; int *box; };
static void *work(void *arg)
{
	struct worker *w = arg;
	*w->box = 1;
	return arg;
}
int main(void)
{
	struct worker *w = calloc(1, sizeof(*w));
	pthread_create(&w->t, 0, work, w);
	w->box = malloc(4);
	pthread_join(w->t, 0);
	return 0;
}
C
explained early -O0
has flat "before thread 0.1 is created at early.c:14"

# an access in a helper of a header is told with its caller
cat >cell.h <<'C'
static inline int cell_get(int *p)
{
	return __atomic_load_n(p, 5);
}
static inline void cell_set(int *p, int v)
{
	__atomic_store_n(p, v, 5);
}
C
cat >cell.c <<'C'
#include "cell.h"
#include <assert.h>
#include <pthread.h>
static int hits;
static void *hit(void *arg)
{
	int n = cell_get(&hits);
	cell_set(&hits, n + 1);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, hit, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	assert(hits == 2);
}
C
for o in -O0 -O2; do
	explained cell $o
	has flat "cell.c:7" "cell $o: the line of the program"
	has flat "cell.c:8" "cell $o: and the other"
done

# the shortest block: the lock is free before its owner is cleared (isec-tugraz/sweb#19)
cat >owner.c <<'C'
#include <assert.h>
#include <pthread.h>
static int taken, owner;
static void *run(void *arg)
{
	int me = (int)(long)arg;
	for (int i = 0; i < 2; i++) {
		if (__atomic_exchange_n(&taken, 1, 5))
			continue;
		assert(__atomic_load_n(&owner, 5) == 0);
		__atomic_store_n(&owner, me, 5);
		__atomic_store_n(&taken, 0, 5);
		__atomic_store_n(&owner, 0, 5);
	}
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], 0, run, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
explained owner -O0
has flat "write to taken at owner.c:12 and its write to owner at owner.c:13"
has flat "or let the write to taken come last"

# the optimiser left the access without a line: its site has one
cp "$top/test/programs/deleted.c" .
run 0 unplait cc -g -O1 -pthread deleted.c -o deleted
run 1 unplait hunt -q --all -n 600 -o many ./deleted
hasnt out "deleted.c:0"
for p in many/*.plait; do
	unplait explain --runs 100 "$p" >out 2>err
	hasnt out "?()" "$p: every place has a line"
done
finish
