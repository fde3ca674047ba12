#!/usr/bin/env bash
# A program lists a folder while mode sync records it. The folder is gone when it is replayed.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -g -O2 -pthread -o list "$top/test/programs/sync-folder.c"
mkdir some
for i in $(seq 20); do : >"some/file$i"; done
run 0 unplait record -o l.plait -- ./list some
grep '^[a-z]* [a-z0-9]*$' out >recorded
is "$(grep -c file recorded)" 20 "every name was listed"
rm -r some
run 0 unplait replay --show-output l.plait
has err "in attempt 1;"
grep '^[a-z]* [a-z0-9]*$' err >replayed
same replayed recorded "the same names by the same threads"
finish
