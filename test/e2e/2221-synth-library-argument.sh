#!/usr/bin/env bash
# The failure is inside a library function that was given a null pointer: the search looks for what makes the argument null.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

cat >modes.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const char *const names[] = { "zero", "one", "two", "three", "four" };
static struct {
	unsigned level, depth, quiet, size;
	const char *name;
} o = { .name = "nobody" };
static void choose(void)
{
	o.name = o.level < 5 ? names[o.level] : "many";
#ifndef FIXED
	if (o.level == 5 && o.depth == 3)
		o.name = NULL;
#endif
}
int main(void)
{
	int c;
	while ((c = getchar()) != EOF)
		switch (c) {
		case '+':
			o.level++;
			break;
		case 'd':
			o.depth++;
			break;
		case 'q':
			o.quiet ^= 1;
			break;
		case 's':
			o.size = o.level * 3 + o.quiet;
			break;
		case '-':
			o.level = 0;
			break;
		case '!':
			choose();
			break;
		default:
			break;
		}
	printf("%u %u\n", o.size, o.depth);
	printf("%zu\n", strspn(o.name, "abc"));
	return 0;
}
C
gcc -O2 -g -o shipped modes.c
printf '++q+d+sd+d!' | dump_of modes.core ./shipped
run 0 unplait cc -g -O0 -o modes modes.c
run 1 unplait synth --facts stack --time 60 -o s.plait modes.core ./modes
has out "confirmed in the unplait build and in the shipped binary" "five of one letter, three of another, then the one that looks"
run 0 unplait cc -g -O0 -DFIXED -o cured modes.c
"$UNPLAIT" synth --facts stack --time 2 -o c.plait modes.core ./cured >out 2>&1
is "$(($? == 1))" 0 "the cured program does not fail so"
finish
