#!/usr/bin/env bash
# watch: every kind of lock and wait; deadlocks are found, what is none is not reported.
. "$(dirname "$0")/lib.sh"
cc -O1 -g -pthread -o modes "$top/test/programs/watch/modes.c" || exit 3

watch() { # STATUS MODE [option...]
	local want=$1 mode=$2
	shift 2
	run "$want" timeout 60 "$UNPLAIT" watch --stuck-after 1 "$@" -- ./modes "$mode"
}
for mode in writer-mutex reader-mutex reader-behind-writer spin c11 try cond fork-pair exec closefrom; do
	watch 1 $mode
	has out "deadlock: 2 threads wait for each other" "$mode is a deadlock of two"
	is "$(grep -c '^  holds' out)$(grep -c '^  wants' out)" "$([ $mode = reader-behind-writer ] && echo 12 || echo 22)" "$mode: both sides of both threads"
	hasnt out "(no stack)" "$mode: with stacks"
done
for mode in self self-upgrade upgrade; do
	watch 1 $mode
	has out "deadlock: 1 thread waits for itself" "$mode is a deadlock of one"
done
for mode in stuck-cond stuck-sem stuck-ended stuck-join fork; do
	watch 1 $mode
	has out "stuck: every thread waits"
	hasnt out "deadlock:" "$mode is not called a deadlock"
done
watch 1 stuck-ended
has out "held by thread 0.1, which has ended"
watch 1 fork
has out "of the parent process when this one was forked"
watch 1 cond
has out "wants mutex a, held by thread 0.2" "the mutex of a condition, wanted again"
for mode in ok-recursive ok-timed ok-foreign ok-threads ok-cancel ok-contend; do
	watch 0 $mode
	hasnt out "bucket" "$mode: nothing reported"
done
watch 0 ok-recursive
is "$(grep -c 'free: yes' out)" 2 "recursion is counted"
watch 0 stuck-cond --stuck-after 0 --timeout 1
has out "waits for a signal on condition cond" "a timeout says what the threads waited for"

# a crash leaves a state behind
watch 0 crash -o found
is "$(ls found | grep -c state-)" 1 "the state at a crash is kept"
has "found/$(ls found)" '"name": "a"'
finish
