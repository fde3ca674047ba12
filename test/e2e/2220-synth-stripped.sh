#!/usr/bin/env bash
# A dump of a stripped binary: the search is aimed at stacks of the program that look like the dump's.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

gcc -O2 -s -o ls-shipped "$CORPUS"/ls4/*.c
run 0 unplait cc -g -O0 -o ls "$CORPUS"/ls4/*.c
run 0 unplait cc -g -O0 -DFIXED -o cured "$CORPUS"/ls4/*.c
# four null pointers in one function of the binary; the third and the fourth are told apart by what lies around them
dump_of 4.core ./ls-shipped -1 '--ignore=b*' --hide=b /bin </dev/null
run 1 unplait synth -v --facts stack --time 60 -o s.plait 4.core ./ls
has out "confirmed in the unplait build and in the shipped binary"
has out "look like the dump's by calls and texts"
has out "--hide="
is "$(sed -n 's/.*synth: stack 0 .*: //p' err | cut -d: -f1 | xargs)" "main list is_hidden follow" "the likeliest stack is the right one"
run 1 unplait replay s.plait
"$UNPLAIT" synth --facts stack --time 2 -o c.plait 4.core ./cured >out 2>&1
is "$(($? == 1))" 0 "the cured program does not fail so"
[ ! -e c.plait ] && ok "and leaves no plait" || not_ok "and leaves no plait"
finish
