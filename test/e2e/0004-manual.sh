#!/usr/bin/env bash
# Every command of the manual works as its page says, and `unplait help TASK` finds the pages.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/tour.inc"

mkdir path && ln -s "$UNPLAIT" path/unplait
PATH=$work/path:$PATH # make calls it
unset MAKEFLAGS MAKELEVEL MFLAGS # a make may have called us
for page in "$top"/doc/manual/*.md "$top/doc/flaky-tests.md"; do
	case $(basename "$page" .md) in
	README | how) continue ;; # no commands in them
	core) command -v gdb >/dev/null || { skip "core.md" "no gdb"; continue; } ;;
	esac
	mkdir "$(basename "$page")" && cd "$(basename "$page")" || exit 3
	cp "$top"/doc/manual/example/* "$CORPUS/deadlock/main.c" .
	tour_page "$page"
	cd ..
done
# every word of the index finds its page, and every page is listed
for word in $(sed -n 's/.*| `\([a-z]*\)` |$/\1/p' "$top/doc/manual/README.md"); do
	run 0 unplait help "$word"
	[ "$(wc -l <out)" -gt 10 ] && ok "help $word prints a page" || not_ok "help $word prints a page" "$(cat out)"
done
for page in "$top"/doc/manual/*.md; do
	name=$(basename "$page")
	[ "$name" = README.md ] || has "$top/doc/manual/README.md" "($name)" "the index lists $name"
done
run 0 unplait help manual
run 2 unplait help dance
has err "unplait help manual"
finish
