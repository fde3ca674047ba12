#!/usr/bin/env bash
# DF, DE and DU come with an answer: from replays, and from the time that the dump says.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

cat >burn.c <<'C'
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
	volatile int *none = NULL;
	while (argc > 1 && clock() < CLOCKS_PER_SEC / 1000 * atoi(argv[1]))
		;
	return argc > 1 ? *none : 0;
}
C
gcc -O1 -g -o burn burn.c
run 0 unplait cc -g -O0 -o prog burn.c
dump_of short.core ./burn 0 </dev/null
run 1 unplait synth -o s.plait short.core ./prog
has out "replayed 3 of 3 times; DF 1.00, DE"
run 1 unplait synth --json=j -o s.plait short.core ./prog
has j '"df": 1.000' "fidelity"
python3 - <<'P' && ok "DU = DF * DE, DE from what was measured" || not_ok "DU = DF * DE" "$(cat j)"
import json
j = json.load(open('j'))
assert j['replays'] == {'tried': 3, 'same': 3} and j['original']['seconds'] > 0
assert j['de'] > 0 and abs(j['du'] - j['df'] * j['de']) < 1e-4
P
# a kernel's dump of a longer run says how much processor time it had; a dump of gdb does not.
# It is counted in ticks: on a busy machine it may be a part of the real one
dump_of long.core ./burn 300 </dev/null
run 1 unplait synth --json=j -o s.plait long.core ./prog
python3 - <<'P' && ok "the time of the original" || not_ok "the time of the original" "$(cat j)"
import json
o = json.load(open('j'))['original']
assert o['from'] == 'replay' or (o['from'] == 'dump' and 0 < o['seconds'] < 10), o
P
finish
