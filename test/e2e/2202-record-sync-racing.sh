#!/usr/bin/env bash
# The list of racing lines: a search writes it, a build reads it, and recordings of that build have the order of what races:
# they are replayed at the first attempt. A list that cannot be used is told in one sentence.
# level: check
. "$(dirname "$0")/lib.sh"
cp "$top/test/programs/sync-choices.c" choices.c
looks=choices.c:$(grep -n 'm = flags' choices.c | cut -d: -f1) sets=choices.c:$(grep -n 'flags.i. = 1' choices.c | cut -d: -f1)
run 0 unplait cc -g -O2 -pthread -o choices choices.c
for i in 1 2 3 4 5; do
	run 0 unplait record -o "$i.plait" -- ./choices said
	run 0 unplait replay --racing list "$i.plait"
	grep -q choices.c list && break
done
printf '%s\n%s\n' "$sets" "$looks" | sort >expected
grep -v '^#' list >lines
same lines expected "the search has written both lines"
run 0 unplait replay --racing list "$i.plait"
has err "list stays as it is"

run 0 unplait cc --unplait-racing=list -g -O2 -pthread -o choices choices.c
for i in 1 2 3; do
	run 0 unplait record -o "r$i.plait" -- ./choices said
	run 0 unplait replay --racing list "r$i.plait"
	has err "in attempt 1;"
	unplait export --format text "r$i.plait" | grep -o ' lock .*seen ' | sed 's/.*not_seen.*/0/; t; s/.*/1/' | tr -d '\n' >again
	same again said "run $i: main saw the same flags"
done
grep -v '^#' list >lines
same lines expected "nothing is added"

cp "$top/test/programs/sync-racing.cc" racing.cc
grep -n 'racing \*/' racing.cc | sed 's/^\([0-9]*\):.*/racing.cc:\1/' >values
for level in -O0 -O2; do
	run 0 unplait c++ --unplait-racing=values -g $level -pthread -o racing racing.cc
	hasnt err "unplait:"
	for i in 1 2 3; do
		run 0 unplait record -o v.plait -- ./racing
		cp out recorded
		run 0 unplait replay --show-output v.plait
		has err "in attempt 1;"
		grep -q "$(head -n 1 recorded)" err && ok "$level, run $i: the same values" || not_ok "$level, run $i: the same values" "$(cat recorded err)"
	done
done

# of another program, and lines that are not there
printf 'other.c:3\n%s\nchoices.c:1\n' "$looks" >other
run 0 unplait cc --unplait-racing=other -g -O2 -pthread -o t choices.c
has err "other: 2 of 3 lines have no access that threads may share in this program (other.c:3 is the first)"
# damaged, missing
echo "choices.c" >damaged
run 3 unplait cc --unplait-racing=damaged -g -O2 -pthread -o t choices.c
has err "damaged: line 1 is not FILE:LINE"
head -c 200 /dev/zero >zeros
run 3 unplait cc --unplait-racing=zeros -g -O2 -pthread -o t choices.c
has err "zeros is no list of racing lines"
run 3 unplait cc --unplait-racing=missing -g -O2 -pthread -o t choices.c
run 0 unplait cc -g -O2 -pthread -o choices choices.c
run 0 unplait record -o d.plait -- ./choices said
run 3 unplait replay --racing damaged d.plait
has err "damaged: line 1 is not FILE:LINE"
run 3 unplait races --racing damaged -o races -- ./choices said
# where it can do nothing
run 0 env UNPLAIT_VARIANTS=control "$UNPLAIT" cc --unplait-racing=list -g -O2 -pthread -o t choices.c
has err "does nothing in a link for hunting alone"
run 0 unplait cc --unplait-racing=list -g -O2 -pthread -Wl,--gc-sections -o t choices.c
has err "does nothing in a link that drops unused sections"
run 0 unplait cc --unplait-racing=list -g -O2 -c choices.c
finish
