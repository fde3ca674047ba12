#!/usr/bin/env bash
# Replays of found failures are identical, on a machine that is busy with other things: 1 000 of
# 1 000 for every program of the corpus that hunt finds something in.
# level: long
# seconds: 10800
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "replay" "libplait.a is not built"; finish; }
. "$top/test/e2e/replay-identical.inc"
make_load
for dir in "$CORPUS"/*/; do
	name=$(basename "$dir")
	[ -e "$dir/bug.toml" ] && grep -q '^commands.*"hunt"' "$dir/bug.toml" && identical "$name" 1000
done
finish
