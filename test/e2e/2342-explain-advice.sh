#!/usr/bin/env bash
# Advice that a reviewer can follow: a lock that is held for reading only, a lock taken in a signal's handler, a number
# that only grows, two that wait for each other, a value read twice before a compare-and-swap, a join that comes too late.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "explain" "libplait.a is not built"; finish; }
explained() { # NAME CC LEVEL [SEED]
	run 0 unplait "$2" -g "$3" -pthread "$1".c* -o "$1"
	rm -f "$1.plait"
	run 1 unplait hunt -q --seed "${4:-1}" -n 1000 -o "$1.plait" "./$1"
	unplait explain -q --runs 60 "$1.plait" >out 2>err
	tr -s ' \n' ' ' <out | sed 's/ kind .*//' >flat
}

# Both look up under the lock for reading; who does not find its key makes the table larger, and frees the old one.
cat >table.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int *table, size = 1;
static int get(int key)
{
	int found = 0;
	pthread_rwlock_rdlock(&lock);
	for (int i = 0; i < size; i++)
		found |= table[i] == key;
	if (!found) {
		int *more = calloc(2, sizeof(int)), *old = table;
		more[0] = old[0];
		more[1] = key;
		table = more;
		size = 2;
		free(old);
	}
	pthread_rwlock_unlock(&lock);
	return found;
}
static void *user(void *p)
{
	get(*(int *)p);
	return p;
}
int main(void)
{
	static int keys[2] = { 1, 2 };
	pthread_t a, b;
	table = calloc(1, sizeof(int));
	table[0] = 1;
	pthread_create(&a, 0, user, &keys[0]);
	pthread_create(&b, 0, user, &keys[1]);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
C
# The same count, looked at and changed in two steps.
cat >count.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int hits;
static void *user(void *p)
{
	pthread_rwlock_rdlock(&lock);
	int was = hits;
	hits = was + 1;
	pthread_rwlock_unlock(&lock);
	return p;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, user, 0);
	pthread_create(&b, 0, user, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(hits == 2);
	return 0;
}
C
cat >alarm.c <<'C'
#include <pthread.h>
#include <signal.h>
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int lines;
static void note(void)
{
	pthread_mutex_lock(&log_lock);
	lines++;
	pthread_mutex_unlock(&log_lock);
}
static void on_signal(int n)
{
	(void)n;
	note();
}
static void *sender(void *p)
{
	pthread_kill(*(pthread_t *)p, SIGUSR1);
	return 0;
}
int main(void)
{
	pthread_t self = pthread_self(), t;
	signal(SIGUSR1, on_signal);
	pthread_create(&t, 0, sender, &self);
	note();
	pthread_join(t, 0);
	return 0;
}
C
# Two signals are counted. The waiting thread has missed neither; it has undone what it was told with the second.
cat >timer.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, w = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static atomic_int signals;
static atomic_bool stop;
static int next = 9;
static void tell(int when)
{
	pthread_mutex_lock(&m);
	next = when;
	signals++;
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&w);
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&w);
}
static void *timer(void *p)
{
	while (!atomic_load(&stop)) {
		pthread_mutex_lock(&m);
		next = 9;
		int seen = signals;
		pthread_mutex_unlock(&m);
		pthread_mutex_lock(&w);
		while (signals == seen)
			pthread_cond_wait(&c, &w);
		pthread_mutex_unlock(&w);
	}
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, timer, 0);
	tell(1);
	atomic_store(&stop, true);
	tell(0);
	pthread_join(t, 0);
	return 0;
}
C
cat >max.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int max;
static void *record(void *p)
{
	int value = *(int *)p;
	while (value > atomic_load(&max)) {
		int expected = atomic_load(&max);
		atomic_compare_exchange_strong(&max, &expected, value);
	}
	return p;
}
int main(void)
{
	static int values[2] = { 3, 7 };
	pthread_t a, b;
	pthread_create(&a, 0, record, &values[0]);
	pthread_create(&b, 0, record, &values[1]);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(max == 7);
	return 0;
}
C
# Both take from the queue; the reader is told to stop, and joined only after that.
cat >reader.cpp <<'C'
#include <atomic>
#include <cassert>
#include <thread>
struct queue {
	std::atomic<int> left{ 0 };
	void take()
	{
		assert(left.load() > 0);
		left.fetch_sub(1);
	}
	bool empty() { return left.load() == 0; }
};
class commands {
	queue q;
	std::atomic<bool> stop{ false };
	std::thread reader;
	void read()
	{
		while (!stop.load()) {
			if (!q.empty())
				q.take();
			std::this_thread::yield();
		}
	}

