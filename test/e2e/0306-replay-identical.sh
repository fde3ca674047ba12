#!/usr/bin/env bash
# Replays of found failures are identical, on a machine that is busy with other things: 50 of 50 for
# a few programs (0307 does 1 000 of 1 000 for the whole corpus).
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "replay" "libplait.a is not built"; finish; }
. "$top/test/e2e/replay-identical.inc"
make_load
for name in account stringbuffer pbzip2 deadlock sct-twostage sct-queue sct-lostwakeup; do
	identical "$name" 50
done
finish
