#!/usr/bin/env bash
# Under gdb a replay goes backwards: to an event, to the previous switch, to the write that changed a variable.
# level: check
. "$(dirname "$0")/lib.sh"
command -v gdb >/dev/null || { skip "replay --gdb" "no gdb"; finish; }

cat >bank.c <<'END'
#include <assert.h>
#include <pthread.h>

static int balance = 10;

static void *take(void *p)
{
	int b = balance;

	balance = b - (int)(long)p;
	return p;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, 0, take, (void *)1);
	pthread_create(&b, 0, take, (void *)2);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(balance == 7);
	return 0;
}
END
for level in -O0 -O2; do
	run 0 unplait cc -g $level -pthread -o bank bank.c
	run 1 unplait hunt --seed 1 -o b.plait ./bank
	unplait replay --step b.plait >steps
	# the last write, by the event that follows it
	last=$(awk '/write balance/ { n = $1 } END { print n }' steps)
	unplait replay --gdb --gdb-command 'plait who-wrote balance' --gdb-command 'plait where' \
		--gdb-command 'plait back' --gdb-command 'plait back 2' \
		--gdb-command "plait goto $((last - 1))" --gdb-command 'print balance' \
		--gdb-command "plait goto $((last + 1))" --gdb-command 'print balance' \
		--gdb-command 'plait goto 100000' --gdb-command 'plait goto x' --gdb-command 'plait back 1000' b.plait >out 2>&1
	has out "balance was last changed after event $last by thread" "$level: the writer is found"
	has out "in take at bank.c:10" "$level: with its line"
	events=$(grep -o '^event [0-9]*' out | cut -d' ' -f2 | tr '\n' ' ')
	set -- $events
	[ $# -eq 5 ] && [ "$2" -lt "$1" ] && [ "$3" -lt "$2" ] && ok "$level: back goes back" || not_ok "$level: back goes back" "$events" "$(cat out)"
	is "$4 $5" "$((last - 1)) $((last + 1))" "$level: goto stops at the event"
	is "$(grep -o '^\$[0-9]* = [0-9]*' out | tr '\n' ' ')" "\$1 = $(grep 'write balance' steps | head -n 1 | sed 's/.*= //') \$2 = $(grep 'write balance' steps | tail -n 1 | sed 's/.*= //') " \
		"$level: variables have the value of that moment"
	has out "the program ended before event 100000" "$level: too far is said"
	has out "plait goto N: which event?" "$level: not a number is said"
	has out "switches before event" "$level: too far back is said"
	hasnt out 18446744073709551615
	unplait replay --gdb-command bt b.plait >out 2>&1
	has out "main () at bank.c" "$level: a command of gdb's alone is enough"
	unplait replay --gdb --gdb-command 'plait lanes' --gdb-command 'plait lanes 2' b.plait >out 2>&1
	has out "hand-overs before event" "$level: lanes"
	grep -q '^2 of [0-9]* hand-overs' out && ok "$level: as many lanes as wanted" || not_ok "$level: as many lanes as wanted" "$(cat out)"
	grep -q '·●.* take at bank.c:' out && ok "$level: each in its column, with its place" || not_ok "$level: each in its column" "$(cat out)"
done
finish
