#!/usr/bin/env bash
# A fleet of 200 instances, each recording a quarter of the elements: merge, replay, minimize, explain.
# level: long
. "$(dirname "$0")/lib.sh"

fleet() { # program scheme
	unplait cc -g -O1 -pthread -o "$1" "$CORPUS/$1"/*.c || not_ok "build $1"
	run 1 unplait coop record --mode "$2" --share 25% -n 200 --scheduler pos --store "$1-$2.db" -- "./$1"
	run 1 unplait coop merge --mode "$2" "$1-$2.db" -o "$1-$2.plait" -- "./$1"
	has out "reproduced in attempt" "$1: merged ($2)"
	run 1 unplait replay "$1-$2.plait"
	has out "replayed 1 of 1 times" "$1: the merged plait replays ($2)"
}

for p in manager piper derby2861; do
	fleet $p order
	fleet $p block
done
run 1 unplait minimize manager-order.plait -o small.plait
run 1 unplait explain manager-order.plait
has out "  cause    " "a cause is given"
has out "remaining" "the explanation names the variable"

# informed profiles need no more logs than uniform ones
for how in "" --informed; do
	rm -f few.db
	unplait coop record $how --share 25% -n 40 --scheduler pos --store few.db -- ./derby2861 >out 2>err
	unplait coop merge few.db --json -- ./derby2861 >"merge$how.json" 2>err
done
uniform=$(sed -n 's/.*"attempts": \([0-9]*\).*/\1/p' merge.json)
informed=$(sed -n 's/.*"attempts": \([0-9]*\).*/\1/p' merge--informed.json)
echo "# attempts: uniform $uniform, informed $informed"
has merge--informed.json '"reproduced": true' "informed profiles reproduce"

# a fleet in the field: free runs. How many fail depends on the machine.
unplait coop record --share 25% -n 200 --timeout 5 -o field --store field.db -- ./manager >out 2>err
echo "# field: $(cat out)"
if grep -q " 0 of them failing" out; then
	skip "free runs of manager" "none of 200 failed here"
else
	run 1 unplait coop merge field.db -o field.plait -- ./manager
	run 1 unplait replay field.plait
fi
finish
