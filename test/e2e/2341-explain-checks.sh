#!/usr/bin/env bash
# A check that is out of date by the time it counts: made before the lock and not again under it, by a compare-and-swap
# that finds the old value back, in one step while the use is another; and locks that are given back too early.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "explain" "libplait.a is not built"; finish; }
explained() { # NAME CC LEVEL [RUNS]
	run 0 unplait "$2" -g "$3" -pthread "$1".c* -o "$1"
	rm -f "$1.plait"
	run 1 unplait hunt -q --seed 1 -n 1000 -o "$1.plait" "./$1"
	unplait explain -q --runs "${4:-60}" "$1.plait" >out 2>err
	tr -s ' \n' ' ' <out | sed 's/ kind .*//' >flat
}

# The second thread fills the table in again, while the first one uses it. That the user holds no lock is right.
cat >again.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ready;
static volatile int table;
static void get(void)
{
	if (atomic_load(&ready))
		return;
	pthread_mutex_lock(&lock);
	table = 0;
	table = 7;
	atomic_store(&ready, 1);
	pthread_mutex_unlock(&lock);
}
static void *user(void *p)
{
	get();
	assert(table == 7);
	return p;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, user, 0);
	pthread_create(&b, 0, user, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
C
# The opposite: it looks again, and the user reads what is filled in under the lock at any time.
sed 's/^\tif (atomic_load(&ready))$/\tif (0)/' again.c >always.c
# ABA: the head is the old one again when the compare-and-swap looks.
cat >aba.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct elem { struct elem *_Atomic next; atomic_int owner; };
static struct elem elems[3];
static struct elem *_Atomic head;
static struct elem *get(int me)
{
	struct elem *e = atomic_load(&head);
	while (e) {
		struct elem *next = atomic_load(&e->next);
		if (atomic_compare_exchange_strong(&head, &e, next)) {
			assert(atomic_exchange(&e->owner, me) == 0);
			return e;
		}
	}
	return 0;
}
static void put(struct elem *e)
{
	struct elem *was = atomic_load(&head);
	atomic_store(&e->owner, 0);
	do
		atomic_store(&e->next, was);
	while (!atomic_compare_exchange_strong(&head, &was, e));
}
static void *one(void *p)
{
	get(1);
	get(1);
	return p;
}
static void *two(void *p)
{
	struct elem *e = get(2);
	get(2);
	if (e)
		put(e);
	return p;
}
int main(void)
{
	pthread_t a, b;
	for (int i = 0; i < 3; i++)
		put(&elems[i]);
	pthread_create(&a, 0, one, 0);
	pthread_create(&b, 0, two, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
C
# Looked at in one step and used up in another; the tokens in between have nothing to do with it.
cat >limit.cc <<'C'
#include <atomic>
#include <cassert>
#include <thread>
struct Budget {
	std::atomic<int> calls{0}, tokens{0};
	bool take(int n)
	{
		int used = tokens.load();
		while (!tokens.compare_exchange_weak(used, used + n)) {
		}
		return true;
	}
	bool reserve()
	{
		if (calls.load() >= 2)
			return false;
		if (!take(10))
			return false;
		calls.fetch_add(1);
		return true;
	}
};
int main()
{
	Budget budget;
	std::atomic<int> granted{0};
	std::thread t[3];
	for (auto &one : t)
		one = std::thread([&] { granted += budget.reserve(); });
	for (auto &one : t)
		one.join();
	assert(granted == 2);
}
C
# Counted in under the lock, and out in another function without it: nobody wants to keep the lock that long.
cat >apart.c <<'C'
#include <assert.h>
#include <pthread.h>
struct block { int refs; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block only;
static struct block *get(void)
{
	pthread_mutex_lock(&lock);
	only.refs++;
	pthread_mutex_unlock(&lock);
	return &only;
}
static void put(struct block *b)
{
	b->refs--;
}
static void *reader(void *p)
{
	put(get());
	put(get());
	return p;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, reader, 0);
	pthread_create(&b, 0, reader, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(only.refs == 0);
	return 0;
}
C
# Each sets its own under the lock, and looks at the other's after it. Both must look earlier.
cat >both.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int waiting, ready, calls;
static void call(void)
{
	pthread_mutex_lock(&lock);
	calls++;
	pthread_mutex_unlock(&lock);
}
static void *set(void *p)
{
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_mutex_unlock(&lock);
	if (waiting)
		call();
	return p;
}
static void ask(void)
{
	pthread_mutex_lock(&lock);
	waiting = 1;
	pthread_mutex_unlock(&lock);
	if (ready)
		call();
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, set, 0);
	ask();
	pthread_join(t, 0);
	pthread_mutex_lock(&lock);
	assert(calls == 1);
	pthread_mutex_unlock(&lock);
	return 0;
}
C
# The slot is given back before what lies in it has been read; all of the assertion is at one column.
cat >slots.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct message { int id, value; };
static struct message slots[2];
static atomic_uint taken, filled;
static void *reader(void *p)
{
	for (int i = 0; i < 4; i++) {
		unsigned at = atomic_load(&taken);
		struct message *m = &slots[at % 2];
		if (at == atomic_load(&filled))
			continue;
		atomic_store(&taken, at + 1);
		assert(m->value == m->id * 10);
	}
	return p;
}
int main(void)
{
	pthread_t t;
	int id = 1;
	pthread_create(&t, 0, reader, 0);
	for (int i = 0; i < 5; i++) {
		unsigned at = atomic_load(&filled);
		if (at - atomic_load(&taken) == 2)
			continue;
		slots[at % 2].id = id;
		slots[at % 2].value = id++ * 10;
		atomic_store(&filled, at + 1);
	}
	pthread_join(t, 0);
	return 0;
}
C
# The opposite: both change what the assertion looks at, without a lock; that one saw a message first is no cause.
cat >sums.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int go;
static volatile int sum, seen;
static void *adder(void *p)
{
	if (atomic_load(&go)) {
		seen = 1;
		sum++;
	}
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, adder, 0);
	atomic_store(&go, 1);
	sum++;
	pthread_join(t, 0);
	assert(sum == 1 + seen);
	return 0;
}
C
# One buffer for all: filled in a loop, read in a loop. What belongs together ends behind the last round.
cat >scratch.c <<'C'
#include <assert.h>
#include <pthread.h>
static volatile char text[8];
static void fill(char c, int n)
{
	for (int i = 0; i < n; i++)
		text[i] = c;
}
static int count(char c, int n)
{
	int found = 0;
	for (int i = 0; i < n; i++)
		found += text[i] == c;
	return found;
}
static void *user(void *p)
{
	char c = *(char *)p;
	fill(c, 4);
	assert(count(c, 4) == 4);
	return 0;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, user, "a");
	pthread_create(&b, 0, user, "b");
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
C
# The opposite: a count that both change before they come to the table is no message.
cat >counted.c <<'C'
#include <pthread.h>
static int numbers[4] = { 1, 2, 3, 4 };
static int *volatile table = numbers;
static volatile long lookups;
static void *reader(void *p)
{
	long sum = 0;
	lookups++;
	if (table)
		sum = table[2];
	return (void *)sum;
}
static void *dropper(void *p)
{
	lookups++;
	table = 0;
	return p;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, reader, 0);
	pthread_create(&b, 0, dropper, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
C
for level in -O0 -O2; do
	explained again cc $level
	has flat "look at ready again when lock is locked at again.c:11: the check at again.c:9" "$level: not looked at again"
	hasnt flat "which every other access holds" "$level: the user needs no lock"
	explained aba cc $level
	has flat "hold one lock from the read of head at aba.c:9 to the update of head at aba.c:12" "$level: from the head on"
	has flat "head was changed, and changed back" "$level: what deceives the compare-and-swap"
	explained limit c++ $level
	has flat "calls at limit.cc:15 to the update of" "$level: from the check to the use"
	hasnt flat "tokens" "$level: nothing else belongs to it"
	explained slots cc $level
	has flat "writes taken at slots.c:14 too early" "$level: what is given away too early"
	has flat "at slots.c:15 come before the write to taken at slots.c:14" "$level: what comes first"
	explained counted cc $level
	hasnt flat "too early" "$level: a count is no message"
	has flat "read of table at counted.c:9 and its read of table at counted.c:10" "$level: looked at and used in two steps"
	explained scratch cc $level
	has flat "make scratch.c:19 to scratch.c:20 in user() atomic" "$level: from the first round to the last"
	has flat "0 of 60 with it enforced" "$level: behind the last round"
	explained apart cc $level
	hasnt flat "just after it gave back" "$level: the lock was not given back too early"
	has flat "refs at apart.c:15" "$level: the place that needs it"
	explained both cc $level
	has flat "both.c:15" "$level: the one unlock that is too early"
	has flat "both.c:24" "$level: the other one"
done
explained sums cc -O0
hasnt flat "too early" "who saw a message first may count as well"
has flat "sum at sums.c:19" "where both count"
explained always cc -O0
has flat "hold lock at always.c:20" "the user of what changes at any time needs the lock"
hasnt flat "look at ready again" "nobody has looked before"
finish
