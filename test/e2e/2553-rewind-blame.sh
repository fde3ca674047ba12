#!/usr/bin/env bash
# Which of two registers of an address near null is to blame? Not the index, though it is 0 as well. Of a null pointer and an
# offset that were added before nothing is said: it could have been a bad pointer and the index 0.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
dump() { (ulimit -c unlimited && exec "$@") >/dev/null 2>&1; mv core* dump; }

cat >sum.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct list { int *numbers; size_t n; char *text; size_t used; };
static int some[4] = { 1, 2, 3, 4 };
static char space[400];
static struct list list = { some, 4, space, 0 };
static __attribute__((noinline)) void forget(struct list *l, int what)
{
	if (what)
		l->text = NULL;
	else
		l->numbers = NULL; /* the bug */
}
static __attribute__((noinline)) long number(const struct list *l, size_t i)
{
	return l->numbers[i];
}
static __attribute__((noinline)) void append(struct list *l, const char *text, size_t n)
{
	memcpy(l->text + l->used, text, n);
	l->used += n;
}
int main(int argc, char **argv)
{
	list.used = 20 * argc;
	forget(&list, argc > 1);
	if (argc > 1)
		append(&list, argv[1], strlen(argv[1]));
	return number(&list, argc - 1) > 0;
}
C
gcc -O2 -g -w -o sum sum.c
dump ./sum
run 1 unplait rewind dump
has out "list.numbers was set to 0x0 at sum.c:13 in forget" "the base, not the index"
dump ./sum text
run 0 unplait rewind dump
has out "no cause found" "a null pointer and an offset"
finish
