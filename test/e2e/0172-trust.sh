#!/usr/bin/env bash
# level: quick
# A plait is a program. One that this user made here runs; one from elsewhere shows what it would run and asks.
. "$(dirname "$0")/lib.sh"
export XDG_STATE_HOME=$work/state
cat >prog.c <<'C'
#include <pthread.h>
#include <stdio.h>
static int x;
static void *work(void *a) { int y = x; x = y + 1; return a; }
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
	printf("%d\n", x);
}
C
unplait cc -g -O1 -o prog prog.c -lpthread || not_ok build
run 1 unplait hunt -o fail.plait --oracle 'touch ran; grep -q 2 $PLAIT_STDOUT' -- ./prog
is "$(stat -c %a state/unplait/key)" 600 "the key is the user's alone"
rm -f ran
run 1 unplait replay fail.plait
cp fail.plait copy.plait
run 1 unplait replay copy.plait
run 0 unplait info fail.plait
has out "made here, by you"
has out "oracle      touch ran; grep -q 2"
has out "command     ./prog"

# the same file, for somebody else (who has another key)
other() { env XDG_STATE_HOME="$work/other" "$@"; }
rm -f ran
refused() {
	run 3 other "$@" </dev/null
	has err "fail.plait was not made here by you, and would run: ./prog, and the oracle touch ran; grep -q 2"
	has err "--trust runs it"
	is "$(wc -l <err)" 1 "one line"
}
refused "$UNPLAIT" replay fail.plait
refused "$UNPLAIT" minimize fail.plait -o min.plait
refused "$UNPLAIT" explain fail.plait
refused "$UNPLAIT" solve fail.plait
[ ! -e ran ] && [ ! -e min.plait ] && ok "nothing ran" || not_ok "nothing ran"
run 0 other "$UNPLAIT" info fail.plait
has out "not made here by you"
has out "oracle      touch ran; grep -q 2"
run 1 other "$UNPLAIT" replay --trust fail.plait
[ -e ran ] && ok "--trust runs it" || not_ok "--trust runs it"
run 1 other "$UNPLAIT" minimize --trust fail.plait -o min.plait
run 1 other "$UNPLAIT" replay min.plait

# a program of one's own may stand for the plait's command; the oracle is still the plait's
run 3 other "$UNPLAIT" replay fail.plait -- ./prog </dev/null
has err "would run: the oracle touch ran; grep -q 2"
echo 2 >expected
unplait hunt -o plain.plait --expect expected -- ./prog >/dev/null
run 1 other "$UNPLAIT" replay plain.plait -- ./prog </dev/null

# no byte may change: the stamp covers the file
python3 - <<'P'
import re
data = bytearray(open('plain.plait', 'rb').read())
data[16:32] = open('fail.plait', 'rb').read()[16:32]
open('forged.plait', 'wb').write(data)
data[16:32] = bytes(16)
open('unstamped.plait', 'wb').write(data)
P
for f in forged unstamped; do
	run 3 unplait replay $f.plait </dev/null
	has err "$f.plait was not made here by you"
done

# a folder that somebody sealed may come from anywhere
mkdir dir
UNPLAIT_MODE=full UNPLAIT_DIR=dir ./prog 2>/dev/null
unplait seal -o sealed.plait dir >/dev/null
run 0 unplait info sealed.plait
has out "not made here by you"

# asked on a terminal, the answer counts
if command -v script >/dev/null; then
	rm -f ran
	printf 'n\n' | env XDG_STATE_HOME="$work/other" script -qec "$UNPLAIT replay fail.plait" /dev/null >out 2>&1
	has out "run it? [y/N]"
	has out "It will run: ./prog, and the oracle touch ran; grep -q 2"
	[ ! -e ran ] && ok "no is no" || not_ok "no is no"
	printf 'y\n' | env XDG_STATE_HOME="$work/other" script -qec "$UNPLAIT replay fail.plait" /dev/null >out 2>&1
	[ -e ran ] && ok "yes is yes" || not_ok "yes is yes" "$(cat out)"
fi

# no home to write in: the key is in /tmp, for this user alone
run 1 env -u XDG_STATE_HOME HOME=/proc "$UNPLAIT" hunt -o homeless.plait --expect expected -- ./prog
run 1 env -u XDG_STATE_HOME HOME=/proc "$UNPLAIT" replay homeless.plait
finish
