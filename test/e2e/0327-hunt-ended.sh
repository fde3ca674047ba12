#!/usr/bin/env bash
# hunt: a use of a lock, a condition variable, a semaphore or a barrier after its end fails: freed, destroyed, or a local
# variable of a function that has returned. The cured twins, and locks in memory of others before them, stay silent.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }

gone() { # PROGRAM SENTENCE ARGUMENT...: dfs finds it, and it replays
	local program=$1 text=$2
	shift 2
	timeout 100 "$UNPLAIT" hunt -s dfs -n 3000 -o f.plait "./$program" "$@" >out 2>&1
	if [ $? = 1 ] && grep -q 'replayed 5 of 5' out && grep -qE -- "$text" out; then ok "$program $*: $text"; else
		not_ok "$program $*: $text" "$(cat out)"
	fi
}
silent() { # PROGRAM ARGUMENT...
	timeout 100 "$UNPLAIT" hunt -s dfs -n 3000 "./$1" "${@:2}" >out 2>&1
	if [ $? = 0 ] && grep -q 'every schedule' out; then ok "$*: silent"; else not_ok "$*: silent" "$(cat out)"; fi
}

for o in -O0 -O2; do
	for twin in "" -DCURED; do
		run 0 unplait cc $twin -w -g $o -pthread -o ended$o$twin "$top/test/programs/ended.c"
		run 0 unplait c++ $twin -w -g $o -pthread -o cxx$o$twin "$top/test/programs/ended.cpp"
	done
	while read -r -u 3 shape use; do
		kind=${use#* the }
		gone ended$o "write to memory that was freed .*: $use; thread 0 freed it" $shape heap
		gone ended$o "use of a $kind that was a local variable and has ended .*: $use; \`r' of on_stack, which thread 0 left" $shape stack
		for place in heap stack destroyed; do silent ended$o-DCURED $shape $place; done
		[ $shape = mutex ] && continue # one that is held is not destroyed
		gone ended$o "use of a $kind that was destroyed .*: $use" $shape destroyed
		[ $shape = spin ] || has out "thread 0 destroyed it"
	done 3<<-'X'
		signal signal to the condition variable
		broadcast broadcast to the condition variable
		mutex unlock of the mutex
		rwlock unlock of the rwlock
		spin unlock of the spinlock
		semaphore post of the semaphore
		barrier wait at the barrier
	X
	gone cxx$o "use of a condition variable that was a local variable and has ended .*; \`r' of on_stack" stack
	gone cxx$o "write to memory that was freed .*: signal to the condition variable" heap
	gone cxx$o "use of a mutex that was a local variable and has ended" thrown
	for place in stack heap thrown; do silent cxx$o-DCURED $place; done

	run 0 unplait cc -D_GNU_SOURCE -w -g $o -pthread -o calm$o "$top/test/programs/not-ended.c"
	for what in frames jumps threads fibers early; do silent calm$o $what; done
	run 4 unplait hunt -s dfs ./calm$o fork # some of it is not under control
	has out "no failure"
	for gate in fiber futex; do run 0 unplait hunt --gate $gate -n 100 ./calm$o frames; done
done

# the other strategies and the other gate find it, every command says the same
for gate in fiber futex; do
	run 1 unplait hunt --gate $gate --seed 1 -n 1000 -o f.plait ./ended-O2 signal stack
	has out "use of a condition variable that was a local variable and has ended"
done
run 1 unplait replay f.plait
has out "\`r' of on_stack, which thread 0 left"
run 1 unplait minimize -o small.plait f.plait
run 1 unplait replay small.plait
has out "use of a condition variable that was a local variable and has ended"
run 1 unplait hunt --json --seed 1 -n 1000 ./ended-O2 signal stack
has out "use of a condition variable that was a local variable and has ended"
finish
