# test/e2e/lib.sh - what every end-to-end test uses. Source it first: . "$(dirname "$0")/lib.sh"
# Each test runs in a fresh folder ($work) that is removed at the end.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
UNPLAIT=${UNPLAIT:-$top/build/unplait}
CORPUS=$top/corpus
work=$(mktemp -d "${TMPDIR:-/tmp}/unplait-test-XXXXXX") || exit 3
cd "$work" || exit 3
failures=0
export UNPLAIT_CACHE=off # links are made anew, and nothing is left in anybody's home; 1440 to 1443 test the cache
trap 'cd /; [ -n "${KEEP:-}" ] && echo "# kept $work" || rm -rf "$work"' EXIT

unplait() { "$UNPLAIT" "$@"; }

ok() { echo "ok - $1"; }
not_ok() { # what, [detail...]
	echo "not ok - $1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/# /'
	failures=$((failures + 1))
}
skip() { echo "ok - $1 # SKIP $2"; }

# run STATUS CMD...: run, keep stdout in $work/out and stderr in $work/err, expect the status
run() {
	local want=$1 got
	shift
	"$@" >"$work/out" 2>"$work/err"
	got=$?
	if [ "$got" -eq "$want" ]; then
		ok "$* -> $want"
	else
		not_ok "$* -> $want" "status $got" "$(tail -n 20 "$work/out")" "$(tail -n 20 "$work/err")"
	fi
}
# has FILE TEXT [what]: the file contains the text
has() {
	if grep -qF -- "$2" "$1"; then ok "${3:-$(basename "$1") has '$2'}"; else
		not_ok "${3:-$(basename "$1") has '$2'}" "$(head -n 40 "$1")"
	fi
}
hasnt() {
	if grep -qF -- "$2" "$1"; then not_ok "${3:-$(basename "$1") lacks '$2'}" "$(grep -nF -- "$2" "$1" | head)"; else
		ok "${3:-$(basename "$1") lacks '$2'}"
	fi
}
# same GOT WANT what: two files agree
same() {
	if diff -u "$2" "$1" >"$work/diff"; then ok "$3"; else not_ok "$3" "$(head -n 60 "$work/diff")"; fi
}
# is GOT WANT what
is() { if [ "$1" = "$2" ]; then ok "$3"; else not_ok "$3" "got '$1', want '$2'"; fi; }
finish() { [ "$failures" -eq 0 ]; exit $?; }
