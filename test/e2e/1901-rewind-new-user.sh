#!/usr/bin/env bash
# A core of a gcc -O2 program whose bug lies more than twenty lines, two loops and several calls before the crash: one command
# names the write, and gdb steps backwards from the crash to it.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cat >shop.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

struct item {
	const char *name;
	int stock;
	struct item *substitute;
};

static struct item items[MOST];
static int count;
static long sold;

static void add(const char *name, int stock)
{
	items[count].name = name;
	items[count].stock = stock;
	count++;
}

static __attribute__((noinline)) void substitute(int i, int by)
{
	items[i].substitute = by >= 0 ? &items[by] : NULL; /* the bug: nothing takes its place */
}

static __attribute__((noinline)) int take(struct item *it, int n)
{
	if (it->stock < n)
		return 0;
	it->stock -= n;
	return n;
}

static __attribute__((noinline)) int in_stock(void)
{
	int n = 0;

	for (int i = 0; i < count; i++)
		if (items[i].stock > 0)
			n += items[i].stock;
	return n;
}

static __attribute__((noinline)) struct item *find(const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(items[i].name, name) == 0)
			return &items[i];
	return NULL;
}

static __attribute__((noinline)) void sell(const char *name, int n)
{
	struct item *it = find(name);
	int got = take(it, n);

	if (!got)
		got = take(it->substitute, n);
	sold += got;
}

int main(void)
{
	add("tea", 3);
	add("coffee", 5);
	add("cocoa", 1);
	substitute(0, 1);
	substitute(2, -1);
	sell("tea", 2);
	sold += in_stock();
	sell("cocoa", 4);
	printf("%ld sold\n", sold);
	return 0;
}
C
gcc -O2 -g -o shop shop.c
(ulimit -c unlimited && exec ./shop) >/dev/null 2>&1
mv core* core.shop
run 1 unplait rewind core.shop
has out "items[2].substitute was set to 0x0 at shop.c:26 in substitute"
has out "confirmed" "the steps were run into the same dump"
timeout 100 gdb -q -nx -batch -ex 'set remotetimeout 60' -ex "target remote | $UNPLAIT rewind --gdb core.shop" \
	-ex 'where' -ex 'reverse-step' -ex 'break substitute' -ex 'reverse-continue' \
	./shop >out 2>&1
has out "in sell (" "gdb begins at the crash"
has out "Breakpoint 1, " "and comes back to the write"
grep -q 'substitute (i=.*2, by=.*-1)' out && ok "with its arguments" || not_ok "with its arguments" "$(cat out)"
hasnt out "Remote replied unexpectedly"
finish
