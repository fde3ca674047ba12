#!/usr/bin/env bash
# Each kind of verdict on the corpus: what the entries ask for is what the command says.
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/races.inc"

# one of each kind; the others are in 1022
for name in race-adhoc race-bits race-doublechecked race-laterschedule race-pair race-twocrashes race-verbose; do
	check_verdicts "$name"
done
has race-verbose.out "it shows with other arguments: -v" "the input that shows it is named"

# what is said does not depend on the seed, nor on how threads are switched
check_verdicts race-logger --seed 5 --gate futex --one-path
check_verdicts race-logger --seed 9 --fresh --one-path
finish
