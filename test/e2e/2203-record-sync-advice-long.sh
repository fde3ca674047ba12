#!/usr/bin/env bash
# After a failed search, replay says what to type so that the next recording has the order of what races.
# level: long
. "$(dirname "$0")/lib.sh"
cp "$top/test/programs/sync-racing-clock.c" clock.c
run 0 unplait cc -g -O2 -pthread -o clock clock.c
run 0 unplait record --mode sync -o c.plait -- ./clock
run 4 unplait replay c.plait
has err 'to have their order recorded, `unplait replay --racing FILE c.plait`, build with `unplait cc --unplait-racing=FILE`'
run 4 unplait replay --racing list c.plait
has err 'their lines are in list now: build with `unplait cc --unplait-racing=list` and record again'
has list "clock.c:$(grep -n 'racing \*/' clock.c | cut -d: -f1)"
run 0 unplait cc --unplait-racing=list -g -O2 -pthread -o clock clock.c
hasnt err "lines have no access"
finish
