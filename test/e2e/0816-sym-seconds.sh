#!/usr/bin/env bash
# level: check
# `sym explore --seconds` holds: also when one question to the solver could take ten minutes, and when every finding
# hangs natively. Without the limit this test would take hours; it does not measure time.
. "$(dirname "$0")/lib.sh"
cat >hard.c <<'X'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	uint64_t a = 0, b = 0;

	if (argc < 3)
		return 1;
	memcpy(&a, argv[1], 7);
	memcpy(&b, argv[2], 7);
	for (uint64_t n = 3; n < 60; n += 2) /* a product of two unknown primes, again and again */
		if (a * b == 1000000016000000063ull * n && a % 1000003 == 7 && a > 1 && b > 1)
			puts("found");
	return 0;
}
X
run 4 timeout 100 "$UNPLAIT" sym explore --seconds 2 --query-ms 600000 --sym-args 2 --sym-arg-len 7 hard.c
has out "not every path was followed to its end"

cat >hangs.c <<'X'
#include <assert.h>
#include <pthread.h>
int main(int argc, char **argv)
{
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	const char *s = argc > 1 ? argv[1] : "";

	pthread_mutex_lock(&m);
	for (int i = 0; i < 20; i++)
		if (s[0] == 'a' + i)
			pthread_mutex_lock(&m); /* waits for itself */
	return 0;
}
X
run 1 timeout 100 "$UNPLAIT" sym explore --seconds 3 --all-errors --sym-args 1 --sym-arg-len 1 hangs.c
has out "the time was used up before every finding could be run natively"
finish
