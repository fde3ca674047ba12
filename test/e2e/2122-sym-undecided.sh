#!/usr/bin/env bash
# A branch that the solver has no answer for in its time is not dropped: nobody says that every path was followed.
# level: quick
. "$(dirname "$0")/lib.sh"
cat >hard.c <<'C'
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	uint64_t a = 0, b = 0;

	if (argc < 3)
		return 1;
	memcpy(&a, argv[1], 7);
	memcpy(&b, argv[2], 7);
	if (a * b == 1000000016000000063ull && a > 1 && b > 1) /* a product of two primes */
		abort();
	return 0;
}
C
run 4 timeout 100 "$UNPLAIT" sym explore --query-ms 1 --seconds 20 --no-confirm --sym-args 2 --sym-arg-len 7 hard.c
has out "not every path was followed to its end"
# the same shape with an answer: then it is everything
sed -i 's/1000000016000000063ull/6/' hard.c
run 1 timeout 100 "$UNPLAIT" sym explore --seconds 60 --no-confirm --sym-args 2 --sym-arg-len 7 hard.c
has out "abort"
finish
