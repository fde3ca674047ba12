#!/usr/bin/env bash
# Exploring finds the inputs that break a program, and native runs confirm them.
# level: quick
. "$(dirname "$0")/lib.sh"

cat >a.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	char buf[4];
	if (argc < 2)
		return 1;
	if (argv[1][0] == 'x' && argv[1][1] == 'y' && strlen(argv[1]) > 3) {
		strcpy(buf, argv[1]);
		puts(buf);
	}
	int n = atoi(argv[1]);
	if (n > 50 && n < 60)
		return 100 / (n - 55);
	return 0;
}
C
run 1 unplait sym explore --sym-args 1 --seconds 60 a.c
has out "division-by-zero" "finds the division"
has out "out-of-bounds" "finds the overflow"
is "$(grep -c 'native run: confirmed' out)" 2 "both confirmed natively"
has out "2 errors"
run 1 unplait sym explore --sym-args 1 --seconds 60 --json a.c
has out '"complete": true'
has out '"native": "confirmed"'

cat >b.c <<'C'
#include <unistd.h>
int main(void)
{
	unsigned char b[4];
	if (read(0, b, 4) != 4)
		return 1;
	static const int table[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
	if (b[0] < 8 && table[b[0]] == 9 && (b[1] ^ 0x5a) == b[2] && b[1] * 3 + b[3] == 500)
		__builtin_trap();
	return 0;
}
C
run 1 unplait sym explore --sym-stdin 4 --seconds 60 b.c
has out "abort" "through a table and arithmetic"
cat >c.c <<'C'
#include <stdlib.h>
#include <string.h>
int main(void)
{
	const char *v = getenv("LEVEL");
	if (v && !strcmp(v, "deep"))
		abort();
	return 0;
}
C
run 1 unplait sym explore --sym-env LEVEL --seconds 60 c.c
has out "LEVEL=deep" "solves the environment"
has out "native run: confirmed"
cat >d.c <<'C'
int main(int argc, char **argv) { return argc > 5 && argv[1][0] == 'q'; }
C
run 0 unplait sym explore --sym-args 1 d.c
has out "0 errors"
cat >e.c <<'C'
int main(int argc, char **argv) { return argc > 1 && 1000 / (unsigned char)argv[1][0] == 11; }
C
run 1 unplait sym explore --sym-args 1 --sym-arg-len 1 e.c
has out "division by zero" "by a value that is narrower than the division"
finish
