#!/usr/bin/env bash
# gcc -O2 knew that the pointer is null, so the failing instruction has its address as a number: the chain begins at the
# check or the store that told the compiler so. Where two can have told it, none is named.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
dump() { (ulimit -c unlimited && exec "$@") >/dev/null 2>&1; mv core* dump; }

cat >shop.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct table { long size; long *slots; };
struct shop { const char *name; struct table *prices, *stock; };
static struct table tables[2] = { { 3, NULL }, { 4, NULL } };
static struct shop shop = { "corner", &tables[0], &tables[1] };
static long asked, lines;

static __attribute__((noinline)) void close_down(struct shop *s, int day)
{
	s->stock->size -= day;
	if (day > 6)
		s->prices = NULL; /* the first bug */
}
static __attribute__((noinline)) void say(const char *what)
{
	asked++;
	lines += puts(what) > 0;
}
static __attribute__((noinline)) long checked(struct shop *s)
{
	if (!s->prices) {
		asked++;
		return s->prices->size;
	}
	return s->prices->size + s->stock->size;
}
static __attribute__((noinline)) long stored(struct shop *s, int day)
{
	if (day > 3) {
		s->stock = NULL; /* the second bug */
		asked += day;
		return s->stock->size;
	}
	return lines;
}
static __attribute__((noinline)) long both(struct shop *s, struct shop *other)
{
	other->stock = NULL;
	if (!s->prices) {
		asked += lines;
		return s->prices->size;
	}
	return 1;
}
int main(int argc, char **argv)
{
	static struct shop other;
	int which = atoi(argv[1]);

	if (which != 1)
		close_down(&shop, 6 + argc);
	say(shop.name);
	return which == 0 ? checked(&shop) : which == 1 ? stored(&shop, 3 + argc) : both(&shop, &other);
}
C
gcc -O2 -g -w -o shop shop.c
dump ./shop 0
run 1 unplait rewind dump
has out "likely cause (bad value written): shop.prices was set to 0x0 at shop.c:13 in close_down" "a check"
has out "known by the compiler from what is at shop.c:"
has out "; confirmed"
dump ./shop 1
run 1 unplait rewind dump
has out "likely cause (bad value written): shop.stock was set to 0x0 at shop.c:31 in stored" "a store"
dump ./shop 2
run 0 unplait rewind dump
has out "no cause found" "a check and a store: none is named"
finish