    public:
	commands() { reader = std::thread([this] { read(); }); }
	void add() { q.left.fetch_add(1); }
	~commands()
	{
		stop = true;
		while (!q.empty())
			q.take();
		reader.join();
	}
};
int main()
{
	commands c;
	c.add();
}
C
# ... and one that needs what the destructor does before it joins: no word of joining before that.
sed 's/^\t\tstop = true;$//; s/^\t\treader.join();/\t\tstop = true;\n&/' reader.cpp >late.cpp

# A reader counts itself in twice and out once before it waits for the writer, which waits for the readers.
cat >twice.c <<'C'
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, w = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t none = PTHREAD_COND_INITIALIZER, news = PTHREAD_COND_INITIALIZER;
static int readers, told;
static void count(int by)
{
	pthread_mutex_lock(&m);
	readers += by;
	if (!readers)
		pthread_cond_signal(&none);
	pthread_mutex_unlock(&m);
}
static void *reader(void *p)
{
	count(2);
	count(-1);
	pthread_mutex_lock(&w);
	while (!told)
		pthread_cond_wait(&news, &w);
	pthread_mutex_unlock(&w);
	count(-1);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, reader, 0);
	pthread_mutex_lock(&m);
	while (readers)
		pthread_cond_wait(&none, &m);
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&w);
	told = 1;
	pthread_cond_signal(&news);
	pthread_mutex_unlock(&w);
	pthread_join(t, 0);
	return 0;
}
C

# A job refers to what an earlier job of the same thread has freed.
cat >jobs.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static volatile int *conn;
static int jobs[2], n;
static void post(int job)
{
	pthread_mutex_lock(&m);
	jobs[n++] = job;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
}
static void *timer(void *p)
{
	post(2);
	return p;
}
static void *loop(void *p)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&m);
		while (n <= i)
			pthread_cond_wait(&c, &m);
		int job = jobs[i];
		pthread_mutex_unlock(&m);
		if (job == 1)
			*conn += 1;
		else
			free((int *)conn);
	}
	return p;
}
int main(void)
{
	pthread_t t, l;
	conn = malloc(sizeof(int));
	pthread_create(&l, 0, loop, 0);
	*conn = 7;
	pthread_create(&t, 0, timer, 0);
	post(1);
	pthread_join(t, 0);
	pthread_join(l, 0);
	return 0;
}
C

# Two lines of one thread lack the lock: "every other access holds it" would be false.
cat >lines.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int n;
static void *add(void *p)
{
	pthread_mutex_lock(&m);
	n++;
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, 0, add, 0);
	pthread_create(&u, 0, add, 0);
	n += 2;
	n += 3;
	pthread_join(t, 0);
	pthread_join(u, 0);
	assert(n == 7);
	return 0;
}
C

explained lines cc -O0
has flat 'which every access by another thread holds' "two lines lack the lock"
hasnt flat 'which every other access holds' "... so not every other access holds it"
explained table cc -O2
has flat 'Both hold lock then, but for reading only' "held for reading only, freed"
has flat 'take lock for writing at table.c:8: thread 0.' "... which lock to take"
explained count cc -O0
has flat 'take lock for writing at count.c:7: thread 0.' "held for reading only, changed"
explained alarm cc -O0
has flat 'waits at alarm.c:7 for log_lock in a handler of signal' "a lock in a handler"
explained timer cc -O2
hasnt flat 'a number that only grows' "a number that only grows is no value that was missed"
explained twice cc -O2
has flat 'until told changes, which only thread 0 does when all goes well (twice.c:33)' "what only the other one does"
has flat 'thread 0 waits at twice.c:30 until readers changes' "... and it waits for this one"
explained jobs cc -O2
has flat 'one thread does both' "used and freed by one thread"
hasnt flat 'wait for that thread' "... which cannot wait for itself"
explained max cc -O0
has flat 'or read max only once' "read twice before a compare-and-swap"
for level in -O0 -O2; do
	explained reader c++ "$level" 3 # its passing run has the destructor's part of it
	has flat 'or join thread 0.1 before that: commands::~commands() does it while' "joined too late, $level"
	hasnt flat '(ABA)' "what a thread changes itself does not come back, $level"
done
explained late c++ -O0
hasnt flat 'or join thread' "not before it is told to stop"
finish
