#!/usr/bin/env bash
# A full recording knows what every shared read returned: pointers that travel through variable arguments, handles of
# threads and structures passed by value are followed, and every event agrees.
# level: check
. "$(dirname "$0")/lib.sh"

whole() { # NAME WHAT: build, record in mode full, follow
	"$UNPLAIT" cc -g -O1 -pthread -o "$1" "$1.c" || { not_ok "$2" "does not build"; return; }
	"$UNPLAIT" record -q --mode full -o "$1.plait" -- ./"$1" >/dev/null
	if "$UNPLAIT" sym trace --summary "$1.plait" >out 2>err && ! grep -q '^differs' out; then
		ok "$2"
	else
		not_ok "$2" "$(head -8 out)" "$(head -2 err)"
	fi
}

# the pointer is read where it is no address yet; only the callee follows it (as sqlite's own printf does)
cat >rest.c <<'C'
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
struct db { const char *name; struct db *next; int n; };
static struct db first = { "main", 0, 1 }, second = { "temp", &first, 2 };
static struct db *all = &second;
static int total;
__attribute__((noinline)) static int count(const char *kinds, ...)
{
	va_list ap;
	int n = 0;
	va_start(ap, kinds);
	for (; *kinds; kinds++) {
		if (*kinds == 's')
			for (const char *s = va_arg(ap, const char *); s && *s; s++)
				n += *s == 'm' ? 10 : 1;
		else
			n += va_arg(ap, int);
	}
	va_end(ap);
	return n;
}
static void *work(void *arg)
{
	for (struct db *d = all; d; d = d->next)
		total += count("sis", d->name, d->n, d->name);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	first.name = "other";
	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	printf("%d\n", total);
	return 0;
}
C
whole rest "a shared pointer as a variable argument"

# who am I? (as pigz does at the end of each thread)
cat >self.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct entry { pthread_t id; int done; struct entry *next; };
static struct entry *list;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg)
{
	pthread_t me = pthread_self();
	pthread_mutex_lock(&m);
	for (struct entry *e = list; e; e = e->next)
		if (pthread_equal(e->id, me))
			e->done = 1;
	pthread_mutex_unlock(&m);
	return arg;
}
int main(void)
{
	int done = 0;
	pthread_mutex_lock(&m);
	for (int i = 0; i < 3; i++) {
		struct entry *e = calloc(1, sizeof(*e));
		pthread_create(&e->id, NULL, work, NULL);
		e->next = list;
		list = e;
	}
	pthread_mutex_unlock(&m);
	for (struct entry *e = list; e; e = e->next) {
		pthread_join(e->id, NULL);
		done += e->done;
	}
	printf("%d\n", done);
	return done != 3;
}
C
whole self "a thread that looks for its own handle"

# the copy of the parameter is ours, the first instruction reads from it
cat >value.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct ops { void *(*get)(size_t); void (*put)(void *); long state; };
static struct ops shared;
__attribute__((noinline)) static void *obtain(size_t n, struct ops o)
{
	return o.get ? o.get(n) : malloc(n);
}
static void *work(void *arg)
{
	int *p = obtain(sizeof(*p), *(struct ops *)arg);
	*p = 3;
	return p;
}
int main(void)
{
	pthread_t t;
	void *p;
	shared.state = 1;
	pthread_create(&t, NULL, work, &shared);
	pthread_join(t, &p);
	printf("%d\n", *(int *)p);
	return 0;
}
C
whole value "a structure passed by value"
finish
