#!/usr/bin/env bash
# README's tours print what README says they print. Numbers may differ (addresses, seconds, counts, and with
# them plurals); words may not. A line of "..." in README stands for any number of lines.
# level: check
. "$(dirname "$0")/lib.sh"

# Two lines that differ in numbers only become the same.
mask() { sed -E 's/\b0x[0-9a-f]+/N/g; s/[0-9]+(\.[0-9]+)*/N/g; s/(N +)+N\b/N/g; s/\b(pair|event|run)s\b/\1/g; s/\bdiffers\b/differ/g; s/ +/ /g; s/ $//' "$1" | grep -v '^ *$'; }

# as_written PRINTED WRITTEN what: every written line was printed, in order
as_written() {
	mask "$1" >"$work/got"
	mask "$2" >"$work/want"
	if awk 'BEGIN { at = 0 }
		NR == FNR { got[n++] = $0; next }
		$0 ~ /^ *\.\.\.$/ { gap = 1; next }
		{ while (gap && at < n && got[at] != $0) at++
		  if (at >= n || got[at] != $0) { print "README has: " $0; print "printed:    " got[at]; bad = 1; exit 1 }
		  at++; gap = 0 }
		END { if (!bad && !gap && at < n) { print "not in README: " got[at]; exit 1 } }' \
		"$work/got" "$work/want" >"$work/diff"; then ok "$3"; else not_ok "$3" "$(cat "$work/diff")"; fi
}

# tour HEADING: types the commands below a heading, each followed by what README shows
tour() {
	sed -n "/^##* $1/,/^##* /s/^    //p" "$top/README.md" | sed '/^[ ]*$/d' >"$work/lines"
	[ "$(grep -c '^\$ ' "$work/lines")" -ge 2 ] || not_ok "README has the tour '$1'"
	: >"$work/typed"
	: >"$work/written"
	while IFS= read -r line; do
		if [ "${line#\$ }" = "$line" ]; then
			printf '%s\n' "$line" >>"$work/written"
			continue
		fi
		compare
		command=${line#\$ }
		: >"$work/written"
		eval "$command" >"$work/typed" 2>&1 </dev/null
	done <"$work/lines"
	compare
}
command=
compare() { [ -z "$command" ] || as_written "$work/typed" "$work/written" "$command"; }

cp "$CORPUS"/pbzip2/*.[ch] "$top/test/programs/cache_test.cc" .
tour "A tour, with real output"
command=
if [ -e /usr/include/gtest/gtest.h ]; then
	tour "A flaky GoogleTest"
else
	skip "README's GoogleTest" "libgtest-dev is not installed (scripts/deps)"
fi
finish
