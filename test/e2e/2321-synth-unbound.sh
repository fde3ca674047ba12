#!/usr/bin/env bash
# Library functions whose slot was never bound: for half of the time the search goes where none of them is called.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

# only one order of two of fourteen commands fails; no variable and no buffer keeps it
cat >steps.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
	unsigned h = 1;
	char c;

	while (read(0, &c, 1) == 1) {
		switch (c) {
		case 'a': break;
		case 'b': break;
#ifndef FEW
		case 'c': rand(); break;
		case 'd': srand(3); break;
		case 'e': getpid(); break;
		case 'f': getenv("F"); break;
		case 'g': time(NULL); break;
		case 'h': close(9); break;
		case 'i': isatty(9); break;
		case 'j': lseek(9, 0, 0); break;
		case 'k': dup(9); break;
		case 'l': umask(7); break;
		case 'm': getuid(); break;
		case 'n': access("/x", 0); break;
#endif
		default: return 0;
		}
#ifdef LYING
		lseek(9, 0, 0);
#endif
		h = (h ^ (unsigned char)c) * 16777619u;
	}
	if (h == WANTED)
		*(volatile int *)NULL = 1;
	printf("%u\n", h);
	return 0;
}
C
sed -i 's/<unistd.h>/<unistd.h>\n#include <sys\/stat.h>/' steps.c
hash_of() { # TEXT: what the program makes of it
	printf '%s' "$1" | od -An -tu1 | tr -s ' ' '\n' | awk 'BEGIN { h = 1 } NF { h = xor_mul(h, $1) } END { printf "%.0f\n", h }
function xor_mul(a, b,  r, p, i, n) { # (a ^ b) * 16777619 mod 2^32
	n = a - a % 256 + low(a % 256, b)
	return (n * 403 + (n % 256) * 16777216) % 4294967296
}
function low(a, b,  r, p) { for (p = 1; p < 256; p *= 2) { if (a % 2 != b % 2) r += p; a = int(a / 2); b = int(b / 2) } return r }'
}
wanted=$(hash_of abbabaab)
gcc -O2 -g -DWANTED=${wanted}u -o shipped steps.c
printf abbabaab | dump_of made ./shipped
run 0 unplait cc -g -O0 -DWANTED=${wanted}u -o steps steps.c
run 1 unplait synth --time 40 -o s.plait made ./steps
has out "functions were never called: their slots are not bound"
has out "found by search"
has out "confirmed in the unplait build and in the shipped binary"
with=$(grep -o '[0-9]* states' out)
"$UNPLAIT" synth --facts args --time 4 -o t.plait made ./steps >out 2>err
hasnt out "never called"
without=$(grep -o '[0-9]* states' out)
is "$((${with% *} * 3 < ${without% *}))" 1 "less than a third of the states ($with, without slots $without)"

# bound at the start: the slots say nothing
gcc -O2 -g -Wl,-z,now -DWANTED=${wanted}u -o now steps.c
printf abbabaab | dump_of now.core ./now
"$UNPLAIT" synth --time 2 -o t.plait now.core ./steps >out 2>err
hasnt out "never called"

# another program of the same name calls one of them all the time: what is believed is given up, and nothing is missed
wanted=$(hash_of aaaaaaaa)
gcc -O2 -g -DWANTED=${wanted}u -o wrong steps.c
printf aaaaaaaa | dump_of wrong.core ./wrong
run 0 unplait cc -g -O0 -DFEW -DLYING -DWANTED=${wanted}u -o steps steps.c
run 1 unplait synth --time 40 -o s.plait wrong.core ./steps
has out "that functions were never called was given up"
has out "confirmed in the unplait build and in the shipped binary"
finish
