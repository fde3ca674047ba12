#!/usr/bin/env bash
# Waits with a time limit, searched completely: a wait may give up while another thread has its mutex. states and dfs
# both find the failure that needs it, and both say "every schedule was explored" where nothing fails. A clock that was
# read before there were threads is an input; one that a thread reads is named as not covered.
# level: quick
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }
for flags in -O0 -O2; do
	for strategy in states dfs; do
		run 0 unplait cc -g $flags -pthread -o bad "$top/test/programs/timed-wait.c"
		run 1 unplait hunt -q -s $strategy -o "" ./bad
		has out "late && !woken && seen" "$strategy $flags: found"
		has out "replayed 5 of 5"
		run 0 unplait cc -g $flags -DGOOD -pthread -o good "$top/test/programs/timed-wait.c"
		run 0 unplait hunt -q -s $strategy -o "" ./good
		has out "every schedule was explored" "$strategy $flags: complete"
		run 0 unplait cc -g $flags -DGOOD -DCLOCK -pthread -o clock "$top/test/programs/timed-wait.c"
		run 0 unplait hunt -q -s $strategy -o "" ./clock
		has out "not covered  the clock" "$strategy $flags: the clock"
		hasnt out "every schedule was explored"
	done
done
finish
