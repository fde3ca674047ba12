#!/usr/bin/env bash
# gcc -O2: a division by zero, whose divisor was written between sscanf() and a call that uses up a va_list.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cat >dice.c <<'C'
#include <stdarg.h>
#include <stdio.h>

struct dice {
	int rolls, sides, add;
};

static __attribute__((noinline)) void say(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vprintf(format, list);
	va_end(list);
}

static __attribute__((noinline)) int parse(const char *text, struct dice *d)
{
	if (sscanf(text, "%dd%d", &d->rolls, &d->sides) < 2)
		return 0;
	if (d->sides > 20)
		d->sides = 0; /* the bug */
	return 1;
}

static __attribute__((noinline)) int roll(const struct dice *d)
{
	say("%d rolls\n", d->rolls);
	return d->rolls * 7919 / d->sides + d->add;
}

int main(void)
{
	struct dice d = { .add = 2 };

	if (!parse("3d30", &d))
		return 1;
	puts("go");
	return roll(&d);
}
C
for i in dice; do
	gcc -O2 -g -o $i $i.c
	(ulimit -c unlimited && exec ./$i) >/dev/null 2>&1
	mv core* dump.$i
done

run 1 unplait rewind dump.dice
has out "was set to 0x0 at dice.c:22 in parse" "a division by zero: the divisor is followed to the write"
hasnt out "every way to this dump contradicts it"
finish
