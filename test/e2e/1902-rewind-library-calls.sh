#!/usr/bin/env bash
# gcc -O2: a division by zero, whose divisor was written between sscanf() and a call that uses up a va_list, or before calls
# that give texts: strtok(), getline(), asprintf(), strndup(), mbstowcs(), bsearch().
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
cat >texts.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct config {
	int width, lines;
	char name[16];
};

static const int widths[] = { 8, 16, 40, 80 };

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) void choose(struct config *c, int width)
{
	c->width = width > 100 ? 0 : width; /* the bug: a divisor */
}

static __attribute__((noinline)) int lay_out(struct config *c, FILE *f, char *options)
{
	char *line = NULL, *text, *first, *second, *copy;
	wchar_t wide[32];
	size_t size = 0;
	int key = 16;

	if (getline(&line, &size, f) < 0 || asprintf(&text, "%s: %s", c->name, line) < 0)
		return 0;
	first = strtok(options, ",");
	second = strtok(NULL, ",");
	copy = strndup(text, 12);
	mbstowcs(wide, first, 32);
	printf("%s %s %d %d\n", copy, second, wide[0], *(int *)bsearch(&key, widths, 4, 4, compare));
	return (int)strlen(text) / c->width;
}

int main(int argc, char **argv)
{
	struct config *c = calloc(1, sizeof(*c));
	FILE *f = fopen(argv[1], "r");
	char options[] = "one,two,three";

	choose(c, argc * 60);
	strcpy(c->name, "page");
	return lay_out(c, f, options);
}
C
for i in dice texts; do
	gcc -O2 -g -o $i $i.c
	(ulimit -c unlimited && exec ./$i texts.c) >/dev/null 2>&1
	mv core* dump.$i
done

run 1 unplait rewind dump.dice
has out "was set to 0x0 at dice.c:22 in parse" "a division by zero: the divisor is followed to the write"
hasnt out "every way to this dump contradicts it"
run 1 unplait rewind dump.texts
has out "was set to 0x0 at texts.c:$(grep -n 'the bug' texts.c | cut -d: -f1) in choose" "calls that give texts"
hasnt out "NOT CONFIRMED"
finish
