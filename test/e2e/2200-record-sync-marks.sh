#!/usr/bin/env bash
# A replay of mode sync is the recorded run, and not another one that ends alike: check marks tell which locks each
# thread took. Where races decide that, the right order is searched and the races are named; where nothing does, the
# replay says where it left the recording.
# level: check
. "$(dirname "$0")/lib.sh"
cp "$top/test/programs/sync-choices.c" choices.c
run 0 unplait cc -g -O2 -pthread -o choices choices.c
searched=0
for i in 1 2 3; do
	run 0 unplait record --mode sync -o "$i.plait" -- ./choices said
	run 0 unplait replay "$i.plait"
	unplait export --format text "$i.plait" | grep -o ' lock .*seen ' | sed 's/.*not_seen.*/0/; t; s/.*/1/' | tr -d '\n' >again
	same again said "run $i: main saw the same flags"
	has err "check marks agree"
	grep -q "in attempt 1;" err && continue
	searched=$((searched + 1))
	has err "choices.c:$(grep -n 'm = flags' choices.c | cut -d: -f1) and choices.c:$(grep -n 'flags.i. = 1' choices.c | cut -d: -f1)"
	has err "(flags[])"
done
echo "# $searched of 3 had to be searched"

cp "$top/test/programs/sync-unrepeatable.c" clock.c
run 0 unplait cc -g -O2 -pthread -o clock clock.c
run 0 unplait record --mode sync -o c.plait -- ./clock
run 4 unplait replay c.plait
has err "its operations are not those of the recorded run"
has err ", between clock.c:"
hasnt err "data races"
finish
