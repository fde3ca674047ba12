#!/usr/bin/env bash
# Races that a sleep or the order of a lock's sections hides; and a program that never gets that far.
. "$(dirname "$0")/lib.sh"

for O in 0 2; do
	unplait cc -g -O$O -pthread -o sleep "$top/test/programs/race-after-sleep.c"
	"$UNPLAIT" races --one-path -o "" ./sleep >out 2>err
	is $? 1 "-O$O: a sleep orders nothing"
	has out "spec-violated      number" "-O$O: used before it is set"

	unplait cc -g -O$O -pthread -o sections "$top/test/programs/race-sections.c"
	"$UNPLAIT" races --one-path -n 1 -o "" ./sections >out 2>err
	is $? 1 "-O$O: one run, in which a lock orders the accesses, is enough"
	has out "output-differs     x" "-O$O: predicted with the sections the other way round, and met"
done

"$UNPLAIT" races --one-path -o "" ./sleep fail >out 2>err
is $? 4 "nothing was seen, and nothing is known"
has out "runs that looked for races failed: races behind that were not looked for" "which is said"
finish
