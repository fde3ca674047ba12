#!/usr/bin/env bash
# Who holds what: units of a semaphore that nobody holds alone, the assertion itself, advice that would hang, and what
# is said of memory that another thread gave back.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "explain" "libplait.a is not built"; finish; }
explained() { # NAME CC LEVEL [RUNS]
	run 0 unplait "$2" -g "$3" -pthread "$1".c* -o "$1"
	rm -f "$1.plait"
	run 1 unplait hunt -q --seed 1 -n 1000 -o "$1.plait" "./$1"
	unplait explain -q --runs "${4:-60}" "$1.plait" >out 2>err
	tr -s ' \n' ' ' <out >flat
}

# Two buffers in all; who copies needs two.
cat >units.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t buffers;
static void *copy(void *p)
{
	sem_wait(&buffers);
	sem_wait(&buffers);
	sem_post(&buffers);
	sem_post(&buffers);
	return p;
}
int main(void)
{
	pthread_t a, b;
	sem_init(&buffers, 0, 2);
	pthread_create(&a, 0, copy, 0);
	pthread_create(&b, 0, copy, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
C
# The opposite: a semaphore of one unit is a lock, and here a thread takes it again.
cat >again.c <<'C'
#include <pthread.h>
#include <semaphore.h>
static sem_t one;
static int full;
static void *fill(void *p)
{
	sem_wait(&one);
	full = 1;
	sem_post(&one);
	return p;
}
int main(void)
{
	pthread_t t;
	sem_init(&one, 0, 1);
	pthread_create(&t, 0, fill, 0);
	sem_wait(&one);
	if (full)
		sem_wait(&one);
	sem_post(&one);
	pthread_join(t, 0);
	return 0;
}
C
# Nobody has opened it yet, says each, and lets a helper open it. What main reads at the end comes after all that, by the
# lock and the joins: that it lacks the lock is no cause.
cat >open.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int opened, times;
static void *helper(void *p)
{
	pthread_mutex_lock(&lock);
	opened = 1;
	times++;
	pthread_mutex_unlock(&lock);
	return p;
}
static int is_open(void)
{
	pthread_mutex_lock(&lock);
	int yes = opened;
	pthread_mutex_unlock(&lock);
	return yes;
}
static void *opener(void *p)
{
	pthread_t t;
	if (is_open())
		return p;
	pthread_create(&t, 0, helper, 0);
	pthread_detach(t);
	while (!is_open())
		;
	return p;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, opener, 0);
	pthread_create(&b, 0, opener, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(times == 1);
	return 0;
}
C
# The file is read, and noted in the table, in two critical sections; the writer takes both locks, the table's first.
cat >nest.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER, file_lock = PTHREAD_MUTEX_INITIALIZER;
static int table, file;
static void *reader(void *p)
{
	pthread_mutex_lock(&file_lock);
	int now = file;
	pthread_mutex_unlock(&file_lock);
	pthread_mutex_lock(&table_lock);
	table = now;
	pthread_mutex_unlock(&table_lock);
	return p;
}
static void *writer(void *p)
{
	pthread_mutex_lock(&table_lock);
	pthread_mutex_lock(&file_lock);
	file = 2;
	pthread_mutex_unlock(&file_lock);
	table = 2;
	pthread_mutex_unlock(&table_lock);
	return p;
}
int main(void)
{
	pthread_t r, w;
	pthread_create(&r, 0, reader, 0);
	pthread_create(&w, 0, writer, 0);
	pthread_join(r, 0);
	pthread_join(w, 0);
	assert(table == file);
	return 0;
}
C
# The opposite: the writer does not nest them.
sed '/^static void .writer/,/^}/{/lock(&table_lock/d
	s/^\ttable = 2;/\tpthread_mutex_lock(\&table_lock);\n\ttable = 2;\n\tpthread_mutex_unlock(\&table_lock);/}' nest.c >flatly.c
# The mode changes while the worker looks at it. The worker ends only when it is posted, and that comes after the change:
# main cannot wait for its end first. The opposite: without the semaphore it can.
cat >stop.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
static volatile int mode = 3;
static sem_t stop;
static void *worker(void *p)
{
	for (int i = 0; i < 3; i++)
		assert(mode == 3);
	sem_wait(&stop);
	return p;
}
int main(void)
{
	pthread_t t;
	sem_init(&stop, 0, 0);
	pthread_create(&t, 0, worker, 0);
	mode = 0;
	sem_post(&stop);
	pthread_join(t, 0);
	return 0;
}
C
sed '/sem_wait/d;/sem_post/d' stop.c >nostop.c
# Found under the lock, used after the unlock.
cat >found.c <<'C'
#include <pthread.h>
#include <stdlib.h>
struct user { int id, age; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct user *only;
static int age;
static void *asks(void *p)
{
	pthread_mutex_lock(&lock);
	struct user *u = only;
	pthread_mutex_unlock(&lock);
	if (u)
		age = u->age;
	return p;
}
static void *leaves(void *p)
{
	pthread_mutex_lock(&lock);
	free(only);
	only = 0;
	pthread_mutex_unlock(&lock);
	return p;
}
int main(void)
{
	pthread_t a, b;
	only = calloc(1, sizeof(*only));
	pthread_create(&a, 0, asks, 0);
	pthread_create(&b, 0, leaves, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return age;
}
C
# The opposite: who finds it is counted under the lock, and it is freed without a look at the count.
sed 's/^struct user { int id/struct user { int refs, id/
	s/^\tpthread_mutex_unlock(&lock);\n\tif/&/
	s/^\tstruct user \*u = only;/&\n\tif (u)\n\t\tu->refs++;/' found.c >counted.c
# Made under the lock, filled in after the unlock, when another thread has let the table grow. Who writes there under the
# lock has not counted itself in by that.
cat >made.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct packet { int used, size; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct packet *table;
static int n;
static void *add(void *p)
{
	pthread_mutex_lock(&lock);
	struct packet *more = calloc(n + 1, sizeof(*more));
	for (int i = 0; i < n; i++)
		more[i].used = table[i].used;
	free(table);
	table = more;
	struct packet *mine = &table[n++];
	mine->used = 1;
	pthread_mutex_unlock(&lock);
	mine->size = 16;
	return p;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, add, 0);
	pthread_create(&b, 0, add, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	free(table);
	return 0;
}
C
# The log grows, and moves, while it is read.
cat >grows.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static int *entries, sum;
static void *reader(void *p)
{
	int *e = entries;
	for (int i = 0; i < 2; i++)
		sum += e[i];
	return p;
}
int main(void)
{
	pthread_t t;
	entries = calloc(2, sizeof(int));
	pthread_create(&t, 0, reader, 0);
	int *more = calloc(4, sizeof(int));
	free(entries);
	entries = more;
	pthread_join(t, 0);
	free(entries);
	return sum;
}
C
# The opposite: it is torn down.
sed 's/^\tint .more.*//
	s/entries = more;/entries = 0;/' grows.c >torn.c
# Counted out after the unlock. The opposite: one thread counts without any lock.
cat >early.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int inside;
static void *visit(void *p)
{
	pthread_mutex_lock(&lock);
	inside++;
	pthread_mutex_unlock(&lock);
	inside--;
	return p;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, visit, 0);
	pthread_create(&b, 0, visit, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(inside == 0);
	return 0;
}
C
sed 's/^static void .visit/static void *sneak(void *p)\n{\n\tinside++;\n\tinside--;\n\treturn p;\n}\n&/
	s/&a, 0, visit/\&a, 0, sneak/' early.c >sneak.c
# Announced before it is there.
cat >says.c <<'C'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t mail_lock = PTHREAD_MUTEX_INITIALIZER, desk_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static int mail, desk;
static void *clerk(void *p)
{
	pthread_mutex_lock(&mail_lock);
	while (!mail)
		pthread_cond_wait(&came, &mail_lock);
	pthread_mutex_unlock(&mail_lock);
	pthread_mutex_lock(&desk_lock);
	assert(desk);
	pthread_mutex_unlock(&desk_lock);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, clerk, 0);
	pthread_mutex_lock(&mail_lock);
	mail = 1;
	pthread_cond_signal(&came);
	pthread_mutex_unlock(&mail_lock);
	pthread_mutex_lock(&desk_lock);
	desk = 1;
	pthread_mutex_unlock(&desk_lock);
	pthread_join(t, 0);
	return 0;
}
C
# Its share is given up, and then it writes once more.
cat >share.c <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct job { _Atomic int users; int result; };
static void drop(struct job *j)
{
	if (atomic_fetch_sub(&j->users, 1) == 1)
		free(j);
}
static void *worker(void *p)
{
	struct job *j = p;
	int last = atomic_fetch_sub(&j->users, 1) == 1;
	j->result = 5;
	if (last)
		free(j);
	return 0;
}
int main(void)
{
	pthread_t t;
	struct job *j = calloc(1, sizeof(*j));
	atomic_init(&j->users, 2);
	pthread_create(&t, 0, worker, j);
	drop(j);
	pthread_join(t, 0);
	return 0;
}
C
for level in -O0 -O2; do
	explained units cc $level
	has flat "holds 1 unit of buffers (units.c:6) and waits for one more (units.c:7)" "$level: how much who holds"
	has flat "each waits for what the other holds" "$level: the unit that is missing is the other's"
	hasnt flat "holds itself" "$level: nobody holds all of it"
	explained open cc $level
	hasnt flat "which every other access holds" "$level: the assertion lacks no lock"
	hasnt flat "hold lock at open.c:38" "$level: no advice for the assertion"
	explained nest cc $level
	has flat "take table_lock before nest.c:7 already" "$level: the lock that is the outer one elsewhere"
	hasnt flat "keep file_lock locked" "$level: no opposite nesting"
	explained stop cc $level
	hasnt flat "join them first" "$level: nobody can wait for who waits for him"
	has flat "writes mode at stop.c:18 before thread 0.1 reads mode at stop.c:9" "$level: what goes with it is told"
	explained found cc $level
	has flat "it found it at found.c:10 under lock, which it gave back before the use" "$level: the lock of the look-up"
	has flat "hold lock from found.c:10 until after the use at found.c:13" "$level: how long to hold it"
	explained made cc $level
	has flat "under lock, which it gave back before the use" "$level: the lock of the one who made it"
	has flat "until after the use at made.c:19" "$level: it keeps nothing by writing there"
	explained grows cc $level
	has flat "it has read entries at grows.c:6, where thread 0 puts another one at grows.c:18" "$level: what moves while it is read"
	explained early cc $level
	has flat "give lock back after early.c:10, not at early.c:9" "$level: the unlock that is too early"
	explained says cc $level
	has flat "must come before the write to mail at says.c:22" "$level: the announcement comes last"
	hasnt flat "is created" "$level: the thread was not created too early, it was told too early"
	explained share cc $level
	has flat "it had no share in it any more, and thread 0 took the last one at share.c:7" "$level: used after its share was given up"
done
level=-O0 # the opposites
explained again cc $level
has flat "waits at again.c:19 for one, which it holds itself" "$level: one unit is a lock"
explained flatly cc $level
has flat "keep file_lock locked in between" "$level: nobody nests them: the first may be kept"
explained nostop cc $level
grep -qE "read of mode at nostop.c:9 must come before|join them first" flat && ok "$level: who only reads may be waited for" ||
	not_ok "$level: who only reads may be waited for" "$(cat flat)"
explained counted cc $level
is "$(grep -c "refs++" counted.c)" 1 "who finds it is counted"
has flat "at counted.c:15 after thread 0.2 freed it" "$level: freed without a look at the count"
hasnt flat "which it gave back before" "$level: who is counted needs no lock"
explained torn cc $level
has flat "after thread 0 freed it" "$level: torn down while it is read"
hasnt flat "puts another one" "$level: what is torn down"
explained sneak cc $level
hasnt flat "just after it gave back" "$level: others count without the lock"
finish
