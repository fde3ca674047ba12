#!/usr/bin/env bash
# A block that was freed and handed out again: who still has its old address reads what the new owner wrote.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cat >session.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct session {
	char name[24];
	struct session *peer;
	int (*handler)(struct session *);
};

static struct session *table[8];
static struct session *first;

static int hello(struct session *s) { return printf("hello %s\n", s->name); }

static __attribute__((noinline)) struct session *open_session(const char *name)
{
	struct session *s = malloc(sizeof(*s));

	strncpy(s->name, name, sizeof(s->name));
	s->peer = NULL;
	s->handler = hello;
	for (int i = 0; i < 8; i++)
		if (!table[i]) {
			table[i] = s;
			break;
		}
	return s;
}

static __attribute__((noinline)) void close_session(struct session *s)
{
	for (int i = 0; i < 8; i++)
		if (table[i] == s)
			table[i] = NULL;
	free(s);
}

static __attribute__((noinline)) void log_line(const char *what, int n)
{
	char *line = malloc(40); /* given again */

	snprintf(line, 40, "%s: number %d and a long text that fills it up all", what, n);
	puts(line);
	table[7] = (void *)line;
}

int main(void)
{
	struct session *a = open_session("alice"), *b = open_session("bob");

	first = a;
	a->peer = b;
	a->handler(a);
	close_session(b);
	log_line("closed", 1);
	printf("%zu\n", strlen(a->name));
	return first->peer->handler(first->peer); /* used */
}
C
sed 's/return first->peer.*/return ((int (**)(const char *))table[7])[4]("x"); \/* its own *\//' session.c >own.c
for i in session own; do
	gcc -O2 -g -w -o $i $i.c
	(ulimit -c unlimited && exec ./$i) >/dev/null 2>&1
	mv core* dump.$i
done
line() { grep -n "$1" session.c | cut -d: -f1; }

run 1 unplait rewind --time 5 dump.session
has out "was read through a pointer from before it was freed and handed out again, at session.c:$(line 'used \*/') in main"
has out "handed out again at session.c:$(line 'given again') in log_line"
hasnt out "NOT CONFIRMED"
unplait rewind --time 5 dump.own >out 2>err
hasnt out "handed out again" "the new owner's own pointer is none from before"
finish
