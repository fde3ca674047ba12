#!/usr/bin/env bash
# A signal ends every command soon, also while the target starts, and nothing is left behind. What a
# killed command left, the next one removes.
# level: check
. "$(dirname "$0")/lib.sh"

cat >slow.c <<'EOF'
#include <pthread.h>
#include <unistd.h>
__attribute__((constructor)) static void early(void) { usleep(40000); }
static int n;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *v)
{
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&m);
		n++;
		pthread_mutex_unlock(&m);
	}
	return v;
}
int main(int argc, char **argv)
{
	pthread_t t[4];
	(void)argv;
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], 0, add, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	return argc > 1 ? 3 : 0;
}
EOF
run 0 unplait cc -g slow.c -o slow
run 1 unplait hunt --fail-on exit -o fail.plait -- ./slow fail

mkdir tmp
# a child that gets the signal before it is unplait must not clean up for us
on_exit=$(trap -p EXIT)
trap - EXIT
set -m # without job control a shell lets its children ignore SIGINT
export TMPDIR=$work/tmp

# after SECONDS SIGNAL CMD...: start it, send the signal, wait; the status in $status
after() {
	local seconds=$1 signal=$2 pid
	shift 2
	"$UNPLAIT" "$@" >out 2>err </dev/null &
	pid=$!
	sleep "$seconds"
	kill -s "$signal" "$pid" 2>/dev/null # it may have ended
	{ wait "$pid"; } 2>/dev/null
	status=$?
}

hung=0
for seconds in 0.005 0.01 0.02 0.03 0.05 0.1; do
	for signal in INT TERM HUP; do
		for command in "hunt -n 100000000 -o x.plait -- ./slow" "replay --times 1000000 fail.plait" \
			"record -n 100000 -o many -- ./slow"; do
			# shellcheck disable=SC2086
			after $seconds $signal $command
			[ "$status" -ne 0 ] && [ "$status" -ne 1 ] || {
				hung=$((hung + 1))
				echo "# $seconds $signal $command: status $status"
			}
		done
	done
done
is $hung 0 "54 commands end when they are told to"
is "$(ls tmp)" "" "and leave no folder behind"

"$UNPLAIT" hunt -n 100000000 -o x.plait -- ./slow >/dev/null 2>&1 </dev/null &
pid=$!
for ((i = 0; i < 300; i++)); do [ -z "$(ls tmp)" ] && sleep 0.1 || break; done
{ kill -s KILL $pid && wait $pid; } 2>/dev/null
[ -n "$(ls tmp)" ] && ok "SIGKILL leaves one" || not_ok "SIGKILL leaves one"
run 0 unplait hunt -n 1 -- ./slow
[ -n "$(ls tmp)" ] && ok "a young one may still be used" || not_ok "a young one may still be used"
eval "$on_exit"
touch -d '1 minute ago' tmp/*.lock
run 0 unplait hunt -n 1 -- ./slow
is "$(ls tmp)" "" "the next command removes it"
finish
