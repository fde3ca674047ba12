#!/usr/bin/env bash
# watch: the stacks that are told are those of the acquisition, however often others with the same place and depth went
# before; with and without frame pointers, optimised or not. Functions that have returned are told as far as the
# acquisition copied its stack: too little the first time, then enough.
. "$(dirname "$0")/lib.sh"

# the lines of left() and right() on the way that PATH says, innermost first
lines() {
	local path=$1 side=l out='' i
	for i in 1 2 3; do
		if [ $((path & 1)) = 1 ]; then
			[ $side = l ] && { out="left:37 $out"; side=r; } || { out="right:25 $out"; side=l; }
		else
			[ $side = l ] && out="left:39 $out" || out="right:27 $out"
		fi
		path=$((path >> 1))
	done
	[ $side = l ] && out="left:35 $out" || out="right:23 $out"
	echo "$out" | sed 's/ $//'
}
# of thread K, the stack of the lock it holds, in the same form
held() {
	awk '/^  holds/ { n++ } n == '"$1"' && /^  wants/ { exit } n == '"$1" out |
		sed -n 's/.* \(left\|right\) .*paths\.c:\([0-9]*\).*/\1:\2/p' | tr '\n' ' ' | sed 's/ $//'
}
for flags in "-O0" "-O2 -fno-optimize-sibling-calls" "-O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls"; do
	cc $flags -g -pthread -o paths "$top/test/programs/watch/paths.c" || exit 3
	for way in 0 3 5 6; do
		run 1 timeout 60 "$UNPLAIT" watch --stuck-after 0 --all -- ./paths $way practice
		has out "deadlock: 2 threads wait for each other" "$flags, way $way"
		for k in 1 2; do
			is "$(held $k)" "$(lines $way)" "$flags: held stack $k is way $way"
		done
		is "$(grep -c 'rare .*paths.c' out)" 2 "$flags: the wanted stacks come from rare()"
		hasnt out "usual " "$flags: and from nowhere else"
	done
	# the first time a stack may be cut, but what is told is right
	run 1 timeout 60 "$UNPLAIT" watch --stuck-after 0 --all -- ./paths 6
	for k in 1 2; do
		way=$(lines 6)
		[ -n "$(held $k)" ] && [ "${way#"$(held $k)"}" != "$way" ]
		is $? 0 "$flags, the first time: '$(held $k)' is how '$way' begins"
	done
	# with a history everything is told at once
	run 1 timeout 60 "$UNPLAIT" watch --history 4 --stuck-after 0 --all -- ./paths 6
	is "$(held 1)" "$(lines 6)" "$flags, with a history"
done
finish
