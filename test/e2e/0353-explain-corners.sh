#!/usr/bin/env bash
# explain and minimize where things go wrong: interrupted, another program, a full disk, no failure, a failure of
# every schedule, deadlock.
# level: check
. "$(dirname "$0")/lib.sh"

cp "$CORPUS/bbuf/main.c" .
run 0 unplait cc -g -O2 -pthread -o bbuf main.c
run 1 unplait hunt --seed 1 -o fail.plait -- ./bbuf

# Ctrl-C: no folder and no process stays behind
mkdir tmp
for signal in INT TERM; do
	TMPDIR=$work/tmp timeout -s $signal 2 "$UNPLAIT" explain -n 100000000 fail.plait >out 2>err
	is "$(ls tmp)" "" "$signal leaves no folder behind"
done
left=
for p in /proc/[0-9]*; do
	[ "$(readlink "$p/exe" 2>/dev/null)" != "$work/bbuf" ] || left="$left $p"
done
is "$left" "" "... and no process"
TMPDIR=$work/tmp run 1 unplait explain -n 20 fail.plait
is "$(ls tmp)" "" "nor does an explanation that ends"

# another program
run 0 unplait cc -g -O2 -pthread -o other "$CORPUS/airline/main.c"
run 4 unplait explain fail.plait -- ./other
has err "does not fit this program"
run 4 unplait minimize fail.plait -- ./other
run 3 unplait explain fail.plait -- ./nonesuch
has err "./nonesuch"
${CC:-cc} -g -pthread -o plain main.c
"$UNPLAIT" explain fail.plait -- ./plain >out 2>err
is $? 4 "a program that was not instrumented is not explained"

# no room for the answer
if [ -c /dev/full ]; then
	"$UNPLAIT" explain -n 0 fail.plait >/dev/full 2>err
	is $? 3 "no room for the text"
	run 3 unplait explain -n 0 --html /dev/full fail.plait
	has err "No space left"
	[ -c /dev/full ]
	is $? 0 "a device stays a device"
fi
run 3 unplait explain -n 0 --html no/such/folder/page.html fail.plait

# no failure
run 0 unplait cc -g -O2 -pthread -DFIXED -o fixed main.c
run 0 unplait record -q -o pass.plait -- ./fixed
run 3 unplait explain pass.plait
has err "hunt"

# every schedule fails: said, without a cause made up
cat >always.c <<'X'
#include <assert.h>
#include <pthread.h>
static int x;
static void *work(void *arg) { x = 1; return arg; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	pthread_join(t, 0);
	assert(x == 2);
	return 0;
}
X
run 0 unplait cc -g -O1 -pthread -o always always.c
run 1 unplait hunt -o always.plait -- ./always
run 4 unplait explain -n 50 always.plait
has out "NO PASSING SCHEDULE"
has out "schedules fail: it hardly depends on the order"
hasnt out "advice" "no advice"

# deadlock
run 0 unplait cc -g -O2 -pthread -o deadlock "$CORPUS/deadlock/main.c"
run 1 unplait hunt -o deadlock.plait -- ./deadlock
run 1 unplait explain -n 50 deadlock.plait
has out "kind     deadlock"
tr -s ' \n' ' ' <out >text
has text "holds left (main.c:16) and waits for right (main.c:18)" "who holds what and waits for what"
has text "in the same order everywhere"
finish
