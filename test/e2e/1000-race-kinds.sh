#!/usr/bin/env bash
# A hunt sees the data races of a program, whatever orders or fails to order its threads, and none where there is none.
# level: check
. "$(dirname "$0")/lib.sh"

# look BINARY WHAT: the answer of each case must be what its name says
look() {
	local case races missed='' false=''
	"$1" list >list
	[ "$(wc -l <list)" -ge 40 ] || not_ok "the list of cases has been read"
	while read -r case; do
		unplait hunt --seed 1 -n 200 --json -o x.plait "$1" "$case" >json 2>err
		races=$(sed -n 's/^ *"races": *\([0-9]*\).*/\1/p' json)
		case $case:${races:-none} in
		race-free:0) [ "$2" = "other compilers" ] || missed="$missed $case" ;; # they do not tell of free
		race-*:0 | race-*:none) missed="$missed $case" ;;
		race-*:* | *:0) ;;
		*) false="$false $case" ;;
		esac
	done <list
	is "$missed" "" "$2: every race is seen"
	is "$false" "" "$2: nothing else is called a race"
}

for level in -O0 -O2; do
	run 0 unplait cc -w -g $level -pthread -o kinds "$top/test/programs/race-kinds.c"
	look ./kinds "$level"
done

# objects of another compiler, through ThreadSanitizer's interface
clang-19 -w -g -O1 -fsanitize=thread -c -o kinds.o "$top/test/programs/race-kinds.c" &&
	clang-19 -o tsan kinds.o "$(dirname "$UNPLAIT")/libplait.a" -lpthread -ldl
look ./tsan "other compilers"
finish
