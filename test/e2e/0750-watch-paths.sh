#!/usr/bin/env bash
# watch: stacks are remembered, but always the right one is told, however often others with the same place and depth went
# before; with and without frame pointers, optimised or not.
. "$(dirname "$0")/lib.sh"

# the lines of left() and right() on the way that PATH says, innermost first
lines() {
	local path=$1 side=l out='' i
	for i in 1 2 3; do
		if [ $((path & 1)) = 1 ]; then
			[ $side = l ] && { out="left:36 $out"; side=r; } || { out="right:24 $out"; side=l; }
		else
			[ $side = l ] && out="left:38 $out" || out="right:26 $out"
		fi
		path=$((path >> 1))
	done
	[ $side = l ] && out="left:34 $out" || out="right:22 $out"
	echo "$out" | sed 's/ $//'
}
for flags in "-O0" "-O2 -fno-optimize-sibling-calls" "-O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls"; do
	cc $flags -g -pthread -o paths "$top/test/programs/watch/paths.c" || exit 3
	for way in 0 3 5 6; do
		run 1 timeout 60 "$UNPLAIT" watch --stuck-after 0 --all -- ./paths $way
		has out "deadlock: 2 threads wait for each other" "$flags, way $way"
		# of every thread, the stack of the lock it holds: as the way says, then work()
		for k in 1 2; do
			is "$(awk '/^  holds/ { n++ } n == '$k' && /^  wants/ { exit } n == '$k'' out |
				sed -n 's/.* \(left\|right\) .*paths\.c:\([0-9]*\).*/\1:\2/p' | tr '\n' ' ' | sed 's/ $//')" "$(lines $way)" "$flags: held stack $k is way $way"
		done
		is "$(grep -c 'rare .*paths.c' out)" 2 "$flags: the wanted stacks come from rare()"
		hasnt out "usual " "$flags: and from nowhere else"
	done
done
finish
