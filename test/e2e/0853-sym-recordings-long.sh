#!/usr/bin/env bash
# As 0852, for every corpus program; failing runs where one is found quickly.
# level: long
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/sym-corpus.sh"

followed=0 failed=0 programs=0
for toml in "$CORPUS"/*/bug.toml; do
	name=$(basename "$(dirname "$toml")")
	programs=$((programs + 1))
	corpus_follow "$name"
	corpus_failure "$name" 1
done
is $followed $((2 * programs)) "recordings of all $programs programs are followed"
[ $failed -gt 60 ] && ok "$failed failing runs are followed" || not_ok "more than 60 failing runs are followed" "$failed"
finish
