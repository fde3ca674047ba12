#!/usr/bin/env bash
# Answers of rewind --ask against what gdb saw, one instruction at a time: no value and no writer may be wrong.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || ! command -v gdb >/dev/null; then
	skip "rewind --ask against the truth" "unplait-lift is not built, or there is no gdb"
	finish
fi
cp "$top/test/programs/rewind-broken.c" .
WATCH="current
pool[2].next
pool[3].weight
table[1]
total
pool[5].kind"
export WATCH
set --
for w in $WATCH; do set -- "$@" --ask "who wrote $w"; done
for line in $(seq 14 58); do set -- "$@" --ask "state at rewind-broken.c:$line"; done
for build in ${ASK_BUILDS:-gcc:-O0 gcc:-O2}; do
	"${build%:*}" "${build#*:}" -g -w -o broken rewind-broken.c
	rm -f dump truth.json
	timeout 300 gdb -nx -batch -x "$top/test/programs/ask-truth.py" ./broken >gdb.out 2>&1
	if [ ! -s truth.json ]; then
		skip "$build" "gdb cannot step the program here"
		continue
	fi
	"$UNPLAIT" rewind --json --time 10 --no-run "$@" dump >out 2>err
	is $? 1 "$build: rewind --ask"
	python3 "$top/test/programs/ask-compare.py" rewind-broken.c truth.json out >compared
	cat compared
	is "$(awk '/^values/ { print $4, $10 }' compared)" "0 0" "$build: nothing is wrong"
	is "$(awk '/^values/ { print ($2 >= 15 && $8 >= 3) }' compared)" 1 "$build: enough was compared"
done
finish
