#!/usr/bin/env bash
# A kernel without what a replay needs: a sentence and status 3, and the recording is as good as before.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -g -O2 -pthread -o account "$top/test/programs/sync-account.c"
run 0 unplait record --mode sync -o a.plait -- ./account
cp a.plait before.plait
without() { # CALL: a launcher whose program has a kernel without that call
	sed "s/SYS_fallocate/SYS_$1/; s/EOPNOTSUPP/ENOSYS/" "$top/test/programs/no-fallocate.c" >"no-$1.c"
	clang-19 -o "no-$1" "no-$1.c" || exit 3
}
for call in memfd_create pidfd_open; do
	without $call
	"./no-$call" "$UNPLAIT" replay a.plait >out 2>err
	status=$?
	[ $status -ne 77 ] || { skip "no $call" "no seccomp filter may be set here"; continue; }
	is $status 3 "no $call: status 3"
	has err "unplait: a.plait: "
	has err ": Function not implemented"
	is "$(wc -l <err)" 1 "no $call: one sentence"
	same a.plait before.plait "no $call: the recording is as it was"
done
run 0 unplait replay a.plait
finish
