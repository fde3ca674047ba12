#!/usr/bin/env bash
# Recordings of corpus programs are followed to the end of every thread, and each event of the full ones comes again
# with the same site, place and value. Failing runs too.
# level: check
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/sym-corpus.sh"

followed=0 failed=0
for name in account apachelogsz bank bbuf cache4j crasher pfscan; do
	corpus_follow $name
	corpus_failure $name 1
done
is $failed 7 "7 failing runs are followed up to their failure"
for name in agetmultvar airline bubblesort circularlist fig51 mysqlbinlog pbzip2 producerconsumer race-counter \
	race-doublechecked sct-abastack sct-safestack sct-worksteal stringbuf twostage; do
	corpus_follow $name
done
is $followed 44 "44 recordings of 22 programs are followed"
echo "# $followed recordings and $failed failing runs followed: $steps steps, $events recorded events compared"
finish
