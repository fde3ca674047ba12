#!/usr/bin/env bash
# What the program said when it ended itself is a part of the failure: another assertion of the same line, or another
# complaint of free() at the same call, is not the same.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"
cat >free.c <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	char c = 0, *p = malloc(24), *q = malloc(24);
	if (read(0, &c, 1) != 1)
		return 0;
	if (c == 'w')
		p++;
	if (c == 'd')
		free(p);
	if (c == 'd' || c == 'w')
		free(p);
	free(q);
	return 0;
}
END
cat >assert.c <<'END'
#include <assert.h>
#include <unistd.h>
#define BOTH(c) do { assert((c) != 'x'); assert((c) != 'y'); } while (0)
int main(void)
{
	char c = 0;
	if (read(0, &c, 1) == 1)
		BOTH(c);
	return 0;
}
END
# same PROGRAM LETTER TEXT: from the stack alone, the input must begin with that letter
same() {
	printf '%s' "$2" | dump_of $1.$2.dump ./$1
	run 1 unplait synth --json --facts stack --time 60 -o p.plait $1.$2.dump ./$1.plait
	python3 - "$2" "$3" out <<'P' && ok "$1 $2: its own letter, and the message '$3'" || not_ok "$1 $2" "$(cat out)"
import json, sys
r = json.load(open(sys.argv[3]))
sys.exit(0 if r['inputs']['stdin'][0] == sys.argv[1] and r['message'] == sys.argv[2] and r['confirmed']['shipped'] else 1)
P
}
for p in free assert; do
	gcc -O1 -g -o $p $p.c
	run 0 unplait cc -g -O0 -o $p.plait $p.c
done
same free d "free(): double free detected in tcache 2"
same free w "free(): invalid pointer"
same assert x "assert.c:8: Assertion \`(c) != 'x'' failed."
same assert y "assert.c:8: Assertion \`(c) != 'y'' failed."
finish
