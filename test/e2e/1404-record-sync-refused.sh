#!/usr/bin/env bash
# What a replay of mode sync cannot take is refused with a sentence: another build, a recording with gaps, a damaged
# log. A program whose disk is full while it is recorded goes on.
# level: check
. "$(dirname "$0")/lib.sh"
cp "$top/test/programs/sync-account.c" account.c
run 0 unplait cc -g -O2 -pthread -o account account.c
run 0 unplait record --mode sync -o a.plait -- ./account
cp a.plait b.plait
cp account old
sed -i 's/ROUNDS = 40/ROUNDS = 41/' account.c
run 0 unplait cc -g -O2 -pthread -o account account.c
run 3 unplait replay a.plait
has err "another build"
run 3 unplait explain a.plait
has err "another build"
cp old account
run 0 unplait replay a.plait

# files may not grow beyond 660 kB: the program goes on, and the loss is said
run 0 unplait cc -g -O2 -pthread -o storm "$top/test/programs/sync-storm.c"
mkdir full
(
	ulimit -f 660
	UNPLAIT_MODE=sync UNPLAIT_DIR=$PWD/full exec ./storm
) >said 2>err &
storm=$!
for ((i = 0; i < 200; i++)); do
	[ "$(find full -name 't0000*' -size +400k | wc -l)" -gt 0 ] && break
	sleep 0.1
done
sleep 0.5
kill -0 $storm
is $? 0 "the program goes on when the disk is full"
kill -9 $storm
wait $storm 2>wait.err
run 0 unplait seal -o full.plait full
run 3 unplait replay full.plait ./storm
has err "records are missing"

# killed before there was a thread: nothing to replay, and that is what the sentence says
cat >offset.c <<'X'
#include "unplait/abi.h"
#include <stddef.h>
#include <stdio.h>
int main(void) { printf("%zu\n", offsetof(struct plait_run, nthreads)); return 0; }
X
clang-19 -I"$top/include" -o offset offset.c || exit 3
mkdir early
UNPLAIT_MODE=sync UNPLAIT_DIR=$PWD/early ./account >out
printf '\0\0\0\0' | dd of=early/run bs=1 seek="$(./offset)" conv=notrunc 2>dd.err
run 0 unplait seal -o early.plait early
run 0 unplait info early.plait
run 3 unplait replay early.plait ./account
has err "ended before it began"
for at in 300 600 900 1200; do
	cp b.plait damaged.plait
	printf '\377\377\377' | dd of=damaged.plait bs=1 seek=$at conv=notrunc 2>dd.err
	timeout 60 "$UNPLAIT" replay damaged.plait >out 2>err
	case $? in 0 | 3 | 4) ok "damaged at $at: a sentence, no crash" ;; *) not_ok "damaged at $at" "$(cat err)" ;; esac
done
run 2 unplait record --mode sink -- ./account
has err "sync, path"
finish
