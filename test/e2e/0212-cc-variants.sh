#!/usr/bin/env bash
# Without variants of their own modes graph, order and block use the code of mode full, and say so.
# level: check
. "$(dirname "$0")/lib.sh"

cp "$CORPUS/account/main.c" .
run 0 env UNPLAIT_VARIANTS=few "$UNPLAIT" cc -g -O2 -pthread -o few main.c
run 0 unplait cc -g -O2 -pthread -o all main.c
readelf -p .plait.build few >sections
has sections "variants plain path full"
hasnt sections "order"
readelf -p .plait.build all >sections
has sections "variants plain path full graph order"

for mode in graph order block; do
	"$UNPLAIT" record --mode $mode -o $mode.plait -- ./few >out 2>err
	has err "UNPLAIT_VARIANTS=all" "$mode: it says what would be quicker"
	[ $mode != graph ] || has out " communications" "graph: and collects"
	"$UNPLAIT" record --mode $mode -o $mode-all.plait -- ./all >out 2>err
	hasnt err "UNPLAIT_VARIANTS" "$mode: nothing to say"
done
finish
