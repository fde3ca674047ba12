#!/usr/bin/env bash
# A loop that only sleeps has few operations between its naps: the time is looked at all the same.
# level: check
. "$(dirname "$0")/lib.sh"
cat >nap.c <<'C'
#include <unistd.h>
int main(int argc, char **argv)
{
	while (argc > 1 && argv[1][0] == 'x')
		usleep(1000);
	return 0;
}
C
run 4 timeout 100 "$UNPLAIT" sym explore --seconds 2 --no-confirm --sym-args 1 --sym-arg-len 1 nap.c
has out "not every path was followed to its end"
finish
