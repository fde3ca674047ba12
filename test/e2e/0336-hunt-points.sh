#!/usr/bin/env bash
# Sampling takes as points only what can change places: not what main set up, nor what a lock protects, at -O0 either.
# level: quick
. "$(dirname "$0")/lib.sh"

points() { # OPTION...: how many sites become points in 20 runs
	unplait cc -g "$@" -o points "$top/test/programs/points.c" && unplait hunt --json -s random -n 20 --seed 1 -o '' ./points >out
	sed -n 's/^ *"points": \([0-9]*\),*$/\1/p' out
}
for level in -O0 -O2; do
	plain=$(points $level)
	noise=$(points $level -DNOISE)
	racy=$(points $level -DNOISE -DRACY)
	is "$noise" "${plain:-none}" "$level: setting up, arguments, own blocks and locals are no points"
	is "$racy" "$((noise + 2))" "$level: a race is two points more"
done
finish
