#!/usr/bin/env bash
# From the stack alone, where values that nobody asks for have to be set first: options, counters, a long input.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

run 0 unplait cc -g -O0 -o ls "$CORPUS"/ls4/*.c
run 0 unplait cc -g -O0 -o ghttpd "$CORPUS"/ghttpd/*.c
gcc -O2 -g -o ls-shipped "$CORPUS"/ls4/*.c
gcc -O2 -g -o ghttpd-shipped "$CORPUS"/ghttpd/*.c
found() { # CORE PROGRAM WHAT: the options must have been set, or the input be long enough
	run 1 unplait synth --facts stack --time 60 -o s.plait "$1" "$2"
	has out "found by search" "$3"
	has out "confirmed in the unplait build and in the shipped binary" "$3"
}
dump_of 1.core ./ls-shipped -lt --author /empty </dev/null
found 1.core ./ls "two options"
has out "--author"
dump_of 2.core ./ls-shipped -R --sort=group /home </dev/null
found 2.core ./ls "an option with a value, a folder"
has out "--sort=group"
printf "$(sed -n 's/^input = "\(.*\)"$/\1/p' "$CORPUS/ghttpd/bug.toml")" | dump_of g.core ./ghttpd-shipped
found g.core ./ghttpd "an input of 200 bytes"

# every one of 64 branches must be taken, which only a counter knows; then two threads must meet
slow_locks
gcc -o gen "$CORPUS/blib/gen.c"
mkdir b
./gen b 4 64 64 2 2 1 >answer
gcc -O2 -g -pthread -o b-shipped b/main.c
run 0 unplait cc -g -O0 -pthread -o blib b/main.c
input=$(sed -n 's/^input = "\(.*\)"$/\1/p' b/bug.toml)
printf '%s' "$input" | stuck_dump_of b.core ./b-shipped
found b.core ./blib "64 branches"
run 0 unplait cc -g -O0 -pthread -DFIXED -o cured b/main.c
"$UNPLAIT" synth --facts stack --time 5 -o c.plait b.core ./cured >out 2>&1
is "$(($? == 1))" 0 "the cured program does not fail so"
finish
