#!/usr/bin/env bash
# As 0852, for every corpus program; failing runs where one is found quickly. PART=2/8 takes every eighth.
# level: long
# seconds: 10800
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/sym-corpus.sh"

followed=0 failed=0 programs=0 number=0
part=${PART:-0/1}
for toml in "$CORPUS"/*/bug.toml; do
	number=$((number + 1))
	[ $((number % ${part#*/})) -eq $((${part%/*} % ${part#*/})) ] || continue
	name=$(basename "$(dirname "$toml")")
	programs=$((programs + 1))
	corpus_follow "$name"
	corpus_failure "$name" 1
done
is $followed $((2 * programs)) "recordings of all $programs programs are followed"
[ $((2 * failed)) -gt $programs ] && ok "$failed failing runs are followed" ||
	not_ok "failing runs of more than half of the programs are followed" "$failed of $programs"
echo "# $followed recordings and $failed failing runs followed: $steps steps, $events recorded events compared"
finish
