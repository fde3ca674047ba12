#!/usr/bin/env bash
# The order engine has the last word on predicted races: one run in which a lock orders two accesses is enough to find
# a race behind sections that conflict and may change places all the same.
# level: check
. "$(dirname "$0")/lib.sh"

# WRITE: both sections store the same number, so their order does not matter. Without it the second one
# goes on only if it reads what the first one stored: then nothing can race.
cat >held.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
static int same, data;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *inside(void *arg)
{
	pthread_mutex_lock(&lock);
	same = 1;
	data = 1; /* with the lock */
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *outside(void *arg)
{
	int go;

	pthread_mutex_lock(&lock);
#ifdef WRITE
	same = 1;
#endif
	go = same;
	pthread_mutex_unlock(&lock);
	if (go)
		data = 2; /* without */
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, 0, inside, 0);
	pthread_create(&b, 0, outside, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return printf("%d\n", data) < 0;
}
EOF
for opt in -O0 -O2; do
	run 0 unplait cc -g $opt -DWRITE -pthread -o held held.c
	"$UNPLAIT" races -n 1 --one-path -o held-races ./held >out 2>err
	is $? 1 "one run is enough ($opt)"
	has out "output-differs     data  held.c:10 (write, inside) with held.c:26 (write, outside)"
	has out "1 race: 1 output-differs"
	for way in a b; do
		run 0 unplait replay --times 5 "held-races/race-1-$way.plait"
		has out "replayed 5 of 5 times" "order $way was met natively"
	done
	run 0 unplait cc -g $opt -pthread -o guarded held.c
	run 0 unplait races -n 1 --one-path -o "" ./guarded
	has out "0 races" "a section that must come second keeps them apart ($opt)"
	run 0 unplait races --one-path -o "" ./guarded
	has out "0 races" "in other runs, too"
done
# What a pipe orders the model does not know: nothing is asked then, and nothing is predicted in vain.
cat >piped.c <<'EOF'
#include <pthread.h>
#include <unistd.h>
static int data, ends[2];

static void *send(void *arg)
{
	data = 1;
	return write(ends[1], "x", 1) == 1 ? arg : 0;
}

int main(void)
{
	pthread_t t;
	char c;

	if (pipe(ends))
		return 2;
	pthread_create(&t, 0, send, 0);
	if (read(ends[0], &c, 1) == 1)
		data = 2;
	return pthread_join(t, 0);
}
EOF
run 0 unplait cc -g -pthread -o piped piped.c
run 0 unplait races -n 1 --one-path --json -o "" ./piped
has out '"predicted_unmet": 0' "no prediction about what a pipe orders"
finish
