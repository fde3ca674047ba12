#!/usr/bin/env bash
# Functions that end with a jump to one of libc: a wrapper of free() in which the heap's check fails, and one that flushes
# stdout in a loop over a broken list, about which nothing false may be said.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cat >wrap.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __attribute__((noinline)) void give_back(void *p)
{
	if (p)
		free(p);
}

static __attribute__((noinline)) void fill(char *to, const char *text)
{
	strcpy(to, text); /* past the end */
}

int main(int argc, char **argv)
{
	char *a = malloc(20), *b = malloc(20);

	fill(a, argc > 1 ? argv[1] : "twenty-four letters and more");
	fill(b, "x");
	puts(a);
	puts(b);
	give_back(b);
	give_back(a);
	return 0;
}
C
cat >list.c <<'C'
#include <stdio.h>
#include <stdlib.h>

struct node {
	struct node *next;
	int value;
};

static __attribute__((noinline)) void flush(int now)
{
	if (now)
		fflush(stdout);
}

static __attribute__((noinline)) void show(const struct node *n)
{
	printf("%d\n", n->value);
#ifdef TWICE
	flush(n->value);
#else
	fflush(stdout);
#endif
}

static __attribute__((noinline)) struct node *push(struct node *list, int value)
{
	struct node *n = malloc(sizeof(*n));

	n->next = value == 3 ? (struct node *)8 : list;
	n->value = value;
	return n;
}

int main(void)
{
	struct node *list = NULL;

	for (int i = 0; i < 6; i++)
		list = push(list, i);
	for (struct node *n = list; n; n = n->next)
		show(n);
	flush(1);
	return 0;
}
C
gcc -O2 -g -o wrap wrap.c
gcc -O2 -g -o list list.c
gcc -O2 -g -DTWICE -fno-ipa-cp -o twice list.c
for i in wrap list twice; do
	(ulimit -c unlimited && exec ./$i) >/dev/null 2>&1
	mv core* dump.$i
done

run 1 unplait rewind dump.wrap
has out "past the end of heap block of 24 bytes by strcpy at wrap.c:13 in fill" "the jump to free() is the moment"
for i in list twice; do
	unplait rewind --time 2 dump.$i >out 2>err
	hasnt out "every way to this dump contradicts it" "$i: there is a way"
done
finish
