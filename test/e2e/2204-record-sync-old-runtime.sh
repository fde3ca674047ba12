#!/usr/bin/env bash
# A program whose runtime reads logs of another version is refused with a sentence, and its recording stays as it was.
# level: check
. "$(dirname "$0")/lib.sh"
cp "$top/test/programs/sync-account.c" account.c
run 0 unplait cc -g -O2 -pthread -o account account.c
run 0 unplait record --mode sync -o a.plait -- ./account
cp a.plait before
cp account this
# what the runtime compares a log's first bytes with
magic=$(sed -n 's/^#define PLAIT_LOG_MAGIC "\(.*\)"/\1/p' "$top/include/unplait/log.h")
is ${#magic} 8 "the log's magic number"
LC_ALL=C sed -i "s/$magic/${magic%?}@/g" account
cmp -s account this
is $? 1 "the program has the number"
run 4 unplait replay a.plait
has err "linked by another version of unplait: link it again"
run 0 cmp a.plait before
cp this account
run 0 unplait replay a.plait
finish
