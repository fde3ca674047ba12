#!/usr/bin/env bash
# clang merges two equal calls into one whose line is none of theirs: the frame counts by its function, and each call of
# the source is searched for (001 section 6.4's program, from the stack alone).
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

slow_locks
gcc -w -o gen "$CORPUS/blib/gen.c"
mkdir blib
./gen blib 4 64 64 2 2 1 >/dev/null
clang-19 -O2 -g -pthread -o shipped blib/main.c
printf "$(sed -n 's/^input = "\(.*\)"$/\1/p' blib/bug.toml)" >input
stuck_dump_of blib.core ./shipped <input
run 0 unplait cc -g -O0 -pthread -o blib.u blib/main.c
run 1 unplait synth --facts stack -o s.plait blib.core ./blib.u
has out "worker at blib/main.c, at a merged call"
has out "confirmed in the unplait build and in the shipped binary"
finish
