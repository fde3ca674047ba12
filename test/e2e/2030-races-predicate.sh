#!/usr/bin/env bash
# races --predicate: what must hold is asked wherever a thread hands something on, and a race that breaks it violates the specification.
# level: check
. "$(dirname "$0")/lib.sh"

cat >move.c <<'EOF'
#include <pthread.h>
struct account {
	int balance;
	unsigned moves;
} accounts[2] = { { 60, 0 }, { 40, 0 } };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *move(void *arg)
{
	int have = accounts[0].balance; /* without the lock */

	pthread_mutex_lock(&lock);
	accounts[1].balance += 5;
	accounts[0].balance = have - 5;
	accounts[0].moves++;
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, 0, move, 0);
	pthread_create(&b, 0, move, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
EOF
# Two locks: while one is held the condition may be broken, and who releases the other is not to blame.
cat >two.c <<'EOF'
#include <pthread.h>
static int low = 1, high = 2, hint;
static pthread_mutex_t pair = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void *raise_both(void *arg)
{
	pthread_mutex_lock(&pair);
	low += 5;
	high += 5;
	pthread_mutex_unlock(&pair);
	hint = 1;
	return arg;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, 0, raise_both, 0);
	pthread_mutex_lock(&other);
	pthread_mutex_unlock(&other);
	hint = 2;
	return pthread_join(t, 0);
}
EOF
sum='accounts[0].balance + accounts[1].balance == 100'
for opt in -O0 -O2; do
	run 0 unplait cc -g $opt -pthread -o "move$opt" move.c
	"$UNPLAIT" races --one-path -o "" "./move$opt" >out 2>err
	is $? 0 "without it both orders do the same ($opt)"
	"$UNPLAIT" races --one-path -o "races$opt" --predicate "$sum" "./move$opt" >out 2>err
	is $? 1 "with it one order violates the specification ($opt)"
	has out "spec-violated      accounts[].balance  move.c:10 (read, move) with move.c:14 (write, move)"
	has out "the predicate \`$sum' does not hold"
	plait=$(sed -n 's/.*why: unplait explain \(.*\)/\1/p' out | head -1)
	run 1 unplait replay --times 20 "$plait"
	has out "replayed 20 of 20 times" "the plait knows the predicate ($opt)"
	has out "move at move.c:" "it fails where the lock is given back"
done
run 0 unplait info "$plait"
has out "predicate   $sum"
run 0 unplait info --json "$plait"
has out "\"predicate\": \"$sum\""
run 0 unplait cc -g -O0 -pthread -o two two.c
run 0 unplait races --one-path -n 60 -o "" --predicate 'low + 1 == high' ./two
hasnt out "spec-violated" "inside a critical section it may be broken for a while"
"$UNPLAIT" races --one-path -o "" --predicate 'low < high && high < 7' ./two >out 2>err
is $? 4 "a predicate that is broken in every run"
has out "fail"

for bad in 'nothing > 0:nothing is no global variable' 'low +:something is missing' 'low = 3:cannot be understood' \
	'raise_both():no global variable' 'low == 1.5:is not an integer' 'pair > 1:neither an integer nor a pointer'; do
	run 2 unplait races --predicate "${bad%%:*}" ./two
	has err "${bad#*:}" "bad: ${bad%%:*}"
done
finish
