#!/usr/bin/env bash
# The corpus checker on a few entries, one of each sort, and on entries that are wrong.
# level: check
. "$(dirname "$0")/lib.sh"

BUILD="$work" UNPLAIT="$UNPLAIT" "$CORPUS/check" --fast -j 2 airline deadlock race-counter mknod || failures=1

# A checker that cannot say no proves nothing: spoiled copies of a good entry.
cp -r "$CORPUS/check" "$CORPUS"/*.awk "$CORPUS/bankacct" .
spoiled() { # WHAT TEXT: the checker says TEXT
	BUILD="$work/b" UNPLAIT="$UNPLAIT" run 1 ./check --fast -n 50 bankacct
	has out "$2" "$1 is seen"
	rm -rf bankacct && cp -r "$CORPUS/bankacct" .
}
sed -i 's/-DFIXED/-DNOT_FIXED/' check
spoiled "a cure that cures nothing" "the cured twin does not survive"
cp "$CORPUS/check" .
sed -i 's/^marks = .*/marks = ["b", "a", "b"]/; s/^actors = .*/actors = ["1", "2", "3"]/' bankacct/bug.toml
spoiled "a wrong order of marks" "does not pass the marks in order"
sed -i 's/^symptom = .*/symptom = "deadlock"/' bankacct/bug.toml
spoiled "a wrong symptom" "symptom is assert, not deadlock"
sed -i '/^kind/d' bankacct/bug.toml
spoiled "a missing key" "bug.toml: kind"
sed -i 's/^#include <assert.h>/&\nstatic int unused;/' bankacct/main.c
spoiled "a warning" "does not build clean"
finish
