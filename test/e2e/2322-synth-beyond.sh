#!/usr/bin/env bash
# The machine stops at a wrong access, the native program goes on: then nobody says that every path was tried.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

cat >beyond.c <<'C'
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) static int past(const char *p, size_t n)
{
	return p[n];
}
__attribute__((noinline)) static int last(const char *s)
{
	return *s;
}
int main(int argc, char **argv)
{
	char *p = malloc(10);
	const char *s = NULL;
	int k;

	if (argc != 2)
		return 1;
	memset(p, 1, 10);
	k = past(p, PLACE) > 1000;
	if (argv[1][0] != 'x' || argv[1][1] || MENDED)
		s = argv[1];
	return last(s) + k;
}
C
gcc -O2 -g -DPLACE=10 -DMENDED=0 -o shipped beyond.c
dump_of core.x ./shipped x </dev/null
run 0 unplait cc -g -O0 -DPLACE=10 -DMENDED=0 -o beyond beyond.c
run 4 unplait synth --facts stack --time 2 core.x ./beyond
has out "not found within the budget" "the byte behind the block hides what comes after it"
# without the wrong access it is found, and the mended program has every path tried
run 0 unplait cc -g -O0 -DPLACE=9 -DMENDED=0 -o within beyond.c
run 1 unplait synth --facts stack -o w.plait core.x ./within
run 0 unplait cc -g -O0 -DPLACE=9 -DMENDED=1 -o mended beyond.c
run 0 unplait synth --facts stack core.x ./mended
has out "every path within the bounds was tried"
finish
