#!/usr/bin/env bash
# Blocks and orders where threads sleep; the lines at which a person would mend it, in code that is inlined and in code that a thread
# runs alone; a wait in an `if`; a hang whose schedule is short.
# level: check
. "$(dirname "$0")/lib.sh"

explained() { # FILE [LEVEL]: hunt and explain it
	run 0 unplait cc -g "-O${2:-1}" -pthread "$1" -o prog
	run 1 unplait hunt -q -n 3000 -o prog.plait ./prog
	run 1 unplait explain --runs 100 prog.plait
	tr -s ' \n' ' ' <out >flat
}

# The thread sleeps inside the block: under a lock the other one would wait that long.
cat >nap.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct job {
	int id;
};
static struct job one = {1};
static struct job *volatile current = &one;
static volatile int last;
static void *show(void *p)
{
	if (current) {
		usleep(2000);
		last = current->id;
	}
	return p;
}
static void *stop(void *p)
{
	usleep(1000);
	current = NULL;
	return p;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, show, 0);
	pthread_create(&b, 0, stop, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
C
explained nap.c
has out "kind     atomicity"
has flat "make nap.c:12 to nap.c:14 atomic"
has out "0 of 100 with it enforced"

# Who should come first sleeps: every usual schedule fails, and the order is told all the same.
cat >early.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct thing {
	int state;
};
static struct thing *volatile thing;
static volatile int seen;
static void *look(void *p)
{
	seen = thing->state;
	return p;
}
static struct thing *start(pthread_t *t)
{
	struct thing *x = calloc(1, sizeof(*x));
	pthread_create(t, 0, look, 0);
	usleep(1000);
	return x;
}
int main(void)
{
	pthread_t t;
	thing = start(&t);
	pthread_join(t, 0);
	return 0;
}
C
explained early.c
has out "kind     order"
has flat "reads thing at early.c:11 before thread 0 writes thing at early.c:24"
has out "0 of 100 with it enforced"

# Check and use, the use in a helper; and the last steps of the run are done when no other thread is left.
cat >gate.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <sched.h>
static volatile int stopping, users = 1, gone;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int change(int by)
{
	pthread_mutex_lock(&m);
	users += by;
	int n = users;
	pthread_mutex_unlock(&m);
	return n;
}
static int enter(void)
{
	if (stopping)
		return 0;
	change(1);
	return 1;
}
static void *stop(void *p)
{
	stopping = 1;
	change(-1);
	while (users)
		sched_yield();
	gone = 1;
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, stop, 0);
	if (enter()) {
		assert(!gone);
		change(-1);
	}
	pthread_join(t, 0);
	return 0;
}
C
for level in 0 2; do
	explained gate.c $level
	has flat "make gate.c:16 to gate.c:18 in enter() atomic"
	hasnt flat "must wait until the other threads are done"
done

# Something else is read before and after the wait, too: it is an `if` all the same.
cat >stale.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int items, taken, trace;
static int *box;
static void note(const char *what)
{
	if (trace)
		puts(what);
}
static void *get(void *p)
{
	pthread_mutex_lock(&m);
	note("check");
	if (items == 0)
		pthread_cond_wait(&c, &m);
	note("take");
	if (box[0] == 0)
		abort();
	box[0] = 0;
	items--;
	taken++;
	pthread_mutex_unlock(&m);
	return p;
}
static void *put(void *p)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&m);
		if (items == 0) {
			box[0] = 1;
			items++;
			pthread_cond_signal(&c);
		}
		pthread_mutex_unlock(&m);
	}
	return p;
}
int main(int argc, char **argv)
{
	pthread_t a, b, x;
	trace = argc - 1;
	box = calloc(1, sizeof(*box));
	pthread_create(&a, 0, get, 0);
	pthread_create(&b, 0, get, 0);
	pthread_create(&x, 0, put, 0);
	pthread_join(x, 0);
	pthread_mutex_lock(&m);
	box[0] = 1;
	items = 1;
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	(void)argv;
	_exit(0);
}
C
sed -i 's/#include <stdlib.h>/#include <stdlib.h>\n#include <unistd.h>/' stale.c
run 0 unplait cc -g -O1 -pthread stale.c -o prog
run 1 unplait hunt -q -n 3000 -o prog.plait --fail-on exit ./prog
run 1 unplait explain --runs 100 prog.plait
tr -s ' \n' ' ' <out >flat
has flat "look again after waking up: the wait at stale.c:19 needs a loop that repeats the check at stale.c:18"

# A hang is explained with the budget that it was found with.
cat >spin.c <<'C'
#include <pthread.h>
#include <sched.h>
static volatile int readers;
static void *reader(void *p)
{
	readers++;
	readers--;
	return p;
}
static void *writer(void *p)
{
	while (readers)
		sched_yield();
	return p;
}
int main(void)
{
	pthread_t t[3];
	pthread_create(&t[0], 0, reader, 0);
	pthread_create(&t[1], 0, reader, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	pthread_create(&t[2], 0, writer, 0);
	pthread_join(t[2], 0);
	return 0;
}
C
run 0 unplait cc -g -O2 -pthread spin.c -o prog
run 1 unplait hunt -q -n 3000 -o prog.plait ./prog
run 1 unplait explain --runs 20 prog.plait
has out "kind     atomicity"
finish
