#!/usr/bin/env bash
# A signal ends every command that may take long, whatever it is doing: the status says so, and no folder
# stays. 0174 has hunt, replay and record in all moments; 0815 and 1106 say what sym and predict print.
# level: check
. "$(dirname "$0")/lib.sh"

cat >slow.c <<'X'
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static int balance, n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *v)
{
	int was = balance;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&m);
		n++;
		pthread_mutex_unlock(&m);
	}
	balance = was + 1;
	return v;
}
int main(int argc, char **argv)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], 0, add, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	assert(argc < 2 || balance == 4);
	while (argc > 2)
		sleep(1);
	return 0;
}
X
run 0 unplait cc -g -DROUNDS=20 -pthread -o slow slow.c
run 0 unplait cc -g -DROUNDS=20000 -pthread -o slower slow.c # races looks at what few runs show, and is done
run 1 unplait hunt -o fail.plait -- ./slow x
cat >waits.c <<'X'
#include <unistd.h>
int main(void) { while (1) sleep(1); }
X
cc -o waits waits.c

mkdir tmp
on_exit=$(trap -p EXIT)
trap - EXIT # a child that gets the signal before it is unplait must not clean up for us
set -m	    # without job control a shell lets its children ignore SIGINT
export TMPDIR=$work/tmp

results="0 1 137"
# ended CMD...: none of $results, and nothing is left; 137 if it had to be killed
ended() {
	local signal pid guard status bad=
	for signal in INT TERM HUP; do
		"$UNPLAIT" "$@" >out 2>err </dev/null &
		pid=$!
		sleep 0.6
		kill -s $signal $pid 2>/dev/null
		(sleep 60 && kill -KILL $pid) 2>/dev/null &
		guard=$!
		{ wait $pid; } 2>/dev/null
		status=$?
		kill -KILL -- -$guard 2>/dev/null
		{ wait $guard; } 2>/dev/null
		case " $results " in *" $status "*) bad="$bad $signal: status $status" ;; esac
		[ -z "$(ls tmp)" ] || bad="$bad $signal: $(ls tmp | tr '\n' ' ')"
		rm -rf tmp/*
	done
	is "$bad" "" "$*: ends"
}
ended hunt -s dfs --time 600 -- ./slow
ended hunt -s states --time 600 -- ./slow
ended explain -n 10000000 --time 600 fail.plait
ended races --time 600 -o races -- ./slower
ended coop record -n 1000000 --share 100% --store logs.db -o logs -- ./slow
ended test --time 600 ./slow
ended sym schedules ./slow
results=137 # no deadlock is what it has found by then
ended watch --timeout 600 -- ./waits
eval "$on_exit"
finish
