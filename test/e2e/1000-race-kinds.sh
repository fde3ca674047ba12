#!/usr/bin/env bash
# A hunt sees the data races of a program, whatever orders or fails to order its threads, and none where there is none.
# level: check
. "$(dirname "$0")/lib.sh"

for level in -O0 -O2; do
	run 0 unplait cc -w -g $level -pthread -o kinds "$top/test/programs/race-kinds.c"
	./kinds list >list
	[ "$(wc -l <list)" -ge 40 ] || not_ok "the list of cases has been read"
	missed='' false=''
	while read -r case; do
		unplait hunt --seed 1 -n 200 --json -o x.plait ./kinds "$case" >json 2>err
		races=$(sed -n 's/^ *"races": *\([0-9]*\).*/\1/p' json)
		case $case:${races:-none} in
		race-*:0 | race-*:none) missed="$missed $case" ;;
		race-*:* | *:0) ;;
		*) false="$false $case" ;;
		esac
	done <list
	is "$missed" "" "$level: every race is seen"
	is "$false" "" "$level: nothing else is called a race"
done
finish
