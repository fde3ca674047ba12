#!/usr/bin/env bash
# Lost wake-ups: the signal that came too early is named, with the change it announced; a signal that woke the wrong
# thread is tried as a broadcast.
# level: check
. "$(dirname "$0")/lib.sh"

cp "$top"/test/programs/{heap-wakeup,stolen-signal}.c .
line() { grep -n "$2" "$1" | head -n 1 | cut -d: -f1; }

run 0 unplait cc -g -O1 -pthread -o heap-wakeup heap-wakeup.c
run 1 unplait hunt -o heap.plait ./heap-wakeup
run 1 unplait explain -n 200 heap.plait
has out "kind     lost-wakeup"
has out "for ever: the signal by thread 0 at"
has out "heap-wakeup.c:$(line heap-wakeup.c cond_broadcast)  broadcast" "the signal is shown"
has out "heap-wakeup.c:$(line heap-wakeup.c 'the change')  write" "and the change it announced"
has out "0 of 200 with it enforced"

run 0 unplait cc -g -O1 -pthread -o stolen stolen-signal.c
run 1 unplait hunt -o stolen.plait ./stolen
run 1 unplait explain -n 200 stolen.plait
has out "woke"
has out "wake all who wait at stolen-signal.c:$(line stolen-signal.c BUG)"
has out "0 of 200 with it enforced"
finish
