#!/usr/bin/env bash
# gcc -O0: an element whose index was computed wrongly elsewhere; the line that uses it only multiplies it with the size of
# an element.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cat >index.c <<'C'
#include <stdio.h>
#include <stdlib.h>

struct set {
	double *points;
	unsigned n;
};

static double total;

static __attribute__((noinline)) void choose(struct set *s, unsigned n)
{
	s->n = n << 24; /* the bug */
}

struct node {
	struct node *next;
	int value;
};

static struct node *list;

static void push(int value)
{
	struct node *n = malloc(sizeof(*n));

	n->next = list;
	n->value = value;
	if (list)
		list->value += value;
	list = n->value > 1 ? NULL : n;
}


static __attribute__((noinline)) void note(double a)
{
	total += a;
}

int main(int argc, char **argv)
{
	struct set *s = calloc(1, sizeof(*s));
	int i = 0;

	s->points = calloc(8, sizeof(double));
	choose(s, 8u + (unsigned)argc);
	for (int k = 0; k < 3; k++)
		push(k);
	while (i < argc) {
		i++;
		note(s->points[s->n - 1]);
	}
	printf("%g\n", total);
	return 0;
}
C
gcc -O0 -g -w -o index index.c
(ulimit -c unlimited && exec ./index) >/dev/null 2>&1
mv core* dump
run 1 unplait rewind --time 10 dump
has out "was set to 0x9000000 at index.c:$(grep -n 'the bug' index.c | cut -d: -f1) in choose" "where the index was made"
finish
